import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runTyping } from '../helpers/person.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

test('the first profile becomes the active one, the second does not until it is used', async () => {
  expect(await run('create staging --base-url https://a.example/')).toMatchObject({ code: 0, stdout: '' });
  await run('create prod --base-url https://b.example');
  expect((await run('list')).stdout).toBe(
    'name     active  base-url\nprod             https://b.example\nstaging  *       https://a.example\noffline          (the embedded store)\n',
  );
  expect(await run('use prod')).toMatchObject({ code: 0, stderr: 'the active profile is prod\n' });
  expect(JSON.parse((await run('list -o json')).stdout)).toEqual([
    { name: 'prod', active: true, 'base-url': 'https://b.example' },
    { name: 'staging', active: false, 'base-url': 'https://a.example' },
    { name: 'offline', active: false, 'base-url': null },
  ]);
  expect((await run('list -o ids')).stdout).toBe('prod\nstaging\noffline\n');
});

test('create asks a person for the base URL, again if it is none', async () => {
  const answers = [
    ['Base URL of the service', 'shop\r'],
    ['must begin with http', '\x15https://a.example\r'],
  ] as const;
  const env = { PETSTORE_CONFIG_DIR: folder };
  expect(await runTyping(['profile', 'create', 'shop'], answers, { env })).toMatchObject({ code: 0 });
  expect(stored()).toMatchObject({
    profile: 'shop',
    profiles: { shop: { 'base-url': 'https://a.example' } },
  });
});

test('every key is a flag of create', async () => {
  const values = {
    ...{
      'base-url': 'https://a.example',
      output: 'csv',
      timeout: '5s',
      retries: 2,
      concurrency: 16,
      rate: 50,
    },
    ...{
      color: 'never',
      'token-file': '/t',
      'token-command': 'cat',
      'auth-header': 'X-Key',
      'auth-scheme': 'Token',
    },
    ...{ 'ca-cert': '/ca', 'client-cert': '/cert', 'client-key': '/key' },
  };
  const flags = Object.entries(values).map(([key, value]) => `--${key} ${value}`);
  expect((await run(`create all ${flags.join(' ')} --protected --use`)).code).toBe(0);
  expect(stored()).toEqual({ profile: 'all', profiles: { all: { ...values, protected: true } } });
});

test.each([
  ['create offline --base-url http://a', "profile 'offline': that name is the built-in profile"],
  ['create a/b --base-url http://a', "profile 'a/b': a name is 1 to 64 letters"],
  ['create __proto__ --base-url http://a', "profile '__proto__': a name is"],
  ['create x', 'profile create: --base-url is missing, and there is no terminal'],
  ['create x --base-url ftp://a', "--base-url 'ftp://a': must begin with http:// or https://"],
  [
    'create x --base-url http://a --import-map petId',
    "--import-map 'petId': must be petId=<column>, quantity=<column> or expected=<column>",
  ],
  ['create x --base-url http://a --retries many', "--retries 'many': must be a whole number"],
  ['create x --offline', 'profile create: --offline needs no profile'],
  ['use gone', "there is no profile 'gone'"],
  ['show gone', "there is no profile 'gone'"],
  ['show', 'profile show: no profile is active'],
  ['delete gone --yes', "there is no profile 'gone'"],
  ['delete offline --yes', "profile 'offline': it is built in"],
])('%s is a usage error', async (words, message) => {
  const { code, stderr } = await run(words);
  expect(code).toBe(2);
  expect(stderr).toContain(`error: ${message}`);
});

test('several values of a list add up', async () => {
  const maps = '--import-map petId=SKU --import-map quantity=Stock';
  expect((await run(`create a --base-url http://a ${maps}`)).code).toBe(0);
  expect(stored()).toMatchObject({ profiles: { a: { 'import-map': 'petId=SKU,quantity=Stock' } } });
});

test('a typo in the name of a profile gets a suggestion', async () => {
  await run('create shop --base-url https://a.example');
  for (const words of ['use shp', 'show shp', 'delete shp --yes'])
    expect((await run(words)).stderr).toContain("there is no profile 'shp'\nhint: did you mean shop?");
});

test('--protected takes a value, and is true without one', async () => {
  await run('create a --base-url https://a.example --protected true');
  await run('create --protected --base-url https://a.example b');
  await run('create c --protected false --base-url https://a.example');
  const kept = async (name: string) => JSON.parse((await run(`show ${name} -o json`)).stdout).protected;
  expect([await kept('a'), await kept('b'), await kept('c')]).toEqual([true, true, false]);
  expect((await run('create d --base-url https://a.example --protected=maybe')).code).toBe(2);
});

test('a profile is not created twice, and its name can be that of a property of objects', async () => {
  expect((await run('create constructor --base-url http://a')).code).toBe(0);
  expect(await run('create constructor --base-url http://b')).toMatchObject({ code: 2 });
  expect(stored()).toMatchObject({ profiles: { constructor: { 'base-url': 'http://a' } } });
  expect((await run('show toString')).code).toBe(2);
});

test('show prints the active profile, or the one that is named', async () => {
  await run('create a --base-url http://a --protected');
  await run('create b --base-url http://b');
  expect((await run('show')).stdout).toBe(
    'name  active  base-url  protected\na     true    http://a  true\n',
  );
  expect(JSON.parse((await run('show b -o json')).stdout)).toEqual({
    name: 'b',
    active: false,
    'base-url': 'http://b',
  });
});

test('delete asks first; the active profile leaves none active', async () => {
  await run('create a --base-url http://a');
  expect(await run('delete a')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect((await run('rm a --yes')).stderr).toBe('deleted profile a; no profile is active now\n');
  expect(stored()).toEqual({ profiles: {} });
});

test('a missing active profile is an error for commands, and another profile can still be chosen', async () => {
  await run('create a --base-url http://a');
  await run('create b --base-url http://b');
  await run('delete a --yes');
  const env = { PETSTORE_PROFILE: 'a' };
  expect((await run('list', { env })).stderr).toContain("PETSTORE_PROFILE: there is no profile 'a'");
  expect((await run('use b', { env })).stderr).toContain(
    'note: PETSTORE_PROFILE is set, and takes precedence',
  );
});

function run(words: string, options: RunOptions = {}) {
  return runCli(['profile', ...words.split(' ')], {
    ...options,
    env: { PETSTORE_CONFIG_DIR: folder, ...options.env },
  });
}

function stored(): unknown {
  return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
}
