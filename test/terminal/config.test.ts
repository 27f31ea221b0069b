import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { failed, runCli } from '../helpers/run-cli.ts';

let config: ConfigFolder;

beforeEach(() => {
  config = openConfig();
});

const run = (words: string, env: Readonly<Record<string, string>> = {}) =>
  config.run(`config ${words}`, { env });

test('a value can be set, read and unset, with --quiet as a setting too', async () => {
  expect(await run('set timeout 5s')).toEqual({ code: 0, stdout: '', stderr: 'timeout is 5s\n' });
  expect(await run('set retries 0')).toMatchObject({ code: 0 });
  expect(await run('set protected false')).toMatchObject({ code: 0 });
  expect(config.read()).toEqual({ timeout: '5s', retries: 0, protected: false });
  expect(await run('get timeout')).toEqual({ code: 0, stdout: '5s\n', stderr: '' });
  expect((await run('get timeout -o json')).stdout).toBe('"5s"\n');
  expect(await run('unset timeout')).toMatchObject({ code: 0, stderr: 'timeout is no longer set\n' });
  expect(await run('unset timeout')).toMatchObject({ code: 0, stderr: 'timeout was not set\n' });
  expect((await run('get timeout')).stdout).toBe('30s\n');
  await run('set quiet true');
  expect(await run('set timeout 5s')).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe('the file', () => {
  test('and its folder are private, and the folder holds nothing else', async () => {
    await run('set timeout 5s');
    expect(fs.statSync(dirname(config.path)).mode & 0o777).toBe(0o700);
    config.write('{"build":9007199254740993}', 0o644);
    await run('set timeout 5s');
    expect(fs.readFileSync(config.path, 'utf8')).toBe(
      '{\n  "build": 9007199254740993,\n  "timeout": "5s"\n}\n',
    );
    expect(fs.statSync(config.path).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(dirname(config.path))).toEqual(['config.json']);
  });

  test.each(['there', 'missing', 'missing/too'])(
    'stays the symbolic link that it is, to %s',
    async (target) => {
      const folder = dirname(config.path);
      fs.mkdirSync(folder);
      if (target === 'there') fs.writeFileSync(join(folder, target), '{}');
      fs.symlinkSync('link', config.path);
      fs.symlinkSync(target, join(folder, 'link'));
      await run('set timeout 5s');
      expect(fs.readlinkSync(config.path)).toBe('link');
      expect(fs.readlinkSync(join(folder, 'link'))).toBe(target);
      expect(config.read()).toEqual({ timeout: '5s' });
    },
  );

  test.each([
    [
      '{\n  "profile": "a",\n  "timeout": "5s",\n}\n',
      'not valid JSON: an unexpected character at line 4, column 1',
    ],
    ['{\n  "timeout": "5s"\n', 'not valid JSON: it ends too early'],
    ['[]', 'not a JSON object'],
  ])('with %j is named with the place, and no command changes it', async (text, why) => {
    config.write(text);
    for (const words of ['get timeout', 'path', 'explain'])
      expect(await run(words)).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(new RegExp(`^warning: ${config.path}: it is ${why}[^\n]*\n$`)),
      });
    for (const words of ['config set timeout 5s', 'config unset timeout', 'pets list --offline']) {
      const stderr = expect.stringContaining(`error: ${config.path}: it is ${why}`);
      expect(await config.run(words)).toMatchObject({ code: 2, stdout: '', stderr });
    }
    expect(fs.readFileSync(config.path, 'utf8')).toBe(text);
  });
});

