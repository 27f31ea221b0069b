import { writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { settingKeys } from '../../src/config/keys.ts';
import { parseDuration } from '../../src/config/setting-values.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type Env = Readonly<Record<string, string>>;

let folder = '';
let path = '';

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'config.json');
});

function write(config: unknown): void {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  writeFileSync(path, text, { mode: 0o600 });
}

function run(line: string, env: Env = {}) {
  return runCli(line.split(' '), { env: { PETSTORE_CONFIG_DIR: folder, ...env } });
}

/** Value and origin of each setting, by key, as `config explain` shows them. */
async function explain(flags = '', env: Env = {}): Promise<Record<string, unknown>> {
  const { stdout } = await run(`config explain -o jsonl ${flags}`.trimEnd(), env);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return Object.fromEntries(rows.map(({ key, value, origin }) => [key, [value, origin]]));
}

const list = 'pets list --offline';

describe('a value comes from', () => {
  test('a flag, else the environment, the profile, the top level, and last the default', async () => {
    const staging = { concurrency: 3, timeout: '5s', retries: 2 };
    write({ profile: 'staging', profiles: { staging }, concurrency: 4, rate: '2.5/s', retries: 7 });
    const env = { PETSTORE_RETRIES: '1', PETSTORE_TIMEOUT: '2m' };
    expect(await explain('--retries 0', env)).toMatchObject({
      profile: ['staging', path],
      retries: [0, '--retries'],
      timeout: ['2m', 'PETSTORE_TIMEOUT'],
      concurrency: [3, 'profile staging'],
      rate: [2.5, path],
      color: ['auto', null],
    });
  });

  test('the profile of the flag, else of the variable, else of the config', async () => {
    write({ profile: 'a', profiles: { a: { retries: 1 }, b: { retries: 2 }, c: { retries: 3 } } });
    const env = { PETSTORE_PROFILE: 'b' };
    expect(await explain()).toMatchObject({ profile: ['a', path], retries: [1, 'profile a'] });
    expect(await explain('', env)).toMatchObject({ profile: ['b', 'PETSTORE_PROFILE'] });
    expect(await explain('--profile c', env)).toMatchObject({
      profile: ['c', '--profile'],
      retries: [3, 'profile c'],
    });
  });

  test('no variable that is empty', async () => {
    const env = { PETSTORE_TIMEOUT: '', PETSTORE_PROFILE: '', PETSTORE_BASE_URL: '', FORCE_COLOR: '' };
    expect(await explain('', env)).toMatchObject({
      timeout: ['30s', null],
      color: ['auto', null],
      profile: [null, null],
    });
  });

  test('the variable that each key has', async () => {
    const values: Readonly<Record<string, string>> = {
      timeout: '7s',
      retries: '9',
      'token-command': 'pass show shop',
      'import-map': 'petId=article,quantity=stock',
      'import-thousands': '.',
      protected: 'true',
    };
    const names = Object.keys(values).map((key) => [key, `PETSTORE_${key.toUpperCase().replace('-', '_')}`]);
    const env = Object.fromEntries(names.map(([key = '', name]) => [name, values[key] ?? '']));
    const explained = await explain('', env);
    for (const [key = '', name] of names) expect(explained[key]).toEqual([expect.anything(), name]);
    expect(Object.keys(explained)).toEqual(expect.arrayContaining(settingKeys));
  });

  test('FORCE_COLOR before NO_COLOR, both before the config, and from the flag before all', async () => {
    write({ color: 'auto' });
    const color = async (env: Env, flags = '') => (await explain(flags, env)).color;
    expect(await color({ NO_COLOR: '1' })).toEqual(['never', 'NO_COLOR']);
    expect(await color({ NO_COLOR: '1', FORCE_COLOR: '1' })).toEqual(['always', 'FORCE_COLOR']);
    expect(await color({ FORCE_COLOR: '0' })).toEqual(['never', 'FORCE_COLOR']);
    expect(await color({ NO_COLOR: '1' }, '--color always')).toEqual(['always', '--color']);
  });

  test('a path beside the config, or in the current folder for a variable; ~ is the home', async () => {
    write({ 'ca-cert': 'ca.pem', 'token-file': '~/token' });
    expect(await explain('', { HOME: '/home/me', PETSTORE_CLIENT_KEY: 'key.pem' })).toMatchObject({
      'ca-cert': [join(folder, 'ca.pem'), path],
      'token-file': ['/home/me/token', path],
      'client-key': [join(process.cwd(), 'key.pem'), 'PETSTORE_CLIENT_KEY'],
    });
  });
});

