import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { GlobalFlags } from '../../src/cli/global-flags.ts';
import { resolvePaths } from '../../src/config/paths.ts';
import { resolveSettings } from '../../src/config/settings.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-settings-'));
const path = join(folder, 'config.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => rmSync(path, { force: true }));

test('a flag beats the environment, which beats the profile, the top level and the default', async () => {
  write({
    profile: 'staging',
    profiles: { staging: { output: 'yaml', timeout: '5s' } },
    output: 'csv',
    timeout: 9,
    retries: 7,
  });
  const env = { PETSTORE_OUTPUT: 'tsv' };
  const settings = await resolve({ output: 'ids' }, env);
  expect(settings.explain('output')).toMatchObject({ value: 'ids', source: 'flag', givenBy: '--output' });
  expect((await resolve({}, env)).explain('output')).toMatchObject({
    value: 'tsv',
    givenBy: 'PETSTORE_OUTPUT',
  });
  expect((await resolve()).explain('output')).toMatchObject({
    value: 'yaml',
    source: 'profile',
    givenBy: 'profile staging',
  });
  expect(settings.explain('timeout')).toMatchObject({ value: 5000, text: '5s', source: 'profile' });
  expect(settings.explain('retries')).toMatchObject({ value: 7, source: 'config' });
  expect(settings.explain('color')).toMatchObject({ value: 'auto', source: 'default', givenBy: '' });
});

test('the flag names the profile, else the variable, else the config', async () => {
  write({ profile: 'a', profiles: { a: { retries: 1 }, b: { retries: 2 }, c: { retries: 3 } } });
  expect((await resolve()).get('retries')).toBe(1);
  expect((await resolve({}, { PETSTORE_PROFILE: 'b' })).get('retries')).toBe(2);
  expect((await resolve({ profile: 'c' }, { PETSTORE_PROFILE: 'b' })).profile).toEqual({
    value: 'c',
    source: 'flag',
    givenBy: '--profile',
  });
});

test.each([
  [{ timeout: '500ms' }, 'timeout', 500],
  [{ timeout: '2m' }, 'timeout', 120_000],
  [{ timeout: '1.5' }, 'timeout', 1500],
  [{ timeout: '1h' }, 'timeout', 3_600_000],
  [{ baseUrl: 'HTTP://Shop.Example:80/api//' }, 'base-url', 'http://shop.example/api'],
  [{ baseUrl: 'https://[::1]:8443' }, 'base-url', 'https://[::1]:8443'],
  [{ retries: '0' }, 'retries', 0],
] as const)('%j is read as %s %s', async (flags, key, value) => {
  expect((await resolve(flags)).get(key)).toBe(value);
});

test('a rate can be written with its unit', async () => {
  write({ rate: '2.5/s' });
  expect((await resolve()).get('rate')).toBe(2.5);
});

test.each([
  [{ timeout: '3x' }, "--timeout '3x': is not a duration; write it as 500ms, 30s, 2m or 1h"],
  [{ timeout: '0' }, "--timeout '0': must be more than 0"],
  [{ timeout: '25h' }, "--timeout '25h': must be at most 24h"],
  [{ retries: '-1' }, "--retries '-1': must be a whole number from 0 to 100"],
  [{ output: 'xml' }, "--output 'xml': must be one of table, json, jsonl, csv, tsv, yaml, ids"],
  [{ baseUrl: 'localhost:4010' }, "--base-url 'localhost:4010': must begin with http:// or https://"],
  [{ baseUrl: 'ftp://a' }, "--base-url 'ftp://a': must begin with http:// or https://"],
  [
    { baseUrl: 'http://me:s3cret@a' },
    '--base-url: must not carry a user name or password; give a token with PETSTORE_TOKEN',
  ],
  [{ baseUrl: 'http://a?api_key=s3cret' }, '--base-url: must not carry a query'],
  [{ baseUrl: 'http://a/#b' }, "--base-url 'http://a/#b': must not carry a fragment"],
  [
    { baseUrl: 'http://a\n.b' },
    "--base-url 'http://a\n.b': must not contain spaces, controls or backslashes",
  ],
  [{ baseUrl: '' }, "--base-url '': must begin with http:// or https://"],
  [{ profile: 'gone' }, "--profile: there is no profile 'gone'"],
  [
    { offline: true, baseUrl: 'http://a' },
    '--offline and --base-url contradict each other: one names the embedded store, the other a service',
  ],
  [
    { profile: 'offline', baseUrl: 'http://a' },
    '--profile and --base-url contradict each other: one names the embedded store, the other a service',
  ],
] as const)('%j is a usage error', async (flags, message) => {
  await expect(resolve(flags)).rejects.toMatchObject({ kind: 'usage', message });
});

test('a wrong variable is an error that names it, even if a flag beats it', async () => {
  await expect(resolve({ output: 'json' }, { PETSTORE_OUTPUT: 'xml' })).rejects.toThrow(
    "PETSTORE_OUTPUT 'xml': must be one of",
  );
  await expect(resolve({}, { PETSTORE_PROFILE: 'gone' })).rejects.toThrow(
    "PETSTORE_PROFILE: there is no profile 'gone'",
  );
});

test('a variable that beats the base URL of a profile named by flag is a warning', async () => {
  write({ profiles: { p: { 'base-url': 'http://a' } } });
  const env = { PETSTORE_BASE_URL: 'http://b' };
  const settings = await resolve({ profile: 'p' }, env);
  expect(settings.get('base-url')).toBe('http://b');
  expect(settings.warnings).toEqual([
    'warning: PETSTORE_BASE_URL is set, and beats the base URL of profile p',
  ]);
  expect((await resolve({}, { ...env, PETSTORE_PROFILE: 'p' })).warnings).toEqual([]);
  expect((await resolve({ profile: 'p' }, { PETSTORE_BASE_URL: 'http://a' })).warnings).toEqual([]);
});

test('an empty variable counts as not set', async () => {
  const settings = await resolve(
    {},
    { PETSTORE_OUTPUT: '', PETSTORE_PROFILE: '', PETSTORE_BASE_URL: '', FORCE_COLOR: '' },
  );
  expect([settings.get('output'), settings.get('color'), settings.profile]).toEqual([
    'table',
    'auto',
    undefined,
  ]);
});

test.each([
  [{ timeout: '3x' }, `timeout in ${path} '3x': is not a duration`],
  [{ rate: '2/m' }, `rate in ${path} '2/m': must be a number of requests a second`],
  [{ timeot: '3s' }, `${path}: unknown key 'timeot'`],
  [{ retries: [1] }, `retries in ${path}: must be text, a number, true or false`],
  [{ profile: 'p', profiles: { p: { colour: 'red' } } }, `profile p in ${path}: unknown key 'colour'`],
  [{ profile: 'p', profiles: { p: { rate: -1 } } }, `rate of profile p in ${path} '-1': must be a number`],
  [{ profile: 'gone' }, `${path}: there is no profile 'gone'`],
])('%j in the file is an error that names the file', async (config, message) => {
  write(config);
  await expect(resolve()).rejects.toThrow(message);
});

test('an unknown profile is told with the nearest one, or the way out of a config that names it', async () => {
  write({ profile: 'gone', profiles: { staging: {}, a: {} } });
  await expect(resolve({ profile: 'stagin' })).rejects.toMatchObject({
    details: {
      hint: expect.stringMatching(/^did you mean staging\? the profiles are staging, a, offline; create one/),
    },
  });
  await expect(resolve({ profile: 'x' })).rejects.toMatchObject({
    details: { hint: expect.stringMatching(/^the profiles are/) },
  });
  await expect(resolve()).rejects.toMatchObject({
    details: {
      hint: expect.stringContaining('`petstore profile use <name>`, or none with `petstore config unset'),
    },
  });
});

test('a mistake in a profile that is not used is ignored', async () => {
  write({ profiles: { other: { colour: 'red' } } });
  expect((await resolve()).get('output')).toBe('table');
});

test.each(['{"a', '[]', '"text"', '{"profiles": []}', '{"profiles": {"a": 1}}', '{"profile": 3}'])(
  'a file that holds %s is a problem that names it',
  async (text) => {
    writeFileSync(path, text);
    const io = fakeIo({ env: { PETSTORE_CONFIG_DIR: folder } });
    const settings = resolveSettings(io, {});
    expect(settings.get('output')).toBe('table');
    expect(settings.problems.map(({ message }) => message)).toEqual([expect.stringContaining(`${path}: `)]);
    expect(() => resolveSettings(io, { profile: 'staging' })).toThrow('because of');
  },
);

test.each(['', ' \n', '\ufeff'])('an empty file (%j) is an empty config', async (text) => {
  writeFileSync(path, text);
  const settings = await resolve();
  expect([settings.get('output'), settings.problems, settings.warnings]).toEqual(['table', [], []]);
});

test('the embedded store is chosen by flag, variable or config, and gives way to a base URL that is nearer', async () => {
  const url = { PETSTORE_BASE_URL: 'http://a' };
  expect((await resolve({ offline: true }, url)).offline).toMatchObject({ givenBy: '--offline' });
  expect((await resolve({ profile: 'offline' }, url)).offline).toMatchObject({ value: 'offline' });
  expect((await resolve({ baseUrl: 'http://a' }, { PETSTORE_PROFILE: 'offline' })).offline).toBe(undefined);
  await expect(resolve({}, { ...url, PETSTORE_PROFILE: 'offline' })).rejects.toThrow('contradict each other');
  write({ profile: 'offline', 'base-url': 'http://top' });
  expect((await resolve()).offline).toMatchObject({ value: 'offline' });
  expect((await resolve({}, url)).offline).toBe(undefined);
});

test('FORCE_COLOR beats NO_COLOR, both beat the config, and the flag beats all', async () => {
  write({ color: 'auto' });
  const color = async (env: Record<string, string>, flags: GlobalFlags = {}) =>
    (await resolve(flags, env)).get('color');
  expect(await color({ NO_COLOR: '1' })).toBe('never');
  expect(await color({ NO_COLOR: '1', FORCE_COLOR: '1' })).toBe('always');
  expect(await color({ FORCE_COLOR: '0' })).toBe('never');
  expect(await color({ NO_COLOR: '1' }, { color: 'always' })).toBe('always');
});

test('a path in the config is relative to the config file, one in a flag to the current folder; ~ is the home', async () => {
  write({ 'ca-cert': 'ca.pem', 'token-file': '~/token' });
  const settings = await resolve({ clientKey: 'key.pem' }, { HOME: '/home/me' });
  expect(settings.get('ca-cert')).toBe(join(folder, 'ca.pem'));
  expect(settings.get('token-file')).toBe('/home/me/token');
  expect(settings.get('client-key')).toBe(join(process.cwd(), 'key.pem'));
});

test('a config that cannot be read is ignored, with the reason', async () => {
  const io = fakeIo({ env: { PETSTORE_CONFIG_DIR: '/proc/self/mem' } });
  expect(resolveSettings(io, {}).get('output')).toBe('table');
});

test('the variables name the folders, else the platform does', () => {
  const linux = {
    PETSTORE_CONFIG_DIR: '',
    PETSTORE_STATE_DIR: '',
    PETSTORE_OFFLINE_STORE: '',
    HOME: '/home/me',
  };
  expect(resolvePaths(fakeIo({ env: linux }))).toEqual({
    configFile: '/home/me/.config/petstore/config.json',
    stateDir: '/home/me/.local/state/petstore',
    offlineStore: '/home/me/.local/state/petstore/offline-store.json',
  });
  const xdg = { ...linux, XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 'relative' };
  expect(resolvePaths(fakeIo({ env: xdg }))).toMatchObject({
    configFile: '/c/petstore/config.json',
    stateDir: '/home/me/.local/state/petstore',
  });
  const named = { PETSTORE_CONFIG_DIR: '/c', PETSTORE_STATE_DIR: '/s', PETSTORE_OFFLINE_STORE: ':memory:' };
  expect(resolvePaths(fakeIo({ env: named }))).toEqual({
    configFile: '/c/config.json',
    stateDir: '/s',
    offlineStore: ':memory:',
  });
});

test.each(['', 'here'])('a HOME of %j does not turn a file of the current folder into the config', (HOME) => {
  const env = { PETSTORE_CONFIG_DIR: '', PETSTORE_STATE_DIR: '', PETSTORE_OFFLINE_STORE: '', HOME };
  const { configFile, stateDir } = resolvePaths(fakeIo({ env }));
  expect([configFile, stateDir].every(isAbsolute)).toBe(true);
});

function write(config: unknown): void {
  writeFileSync(path, JSON.stringify(config));
}

async function resolve(flags: GlobalFlags = {}, env: Record<string, string> = {}) {
  const settings = resolveSettings(fakeIo({ env: { PETSTORE_CONFIG_DIR: folder, ...env } }), flags);
  const [problem] = settings.problems;
  if (problem) throw problem;
  return settings;
}