test.each([
  ['set timeout 3x', "timeout '3x': is not a duration; write it as 500ms, 30s, 2m or 1h"],
  ['set auth-header Host', "auth-header 'Host': is a header that the connection itself needs"],
  ['set auth-scheme a:b', "auth-scheme 'a:b': must be one word, or empty for none"],
  [
    'set tenant -',
    "tenant '-': a name is 1 to 64 letters, digits, dots, dashes, @ and underscores, and begins with a letter or digit",
  ],
  [
    'set import-map petId',
    "import-map 'petId': must be petId=<column>, quantity=<column>, change=<column> or expected=<column>",
  ],
  ['set timeot 3s', "unknown key 'timeot'"],
  ['unset timeot', "unknown key 'timeot'"],
  ['unset profiles', 'profiles: a profile is deleted by its name'],
  ['set --profile gone timeout 3s', "--profile: there is no profile 'gone'"],
  ['set profile gone', "there is no profile 'gone'"],
  ['set token s3cret', "unknown key 'token'"],
])('%s is a usage error and writes nothing', async (words, message) => {
  const { code, stderr } = await run(words ?? '');
  expect(code).toBe(2);
  expect(stderr.split('\n')[0]).toBe(`error: ${message}`);
  expect(stderr).not.toContain('s3cret');
  if (words?.startsWith('set token')) expect(stderr).toContain('hint: a token is not stored: set token-file');
  if (words?.includes('timeot')) expect(stderr).toContain('hint: did you mean timeout?\n');
  expect(fs.existsSync(config.path)).toBe(false);
});

test('--profile puts a value into a profile', async () => {
  config.write({ profiles: { 'v1.2': { 'base-url': 'http://a' } } });
  await run('set --profile v1.2 timeout 5s');
  expect(config.read()).toEqual({ profiles: { 'v1.2': { 'base-url': 'http://a', timeout: '5s' } } });
  expect((await run('get --profile v1.2 timeout')).stdout).toBe('5s\n');
  const { stderr } = await run('unset --profile v1.2 timeout');
  expect(stderr).toBe('timeout of profile v1.2 is no longer set\n');
});

test('get prints the bare value that a command would use', async () => {
  const p = { color: 'never' };
  config.write({ profile: 'p', profiles: { p }, timeout: '9s', retries: 0, output: 'csv' });
  for (const [words, stdout] of [
    ['color', 'never\n'],
    ['timeout --timeout 1s', '1s\n'],
    ['concurrency', '3\n'],
    ['profile', 'p\n'],
    ['retries -o json', '0\n'],
    ['output', 'csv\n'],
  ])
    expect(await run(`get ${words}`, { PETSTORE_CONCURRENCY: '3' })).toMatchObject({ code: 0, stdout });
  expect(await run('get base-url')).toMatchObject({ code: 5, stdout: '' });
});

test('a path is stored absolute', async () => {
  const path = expect.stringMatching(/^\/.+\/no-such-file$/);
  expect((await run('set token-file ./no-such-file')).code).toBe(0);
  expect(config.read()).toEqual({ 'token-file': path });
});

test('explain, get and profile show hide what may be a secret', async () => {
  const shop = { 'base-url': 'http://a', 'token-command': 'vault s3cret', password: 's3cret' };
  config.write({ profile: 'shop', profiles: { shop } });
  for (const line of ['config explain', 'config show', 'config get token-command', 'profile show']) {
    const { stdout, stderr } = await config.run(line);
    expect(stdout).toContain('vault ***');
    expect(stdout + stderr).not.toContain('s3cret');
  }
  config.write({});
  const words = ['config', 'set', 'token-command', 'vault s3cret'];
  const { stderr: note } = await runCli(words, { env: { PETSTORE_CONFIG_DIR: dirname(config.path) } });
  expect(note).toBe('token-command is vault ***\n');
  config.write({ 'token-command': "vault 's3cret" });
  const { stderr } = await run('explain');
  expect(stderr).toContain("'vault ***': has a quote that is not closed");
});

test('explain shows the source of the token, and never the token', async () => {
  const { stdout } = await run('explain -o tsv', { PETSTORE_TOKEN: 's3cret' });
  expect(stdout).toMatch(/^token\tset\tenvironment\tPETSTORE_TOKEN$/m);
  expect(stdout).not.toContain('s3cret');
});

const profile = (words: string, env: Readonly<Record<string, string>> = {}) =>
  config.run(`profile ${words}`, { env });
const profiles = { a: { 'base-url': 'http://a', protected: true }, b: { 'base-url': 'http://b' } };

