import { dirname, isAbsolute, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { settingKeys } from '../../src/config/keys.ts';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { failed } from '../helpers/run-cli.ts';

type Env = Readonly<Record<string, string>>;

let config: ConfigFolder;

beforeEach(() => {
  config = openConfig();
});

/** Value and origin of each setting, by key, as `config explain` shows them. */
async function explain(flags = '', env: Env = {}): Promise<Record<string, unknown>> {
  const { stdout } = await config.run(`config explain -o json ${flags}`.trimEnd(), { env });
  const rows: { key: string; value: unknown; origin: unknown }[] = JSON.parse(stdout);
  return Object.fromEntries(rows.map(({ key, value, origin }) => [key, [value, origin]]));
}

const list = 'pets list --offline';
const address = { PETSTORE_BASE_URL: 'http://a' };
const p = { 'base-url': 'http://a' };

describe('a value comes from', () => {
  test('a flag, else the environment, the profile, the top level, and last the default', async () => {
    const staging = { concurrency: 3, timeout: '5s', retries: 2 };
    config.write({ profile: 'staging', profiles: { staging }, concurrency: 4, rate: '2.5/s', retries: 7 });
    // An empty variable counts as not set.
    const env = { PETSTORE_RETRIES: '1', PETSTORE_TIMEOUT: '2m', PETSTORE_CONCURRENCY: '' };
    expect(await explain('--retries 0', env)).toMatchObject({
      profile: ['staging', config.path],
      retries: [0, '--retries'],
      timeout: ['2m', 'PETSTORE_TIMEOUT'],
      concurrency: [3, 'profile staging'],
      rate: [2.5, config.path],
      color: ['auto', null],
    });
    const named = (flags: string, PETSTORE_PROFILE: string) => explain(flags, { PETSTORE_PROFILE });
    config.write({ profile: 'a', profiles: { a: {}, b: {}, c: { retries: 3 } } });
    expect(await named('', 'b')).toMatchObject({ profile: ['b', 'PETSTORE_PROFILE'] });
    const chosen = { profile: ['c', '--profile'], retries: [3, 'profile c'] };
    expect(await named('--profile c', 'b')).toMatchObject(chosen);
  });

  test('the variable that each key has', async () => {
    const values = { 'token-command': 'pass', 'import-map': 'petId=article', etags: false };
    const variable = (key: string) => `PETSTORE_${key.toUpperCase().replaceAll('-', '_')}`;
    const entries = Object.entries(values).map(([key, value]) => [variable(key), String(value)]);
    const settings = await explain('', Object.fromEntries(entries));
    for (const [key, value] of Object.entries(values)) expect(settings[key]).toEqual([value, variable(key)]);
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(settingKeys));
  });

  test('the flag, else FORCE_COLOR, else NO_COLOR, else the config', async () => {
    config.write({ color: 'auto' });
    const color = async (env: Env, flags = '') => (await explain(flags, env)).color;
    expect(await color({ NO_COLOR: '1' })).toEqual(['never', 'NO_COLOR']);
    expect(await color({ NO_COLOR: '1', FORCE_COLOR: '1' })).toEqual(['always', 'FORCE_COLOR']);
    expect(await color({ FORCE_COLOR: '0' })).toEqual(['never', 'FORCE_COLOR']);
    expect(await color({ NO_COLOR: '1' }, '--color always')).toEqual(['always', '--color']);
  });

  test('a path beside the config, or in the current folder for a variable; ~ is the home', async () => {
    config.write({ 'ca-cert': 'ca.pem', 'token-file': '~/token' });
    expect(await explain('', { HOME: '/home/me', PETSTORE_CLIENT_KEY: 'key.pem' })).toMatchObject({
      'ca-cert': [join(dirname(config.path), 'ca.pem'), config.path],
      'token-file': ['/home/me/token', config.path],
      'client-key': [expect.stringMatching(/^\/.+\/key.pem$/), 'PETSTORE_CLIENT_KEY'],
    });
  });
});

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
  ['--output xml', "--output 'xml': must be one of table, json, jsonl, csv, tsv, yaml, ids"],
  ['--base-url localhost:4010', "--base-url 'localhost:4010': must begin with http:// or https://"],
  [
    '--base-url http://me:s3cret@a',
    '--base-url: must not carry a user name or password; give a token with PETSTORE_TOKEN',
  ],
  ['--base-url http://a\\.b', "--base-url 'http://a\\.b': must not contain spaces, controls or backslashes"],
  ['--base-url ', "--base-url '': must begin with http:// or https://"],
  ['--profile oflin', "--profile: there is no profile 'oflin'\nhint: see `petstore profile list`"],
  ['--offline --profile p', `--offline and --profile ${contradict}`],
  ['--offline --base-url http://a', `--offline and --base-url ${contradict}`],
  ['--profile offline --base-url http://a', `--profile and --base-url ${contradict}`],
])('%s is a usage error', async (flags, message) => {
  config.write({ profiles: { p } });
  const { code, stderr } = await config.run(`pets list ${flags}`);
  expect(code).toBe(2);
  expect(stderr.startsWith(`error: ${message}`), stderr).toBe(true);
  expect(stderr).not.toContain('s3cret');
});