test.each([
  ['500ms', 500],
  ['2m', 120_000],
  ['1.5', 1500],
  ['1h', 3_600_000],
])('the duration %s is %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each([
  ['HTTP://Shop.Example:80/api//', 'http://shop.example/api'],
  ['https://[::1]:8443', 'https://[::1]:8443'],
])('the base URL %s is %s', async (url, read) => {
  expect(await explain(`--base-url ${url}`)).toMatchObject({ 'base-url': [read, '--base-url'] });
});

const contradict = 'contradict each other: one names the embedded store, the other a service';

test.each([
  ['--timeout 3x', "--timeout '3x': is not a duration; write it as 500ms, 30s, 2m or 1h"],
  ['--timeout 0', "--timeout '0': must be more than 0"],
  ['--timeout 25h', "--timeout '25h': must be at most 24h"],
  ['--retries -1', "--retries '-1': must be a whole number from 0 to 100"],
  ['--output xml', "--output 'xml': must be one of table, json, jsonl, csv, tsv, yaml, ids"],
  [
    '--base-url localhost:4010',
    "--base-url 'localhost:4010': must begin with http:// or https://, as in http://localhost:4010",
  ],
  ['--base-url ftp://a', "--base-url 'ftp://a': must begin with http:// or https://"],
  [
    '--base-url http://me:s3cret@a',
    '--base-url: must not carry a user name or password; give a token with PETSTORE_TOKEN',
  ],
  ['--base-url http://a?api_key=s3cret', '--base-url: must not carry a query'],
  ['--base-url http://a/#b', "--base-url 'http://a/#b': must not carry a fragment"],
  ['--base-url http://a\\.b', "--base-url 'http://a\\.b': must not contain spaces, controls or backslashes"],
  ['--base-url ', "--base-url '': must begin with http:// or https://"],
  ['--profile gone', "--profile: there is no profile 'gone'"],
  ['--offline --base-url http://a', `--offline and --base-url ${contradict}`],
  ['--profile offline --base-url http://a', `--profile and --base-url ${contradict}`],
])('%s is a usage error', async (flags, message) => {
  const { code, stderr } = await run(`pets list ${flags}`);
  expect([code, stderr.split('\n')[0]]).toEqual([2, `error: ${message}`]);
});

describe('a wrong setting', () => {
  test.each([
    ['help'],
    ['--version'],
    ['pets --help'],
    ['completion bash'],
    ['config path'],
    ['config list'],
    ['config explain'],
    ['profile list'],
    ['serve --port 0 -- true'],
  ])('leaves %s working', async (line) => {
    expect(await run(line, { PETSTORE_TIMEOUT: 'soon' })).toMatchObject({ code: 0 });
  });

  test.each([list, 'inventory adjust 3 +1 --offline', 'overview --offline', `${list} --timeout 5s`])(
    'of the environment ends %s with 2 and is named with its value',
    async (line) => {
      const { code, stderr } = await run(line, { PETSTORE_TIMEOUT: 'soon' });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("PETSTORE_TIMEOUT 'soon': is not a duration"),
      ]);
    },
  );

  test('named by PETSTORE_PROFILE is an unknown profile', async () => {
    const { code, stderr } = await run('pets list', { PETSTORE_PROFILE: 'gone' });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("PETSTORE_PROFILE: there is no profile 'gone'"),
    ]);
  });

  test.each([
    [{ timeout: '3x' }, "timeout in <path> '3x': is not a duration"],
    [{ rate: '2/m' }, "rate in <path> '2/m': must be a number of requests a second"],
    [{ retries: [1] }, 'retries in <path>: must be text, a number, true or false'],
    [{ profile: 'p', profiles: { p: { rate: -1 } } }, "rate of profile p in <path> '-1': must be a number"],
    [{ profile: 'gone' }, "<path>: there is no profile 'gone'"],
    ['{"a', '<path>: it is not valid JSON'],
    ['[]', '<path>: '],
    ['"text"', '<path>: '],
    ['{"profiles": []}', '<path>: '],
    ['{"profiles": {"a": 1}}', '<path>: '],
    ['{"profile": 3}', '<path>: '],
  ])('in the file, %j, ends a command with 2 and is a warning of explain', async (config, message) => {
    write(config);
    const says = expect.stringContaining(message.replace('<path>', path));
    expect(await run(list)).toMatchObject({ code: 2, stdout: '', stderr: says });
    const { code, stderr } = await run('config explain');
    expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([0, says]);
  });

  test.each([
    [{ timeot: '3s' }, "<path>: unknown key 'timeot'"],
    [{ profile: 'p', profiles: { p: { colour: 'red' } } }, "profile p in <path>: unknown key 'colour'"],
  ])('that is an unknown key in the file, %j, is a warning and no more', async (config, message) => {
    write(config);
    const stderr = expect.stringContaining(`warning: ${message.replace('<path>', path)} is not used`);
    expect(await run(list)).toMatchObject({ code: 0, stderr });
  });

  test('in a profile that is not used is ignored', async () => {
    write({ profiles: { other: { colour: 'red' } } });
    expect(await run(list)).toMatchObject({ code: 0, stderr: '' });
  });

  test('in the file can be set right with the commands of the config', async () => {
    write({ profile: 'gone', timeout: 'soon', timeot: '5s', output: 'csv' });
    const { stderr } = await run(list, { PETSTORE_RETRIES: '-1' });
    expect(stderr).not.toBe('');
    const hints = ['config unset profile', 'config set timeout 5s', 'config unset timeot'];
    for (const line of hints) expect(await run(line)).toMatchObject({ code: 0 });
    expect(await run(list)).toMatchObject({ code: 0, stderr: '' });
  });
});