test('the first profile becomes the active one, the second does not until it is used', async () => {
  expect(await profile('create staging --base-url https://a.example/')).toMatchObject({
    code: 0,
    stdout: '',
  });
  await profile('create prod --base-url https://b.example');
  expect((await profile('list')).stdout).toBe(
    'name     active  protected  base-url\n' +
      'prod     false   false      https://b.example\n' +
      'staging  true    false      https://a.example\n' +
      'offline  false   false\n',
  );
  expect(await profile('use prod')).toMatchObject({ code: 0, stderr: 'the active profile is prod\n' });
  expect(JSON.parse((await profile('list -o json')).stdout)).toEqual([
    { name: 'prod', active: true, protected: false, 'base-url': 'https://b.example' },
    { name: 'staging', active: false, protected: false, 'base-url': 'https://a.example' },
    { name: 'offline', active: false, protected: false, 'base-url': null },
  ]);
  expect((await profile('list -o ids')).stdout).toBe('prod\nstaging\noffline\n');
});

test('create keeps the base URL and the file of the token, and no flag of another key', async () => {
  expect((await profile('create a --base-url http://a --token-file /run/token')).code).toBe(0);
  const a = { 'base-url': 'http://a', 'token-file': '/run/token' };
  expect(config.read()).toEqual({ profile: 'a', profiles: { a } });
  expect((await profile('create constructor --base-url http://b -o json --timeout 5s')).code).toBe(0);
  expect(config.read()).toEqual({ profile: 'a', profiles: { a, constructor: { 'base-url': 'http://b' } } });
  for (const flag of ['--rate 5', '--protected', '--tenant north', '--use'])
    expect((await profile(`create x --base-url http://a ${flag}`)).stderr).toContain(
      `unknown flag '${flag.split(' ')[0]}'`,
    );
});

test.each([
  ['create offline --base-url http://a', "profile 'offline': that name is the built-in profile"],
  ['create a/b --base-url http://a', "profile 'a/b': a name is 1 to 64 letters"],
  ['create __proto__ --base-url http://a', "profile '__proto__': a name is"],
  ['create a --base-url http://b', "profile 'a': it already exists"],
  ['create x', 'profile create: --base-url is missing'],
  ['create x --base-url http://me:s3cret@a', '--base-url: must not carry a user name or password'],
  ['create x --base-url ftp://a', "--base-url 'ftp://a': must begin with http:// or https://"],
  ['create x --base-url http://a --retries many', "--retries 'many': must be a whole number"],
  ['use gone', "there is no profile 'gone'"],
  ['show toString', "there is no profile 'toString'"],
  ['show', 'profile show: no profile is active'],
  ['delete bb', "there is no profile 'bb'"],
  ['delete offline', "profile 'offline': it is built in"],
  ['delete a', 'delete profile a: this needs a confirmation, but there is no terminal'],
])('%s is a usage error, and changes nothing', async (words, message) => {
  config.write({ profiles });
  const run = await profile(words);
  expect(run).toMatchObject(failed(2, `error: ${message}`));
  expect(run.stderr).not.toContain('s3cret');
  expect(config.read()).toEqual({ profiles });
});

test('`profile` alone lists them; show prints the active profile, or the profile that the line names', async () => {
  config.write({ profile: 'a', profiles });
  expect((await profile('show')).stdout).toBe('key        value\nbase-url   http://a\nprotected  true\n');
  expect((await config.run('profile')).stdout).toMatch(/^a +true +true +http:\/\/a$/m);
  const rows = [{ key: 'base-url', value: 'http://b' }];
  expect(JSON.parse((await profile('show b -o json')).stdout)).toEqual(rows);
});

test('delete leaves no profile active if it was the active one; another can still be chosen', async () => {
  config.write({ profile: 'a', profiles });
  expect((await profile('rm a --yes')).stderr).toBe('deleted profile a; no profile is active now\n');
  expect(config.read()).toEqual({ profiles: { b: profiles.b } });
  const env = { PETSTORE_PROFILE: 'a' };
  expect((await profile('list', env)).stderr).toContain("PETSTORE_PROFILE: there is no profile 'a'");
  expect((await profile('use b', env)).code).toBe(0);
});
