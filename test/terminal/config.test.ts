import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let folder = '';
let path = '';

beforeEach(() => {
  folder = join(temporaryFolder(), 'config');
  path = join(folder, 'config.json');
});

test('a value can be set, read, listed and unset', async () => {
  expect(await run('set timeout 5s')).toEqual({ code: 0, stdout: '', stderr: 'timeout is 5s\n' });
  expect(await run('set retries 0')).toMatchObject({ code: 0 });
  expect(await run('set protected false')).toMatchObject({ code: 0 });
  expect(stored()).toEqual({ timeout: '5s', retries: 0, protected: false });
  expect(await run('get timeout')).toEqual({ code: 0, stdout: '5s\n', stderr: '' });
  expect(await run('get retries -o json')).toMatchObject({ stdout: '{"retries":0}\n' });
  expect((await run('list')).stdout).toBe(
    'key        value\ntimeout    5s\nretries    0\nprotected  false\n',
  );
  expect(await run('unset timeout')).toMatchObject({ code: 0, stderr: 'timeout is no longer set\n' });
  expect(await run('unset timeout')).toMatchObject({ code: 0, stderr: 'timeout was not set\n' });
  expect((await run('get timeout')).stdout).toBe('30s\n');
});

test('the file and its folder become private, and the folder holds nothing else', async () => {
  await run('set timeout 5s');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  write({ timeout: '1s' }, 0o644);
  await run('set timeout 5s');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test.each(['there', 'missing'])('a symbolic link to a file (%s) stays one', async (which) => {
  mkdirSync(folder);
  if (which === 'there') writeFileSync(join(folder, 'dotfile'), '{}');
  symlinkSync('dotfile', path);
  await run('set timeout 5s');
  expect(readlinkSync(path)).toBe('dotfile');
  expect(stored()).toEqual({ timeout: '5s' });
});

test('a read makes no folder and no file', async () => {
  for (const words of ['list', 'get output', 'path', 'explain']) expect((await run(words)).code).toBe(0);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  ['set timeout 3x', "timeout '3x': is not a duration; write it as 500ms, 30s, 2m or 1h"],
  ['set concurrency 0', "concurrency '0': must be a whole number from 1 to 1024"],
  ['set rate 0', "rate '0': must be a number of requests a second, above 0 and at most 100000"],
  ['set protected maybe', "protected 'maybe': must be one of true, false"],
  [
    'set base-url http://me:s3cret@shop',
    'base-url: must not carry a user name or password; give a token with PETSTORE_TOKEN',
  ],
  ['set auth-header Host', "auth-header 'Host': is a header that the connection itself needs"],
  ['set auth-scheme a:b', "auth-scheme 'a:b': must be one word, or empty for the bare token"],
  ['set timeot 3s', "unknown key 'timeot'"],
  ['get timeot', "unknown key 'timeot'"],
  ['unset timeot', "unknown key 'timeot'"],
  ['set --profile gone timeout 3s', "--profile: there is no profile 'gone'"],
  ['set profile gone', "there is no profile 'gone'"],
])('%s is a usage error and writes nothing', async (words, message) => {
  const { code, stderr } = await run(words);
  expect(code).toBe(2);
  expect(stderr.split('\n')[0]).toBe(`error: ${message}`);
  expect(existsSync(path)).toBe(false);
});

test.each(['token', 'api-key', 'PASSWORD', 'profiles.x.token'])(
  'a secret is never stored: %s',
  async (key) => {
    const { code, stderr } = await run(`set ${key} s3cret`);
    expect(code).toBe(2);
    expect(stderr).toContain('a token is never stored');
    for (const way of ['PETSTORE_TOKEN', 'token-file', 'token-command']) expect(stderr).toContain(way);
    expect(stderr).not.toContain('s3cret');
    expect(existsSync(path)).toBe(false);
  },
);

test('a flag or the address of a value puts it into a profile', async () => {
  write({ profiles: { staging: { 'base-url': 'http://a' } } });
  await run('set --profile staging timeout 5s');
  await run('set profiles.staging.retries 2');
  await run('set profiles.v1.2.timeout 9s');
  expect(stored()).toEqual({
    profiles: { staging: { 'base-url': 'http://a', timeout: '5s', retries: 2 }, 'v1.2': { timeout: '9s' } },
  });
  expect((await run('get profiles.v1.2.timeout')).stdout).toBe('9s\n');
  expect((await run('get --profile staging timeout')).stdout).toBe('5s\n');
  expect((await run('unset --profile staging timeout')).stderr).toBe(
    'profiles.staging.timeout is no longer set\n',
  );
});

test('one value is printed bare in any configured format, unless a flag or variable asks for another', async () => {
  await run('set output json');
  expect((await run('get output')).stdout).toBe('json\n');
  expect((await run('path config')).stdout).toMatch(/^[^{]*config\.json\n$/);
  expect((await run('get output', { env: { PETSTORE_OUTPUT: 'json' } })).stdout).toBe('{"output":"json"}\n');
});

test('get reads the file and the active profile, not flags and variables', async () => {
  write({ profile: 'p', profiles: { p: { output: 'csv' } }, timeout: '9s' });
  const env = { PETSTORE_OUTPUT: 'table', PETSTORE_BASE_URL: 'http://a' };
  expect(await run('get output', { env })).toMatchObject({ stdout: 'csv\n' });
  expect(await run('get timeout --timeout 1s', { env })).toMatchObject({ stdout: '9s\n' });
  expect(await run('get profile', { env })).toMatchObject({ stdout: 'p\n' });
  expect(await run('get base-url', { env })).toMatchObject({ code: 5, stdout: '' });
});

test('a path is stored absolute; a file that does not exist is a warning', async () => {
  const { code, stderr } = await run('set token-file ./no-such-file');
  expect(code).toBe(0);
  expect(stderr).toContain(`warning: there is no file ${join(process.cwd(), 'no-such-file')} yet`);
  expect(stored()).toEqual({ 'token-file': join(process.cwd(), 'no-such-file') });
});

test('a value that another source beats is stored, and a note names that source', async () => {
  write({ profile: 'p', profiles: { p: { retries: 1 } } });
  expect((await run('set retries 9')).stderr).toContain(
    'note: profile p sets retries too, and takes precedence',
  );
  expect((await run('set output csv', { env: { PETSTORE_OUTPUT: 'tsv' } })).stderr).toContain(
    'note: PETSTORE_OUTPUT is set',
  );
  expect(await run('set output csv -q', { env: { PETSTORE_OUTPUT: 'tsv' } })).toMatchObject({ stderr: '' });
});

test('a file that is not JSON is read as empty with one warning, and no command changes it', async () => {
  for (const text of ['{"timeout": "5s"', '[]', '\0\0\0']) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
    for (const words of ['list', 'get timeout', 'path', 'explain']) {
      const stderr = expect.stringMatching(new RegExp(`^warning: ${path}: [^\n]*\n$`));
      expect(await run(words)).toMatchObject({ code: 0, stderr });
    }
    for (const words of ['set timeout 5s', 'unset timeout']) {
      const stderr = expect.stringMatching(new RegExp(`^error: .*${path}`));
      expect(await run(words)).toMatchObject({ code: 2, stderr });
    }
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

test('an empty file can be written', async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, '');
  expect((await run('set timeout 5s')).code).toBe(0);
  expect(stored()).toEqual({ timeout: '5s' });
});

test('quiet in the config silences notices, and the flag -q is not stored', async () => {
  expect(await run('set quiet true')).toMatchObject({ code: 0 });
  expect(await run('set timeout 5s')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(
    await runCli(['profile', 'create', 'a', '--base-url', 'http://a'], {
      env: { PETSTORE_CONFIG_DIR: folder },
    }),
  ).toMatchObject({ code: 0, stderr: '' });
  expect(stored()).toMatchObject({ quiet: true, profiles: { a: { 'base-url': 'http://a' } } });
  expect(stored()).not.toHaveProperty('profiles.a.quiet');
});

test('explain, list, set and profile show hide the arguments of token-command, get shows them', async () => {
  const words = ['config', 'set', 'token-command', 'vault read -field=x s3cret-path'];
  const env = { PETSTORE_CONFIG_DIR: folder };
  expect((await runCli(words, { env })).stderr).toBe('token-command is vault ***\n');
  await runCli(['profile', 'create', 'a', '--base-url', 'http://a', '--token-command', 'vault s3cret-path'], {
    env,
  });
  for (const line of ['config list', 'config explain', 'config explain -o json', 'profile show a']) {
    const { stdout, stderr } = await runCli(line.split(' '), { env });
    expect(stdout).toContain('vault ***');
    expect(stdout + stderr).not.toContain('s3cret-path');
  }
  expect((await run('get profiles.a.token-command')).stdout).toBe('vault s3cret-path\n');
});

test('no value is shown that may be a secret: a wrong token-command, and a key that is not known', async () => {
  mkdirSync(folder);
  const shop = { 'base-url': 'http://a', password: 's3cret' };
  writeFileSync(path, JSON.stringify({ 'token-command': "vault 's3cret", profiles: { shop } }));
  const wrong = await run('list');
  expect(wrong.stderr).toContain("'vault ***': has a quote that is not closed");
  await run('unset token-command');
  const { stdout } = await run('list');
  expect(stdout).toMatch(/^profiles\.shop\.password {2}\*\*\*$/m);
  expect(wrong.stderr + stdout).not.toContain('s3cret');
});

test.each([
  ['token-origins', 'https://a.example,https://b.example'],
  ['import-map', 'quantity=On hand,petId=Pet'],
  ['import-thousands', '.'],
  ['rate', '5/s'],
  ['protected', 'true'],
])('%s, once it is set, is read by the next command', async (key, value) => {
  const env = { PETSTORE_CONFIG_DIR: folder };
  await runCli(['config', 'set', key, value], { env });
  expect(await runCli(['config', 'get', key], { env })).toMatchObject({ code: 0, stderr: '' });
});

test('token-origins are whole origins, one or several', async () => {
  const set = (value: string) =>
    runCli(['config', 'set', 'token-origins', value], { env: { PETSTORE_CONFIG_DIR: folder } });
  expect((await set('https://a.example, https://b.example:8443')).code).toBe(0);
  expect(stored()).toEqual({ 'token-origins': 'https://a.example https://b.example:8443' });
  for (const wrong of ['shop', 'https://a.example/v1', 'https://*.example.com', ''])
    expect((await set(wrong)).code).toBe(2);
});

test('an unknown key in the file is a warning with the command that removes it, and set refuses it', async () => {
  write({ timeot: '5s', profiles: {} });
  const { code, stderr } = await runCli(['pets', 'list', '--offline'], {
    env: { PETSTORE_CONFIG_DIR: folder },
  });
  expect(code).toBe(0);
  expect(stderr).toContain(`warning: ${path}: unknown key 'timeot' is not used; `);
  expect((await run('set timeot 5s')).code).toBe(2);
  expect(stderr).toContain('did you mean timeout? `petstore config unset timeot` removes it');
  expect((await run('unset timeot')).code).toBe(0);
  expect((await run('list')).code).toBe(0);
  write({ 'time out': '5s' });
  expect((await run('list')).stderr).toContain("`petstore config unset 'time out'` removes it");
});

test('path shows one of the paths bare', async () => {
  const env = { PETSTORE_OFFLINE_STORE: '/shop.json' };
  expect((await run('path offline-store', { env })).stdout).toBe('/shop.json\n');
  expect((await run('path nowhere', { env })).code).toBe(2);
});

test('explain shows whether the token is sent, and never the token', async () => {
  write({ profile: 'p', profiles: { p: { 'base-url': 'https://shop.example' } } });
  const env = { PETSTORE_TOKEN: 's3cret' };
  const { stdout } = await run('explain -o tsv', { env });
  expect(stdout).toMatch(/^token\tset\tenvironment\tPETSTORE_TOKEN$/m);
  expect(stdout).not.toContain('s3cret');
  const elsewhere = await run('explain --base-url https://other.example -o tsv', { env });
  expect(elsewhere.stdout).toMatch(/^token\tset, not sent: it is meant for https:\/\/shop\.example/m);
});

function run(words: string, options: RunOptions = {}) {
  return runCli(['config', ...words.split(' ')], {
    ...options,
    env: { PETSTORE_CONFIG_DIR: folder, ...options.env },
  });
}

function stored(): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function write(config: unknown, mode = 0o600): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, JSON.stringify(config), { mode });
}