test.each(['', ' \n', '\ufeff'])('an empty file (%j) is an empty config', async (text) => {
  write(text);
  expect(await run(list)).toMatchObject({ code: 0, stderr: '' });
});

test('an unknown profile gets the nearest one, or the way out of a config that names it', async () => {
  write({ profile: 'gone', profiles: { staging: {}, a: {} } });
  const known = 'the profiles are staging, a, offline; create one';
  expect((await run('pets list --profile stagin')).stderr).toContain(`hint: did you mean staging? ${known}`);
  expect((await run('pets list --profile x')).stderr).toContain(`hint: ${known}`);
  const way = '`petstore profile use <name>`, or none with `petstore config unset';
  expect((await run('pets list')).stderr).toContain(way);
});

test('a variable that beats the base URL of a profile named by flag is a warning', async () => {
  write({ profiles: { p: { 'base-url': 'http://a' } } });
  const env = { PETSTORE_BASE_URL: 'http://b' };
  const beaten = await run('config explain --profile p', env);
  expect(beaten.stderr).toBe('warning: PETSTORE_BASE_URL is set, and beats the base URL of profile p\n');
  expect((await run('config explain', { ...env, PETSTORE_PROFILE: 'p' })).stderr).toBe('');
  expect((await run('config explain --profile p', { PETSTORE_BASE_URL: 'http://a' })).stderr).toBe('');
});

test('the embedded store is chosen by flag, variable or config, and gives way to a base URL that is nearer', async () => {
  const url = { PETSTORE_BASE_URL: 'http://a' };
  const offline = async (flags = '', env: Env = {}) => (await explain(flags, env)).offline;
  expect(await offline('--offline', url)).toEqual([true, '--offline']);
  expect(await offline('--profile offline', url)).toEqual([true, '--profile']);
  expect(await offline('--base-url http://a', { PETSTORE_PROFILE: 'offline' })).toEqual([false, null]);
  const both = await run('pets list', { ...url, PETSTORE_PROFILE: 'offline' });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('contradict each other') });
  write({ profile: 'offline', 'base-url': 'http://top' });
  expect(await offline()).toEqual([true, path]);
  expect(await offline('', url)).toEqual([false, null]);
});

describe('the folders', () => {
  const places = async (env: Env) => {
    const unnamed = { PETSTORE_CONFIG_DIR: '', PETSTORE_STATE_DIR: '', PETSTORE_OFFLINE_STORE: '' };
    const rows = JSON.parse((await run('config path -o json', { ...unnamed, ...env })).stdout);
    return rows.map((row: { readonly path: string }) => row.path);
  };

  test.each<readonly [env: Env, paths: readonly string[]]>([
    [
      {},
      ['.config/petstore/config.json', '.local/state/petstore', '.local/state/petstore/offline-store.json'],
    ],
    [
      { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 'relative' },
      ['/c/petstore/config.json', '.local/state/petstore', '.local/state/petstore/offline-store.json'],
    ],
    [
      { PETSTORE_CONFIG_DIR: '/c', PETSTORE_STATE_DIR: '/s', PETSTORE_OFFLINE_STORE: ':memory:' },
      ['/c/config.json', '/s', ':memory:'],
    ],
  ])('are with %j %j', async (env, paths) => {
    const absolute = paths.map((one) => (one.startsWith('.') ? join('/home/me', one) : one));
    expect(await places({ HOME: '/home/me', ...env })).toEqual(absolute);
  });

  test.each(['', 'here'])('are never below the current folder: HOME=%j', async (HOME) => {
    expect((await places({ HOME })).every(isAbsolute)).toBe(true);
  });
});
