import { expect, test } from 'vitest';
import { confirmWrite } from '../../src/asking.ts';
import type { GlobalFlags } from '../../src/cli/global-flags.ts';
import { settingsFrom } from '../../src/config/settings.ts';
import type { Context } from '../../src/context.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const profiles = {
  prod: { 'base-url': 'http://prod', protected: true },
  staging: { 'base-url': 'http://staging' },
};
const write = { what: 'set the count of pet 5' };
const destruction = { what: 'delete pet 5 (Rex)', destructive: true };

test.each([
  ['a write', write, {}],
  ['a destructive write with --yes', destruction, { yes: true }],
  ['a write on a protected profile with its name', write, { profile: 'prod', confirm: 'prod' }],
  ['a destructive one with both', destruction, { profile: 'prod', confirm: 'prod', yes: true }],
  ['a dry run, whatever it is', destruction, { profile: 'prod', dryRun: true }],
  ['the embedded store, whatever the profile', write, { profile: 'prod', offline: true }],
])('lets pass unasked %s', async (_, what, flags) => {
  const asked: string[] = [];
  await confirmWrite(contextOf(flags, asked, []), what);
  expect(asked).toEqual([]);
});

test.each([
  ['delete pet 5 (Rex): needs confirmation, but there is no terminal', 'use --yes', destruction, {}],
  [
    'set the count of pet 5: prod is protected, but there is no terminal',
    'use --confirm prod',
    write,
    { profile: 'prod', yes: true },
  ],
  [
    'delete pet 5 (Rex): prod is protected, but there is no terminal',
    'use --confirm prod and --yes',
    destruction,
    { profile: 'prod' },
  ],
  [
    'delete pet 5 (Rex): needs confirmation, but there is no terminal',
    'use --yes',
    destruction,
    { profile: 'prod', confirm: 'prod' },
  ],
  [
    '--confirm prod: the target is staging, nothing was written',
    undefined,
    write,
    { profile: 'staging', confirm: 'prod' },
  ],
  ['--confirm prod: no profile is active, nothing was written', undefined, write, { confirm: 'prod' }],
])('stops with %s', async (message, hint, what, flags) => {
  await expect(confirmWrite(contextOf(flags), what)).rejects.toMatchObject({
    kind: 'usage',
    message,
    details: { hint },
  });
});

test.each([
  [{ noInput: true }, {}, '--no-input is given'],
  [{}, { CI: '1' }, 'CI is set'],
])('says why it cannot ask on a terminal: %j %j', async (flags, env, why) => {
  const io = fakeIo({ terminals: ['stdin', 'stderr'], env });
  await expect(confirmWrite({ ...contextOf(flags), io }, destruction)).rejects.toThrow(
    `needs confirmation, but ${why}`,
  );
});

test('asks for a yes, or only for the name if the profile is protected', async () => {
  const asked: string[] = [];
  await confirmWrite(contextOf({}, asked, [true]), destruction);
  await confirmWrite(contextOf({ profile: 'staging' }, asked, [true]), destruction);
  await confirmWrite(contextOf({ baseUrl: 'http://other' }, asked, [true]), destruction);
  await confirmWrite(contextOf({ profile: 'prod' }, asked, ['prod ']), destruction);
  expect(asked).toEqual([
    'Delete pet 5 (Rex)?',
    'Delete pet 5 (Rex) on staging (http://staging)?',
    'Delete pet 5 (Rex) on http://other?',
    'prod is protected. Type its name to delete pet 5 (Rex):',
  ]);
});

test('stops at a no and at a wrong name', async () => {
  await expect(confirmWrite(contextOf({}, [], [false]), destruction)).rejects.toThrow('not confirmed');
  await expect(confirmWrite(contextOf({ profile: 'prod' }, [], ['yes']), write)).rejects.toThrow(
    'not confirmed',
  );
});

test('a base URL that is protected without a profile is confirmed by its host', async () => {
  const settings = settingsFrom(
    fakeIo(),
    { baseUrl: 'http://shop:81/api' },
    { ...file, defaults: { protected: true } },
  );
  const confirm = (name: string) =>
    confirmWrite({ ...contextOf({ confirm: name }), settings: async () => settings }, write);
  await confirm('shop:81');
  await expect(confirm('shop')).rejects.toThrow('--confirm shop: the target is shop:81');
});

const file = { path: '/c/config.json', active: undefined, profiles, defaults: {}, problem: undefined };

function contextOf(flags: GlobalFlags, asked: string[] = [], answers?: (string | boolean)[]): Context {
  const ask = async (question: string) => {
    asked.push(question);
    return answers?.shift();
  };
  return {
    flags,
    io: fakeIo(),
    settings: async () => settingsFrom(fakeIo(), flags, file),
    prompt: () => answers && Promise.resolve({ text: ask, confirm: ask }),
  } as unknown as Context;
}