describe('a wrong setting', () => {
  test.each([
    'help',
    '--version',
    'pets list --help',
    'help exit-codes',
    'completion bash',
    'config path',
    'config show',
    'config explain',
    'profile list',
    'serve --port 0 -- true',
  ])('or a file that is not a config leaves %s working', async (line) => {
    config.write('{ this is no config');
    const { code, stderr } = await config.run(line, { env: { PETSTORE_TIMEOUT: 'soon' } });
    expect(code).toBe(0);
    // Help, the version and completion scripts do not open it.
    if (/help|version|bash/.test(line)) expect(stderr).toBe('');
  });

  test.each([
    [list, { PETSTORE_TIMEOUT: 'soon' }, "PETSTORE_TIMEOUT 'soon': is not a duration"],
    [`${list} --timeout 5s`, { PETSTORE_TIMEOUT: 'soon' }, "PETSTORE_TIMEOUT 'soon': is not a duration"],
    ['pets list', { PETSTORE_BASE_URL: 'http://a', PETSTORE_PROFILE: 'offline' }, contradict],
    ['pets list', { PETSTORE_PROFILE: 'gone' }, "PETSTORE_PROFILE: there is no profile 'gone'"],
  ])('of the environment ends %s with 2 and is named with its value: %j', async (line, env, message) => {
    expect(await config.run(line, { env })).toMatchObject(failed(2, message));
  });

  test.each([
    [{ timeout: '3x' }, "timeout in <path> '3x': is not a duration"],
    [{ retries: [1] }, 'retries in <path>: must be text, a number, true or false'],
    [{ profile: 'p', profiles: { p: { rate: -1 } } }, "rate in profile p '-1': must be a number"],
    [{ profile: 'gone' }, "<path>: there is no profile 'gone'"],
    ['{"profiles": {"a": 1}}', '<path>: '],
  ])('in the file, %j, ends a command with 2 and is a warning of explain', async (content, message) => {
    config.write(content);
    const stderr = expect.stringContaining(message.replace('<path>', config.path));
    expect(await config.run(list)).toMatchObject({ code: 2, stdout: '', stderr });
    const explained = await config.run('config explain');
    expect([explained.code, explained.stderr]).toEqual([0, stderr]);
  });

  test('an unknown key is a warning with the command that removes it, unless its profile is unused', async () => {
    const warning = "unknown key 'timeot' is not used; `petstore config unset";
    for (const [content, rest] of [
      [{ timeot: '5s' }, ' timeot` removes it'],
      [{ profile: 'p', profiles: { p: { timeot: '5s' } } }, ' --profile p timeot` removes it'],
    ] as const) {
      config.write(content);
      expect((await config.run(list)).stderr).toContain(warning + rest);
    }
    config.write({ profiles: { p: { timeot: '5s' } } });
    expect(await config.run(list)).toMatchObject({ code: 0, stderr: '' });
  });

  test('in the file can be set right with the commands of the config', async () => {
    config.write({ profile: 'gone', timeout: 'soon', timeot: '5s', output: 'csv' });
    expect(await config.run(list)).toMatchObject(failed(2, "there is no profile 'gone'\n"));
    for (const words of ['unset profile', 'set timeout 5s', 'unset timeot'])
      expect(await config.run(`config ${words}`)).toMatchObject({ code: 0 });
    expect(await config.run(list)).toMatchObject({ code: 0, stderr: '' });
  });
});

test.each(['', ' \n', '\ufeff'])(
  'an empty file (%j) is an empty config, and can be written',
  async (text) => {
    config.write(text);
    expect(await config.run(list)).toMatchObject({ code: 0, stderr: '' });
    expect((await config.run('config set timeout 5s')).code).toBe(0);
    expect(config.read()).toEqual({ timeout: '5s' });
  },
);

test.each<readonly [flags: string, env: Env, content: object, offline: readonly [boolean, string | null]]>([
  ['--offline', address, {}, [true, '--offline']],
  ['--profile offline', address, {}, [true, '--profile']],
  ['--base-url http://a', { PETSTORE_PROFILE: 'offline' }, {}, [false, null]],
  ['', {}, { profile: 'offline', 'base-url': 'http://top' }, [true, '<path>']],
  ['', address, { profile: 'offline' }, [false, null]],
  ['--offline', { PETSTORE_PROFILE: 'p' }, { profiles: { p } }, [true, '--offline']],
])('with %j, %j and the config %j the embedded store is chosen: %j', async (flags, env, content, offline) => {
  config.write(content);
  const [isChosen, origin] = offline;
  const expected = [isChosen, origin?.replace('<path>', config.path) ?? null];
  expect((await explain(flags, env)).offline).toEqual(expected);
});

describe('the folders', () => {
  const places = async (env: Env) => {
    const unnamed = { PETSTORE_CONFIG_DIR: '', PETSTORE_STATE_DIR: '', PETSTORE_OFFLINE_STORE: '' };
    const rows = JSON.parse(
      (await config.run('config path -o json', { env: { ...unnamed, ...env } })).stdout,
    );
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
    const absolute = paths.map((path) => (path.startsWith('.') ? join('/home/me', path) : path));
    expect(await places({ HOME: '/home/me', ...env })).toEqual(absolute);
  });

  test.each(['', 'here'])('are never below the current folder: HOME=%j', async (HOME) => {
    expect((await places({ HOME })).every(isAbsolute)).toBe(true);
  });
});
