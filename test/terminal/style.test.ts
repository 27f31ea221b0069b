import { expect, test } from 'vitest';
import { createStyle } from '../../src/output/style.ts';
import { fakeIo } from '../helpers/run-cli.ts';

type Case = readonly [isTerminal: boolean, env: Record<string, string>, isColored: boolean];

const cases: readonly Case[] = [
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [true, { TERM: 'xterm-256color' }, true],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [false, { FORCE_COLOR: '' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, true],
];

async function paints(mode: 'auto' | 'always' | 'never', isTerminal: boolean, env: Record<string, string>) {
  const io = fakeIo({ terminals: isTerminal ? ['stdout'] : [], env });
  return (await createStyle(io.stdout, io.env, mode)).red('x') !== 'x';
}

test.each(cases)('terminal %s with %j has colour: %s', async (isTerminal, env, isColored) => {
  expect(await paints('auto', isTerminal, env)).toBe(isColored);
});

test.each(cases)('--color decides whatever terminal %s and %j say', async (isTerminal, env) => {
  expect(await paints('always', isTerminal, env)).toBe(true);
  expect(await paints('never', isTerminal, env)).toBe(false);
});

test('each stream has its own colour', async () => {
  const io = fakeIo({ terminals: ['stderr'] });
  expect((await createStyle(io.stderr, io.env, 'auto')).bold('x')).toBe('\x1b[1mx\x1b[22m');
  expect((await createStyle(io.stdout, io.env, 'auto')).bold('x')).toBe('x');
});
