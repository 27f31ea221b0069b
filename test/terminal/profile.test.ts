import { beforeEach, expect, test } from 'vitest';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { failed } from '../helpers/run-cli.ts';

let config: ConfigFolder;

beforeEach(() => {
  config = openConfig();
});

const run = (words: string, env: Readonly<Record<string, string>> = {}) =>
  config.run(`profile ${words}`, { env });
const profiles = { a: { 'base-url': 'http://a', protected: true }, b: { 'base-url': 'http://b' } };

test('the first profile becomes the active one, the second does not until it is used', async () => {
  expect(await run('create staging --base-url https://a.example/')).toMatchObject({ code: 0, stdout: '' });
  await run('create prod --base-url https://b.example');
  expect((await run('list')).stdout).toBe(
    'name     active  protected  base-url\n' +
      'prod                        https://b.example\n' +
      'staging  *                  https://a.example\n' +
      'offline                     (the embedded store)\n',
  );
  expect(await run('use prod')).toMatchObject({ code: 0, stderr: 'the active profile is prod\n' });
  expect(JSON.parse((await run('list -o json')).stdout)).toEqual([
    { name: 'prod', active: true, protected: false, 'base-url': 'https://b.example' },
    { name: 'staging', active: false, protected: false, 'base-url': 'https://a.example' },
    { name: 'offline', active: false, protected: false, 'base-url': null },
  ]);
  expect((await run('list -o ids')).stdout).toBe('prod\nstaging\noffline\n');
});

test('`profile` alone lists the profiles, and marks the protected ones', async () => {
  config.write({ profiles });
  const { code, stdout } = await config.run('profile');
  expect([code, stdout]).toEqual([0, (await run('list')).stdout]);
  expect(stdout).toMatch(/^a +protected +http:\/\/a$/m);
  expect(stdout).toMatch(/^b +http:\/\/b$/m);
});

test('the help of create shows the flag that it cannot do without', async () => {
  expect((await run('create --help')).stdout).toMatch(/^Flags:\n {2}--base-url <url> /m);
});

test('create keeps the base URL and the file of the token, and no flag of another key', async () => {
  expect((await run('create a --base-url http://a --token-file /run/token')).code).toBe(0);
  const a = { 'base-url': 'http://a', 'token-file': '/run/token' };
  expect(config.read()).toEqual({ profile: 'a', profiles: { a } });
  expect((await run('create b --base-url http://b -o json --timeout 5s')).code).toBe(0);
  expect(config.read()).toEqual({ profile: 'a', profiles: { a, b: { 'base-url': 'http://b' } } });
  for (const flag of ['--rate 5', '--protected', '--tenant north', '--use'])
    expect((await run(`create x --base-url http://a ${flag}`)).stderr).toContain(
      `unknown option '${flag.split(' ')[0]}'`,
    );
});

test.each([
  ['create offline --base-url http://a', "profile 'offline': that name is the built-in profile"],
  ['create a/b --base-url http://a', "profile 'a/b': a name is 1 to 64 letters"],
  ['create __proto__ --base-url http://a', "profile '__proto__': a name is"],
  ['create a --base-url http://b', "profile 'a': it already exists"],
  ['create x', 'profile create: --base-url is missing'],
  ['create x --base-url ftp://a', "--base-url 'ftp://a': must begin with http:// or https://"],
  ['create x --base-url http://a --retries many', "--retries 'many': must be a whole number"],
  ['use gone', "there is no profile 'gone'"],
  ['show toString', "there is no profile 'toString'"],
  ['show', 'profile show: no profile is active'],
  ['delete bb --yes', "there is no profile 'bb'"],
  ['delete offline --yes', "profile 'offline': it is built in"],
  ['delete a', 'delete profile a: needs confirmation, but there is no terminal'],
])('%s is a usage error, and changes nothing', async (words, message) => {
  config.write({ profiles });
  expect(await run(words)).toMatchObject(failed(2, `error: ${message}`));
  expect(config.read()).toEqual({ profiles });
});

test('a profile can have the name of a property of objects', async () => {
  expect((await run('create constructor --base-url http://a')).code).toBe(0);
  expect(config.read()).toMatchObject({ profiles: { constructor: { 'base-url': 'http://a' } } });
});

test('show prints the active profile, or the profile that the line names', async () => {
  config.write({ profile: 'a', profiles });
  expect((await run('show')).stdout).toBe(
    'name  active  base-url  protected\na     true    http://a  true\n',
  );
  const b = { name: 'b', active: false, 'base-url': 'http://b' };
  expect(JSON.parse((await run('show b -o json')).stdout)).toEqual(b);
});

test('delete leaves no profile active if it was the active one; another can still be chosen', async () => {
  config.write({ profile: 'a', profiles });
  expect((await run('rm a --yes')).stderr).toBe('deleted profile a; no profile is active now\n');
  expect(config.read()).toEqual({ profiles: { b: profiles.b } });
  const env = { PETSTORE_PROFILE: 'a' };
  expect((await run('list', env)).stderr).toContain("PETSTORE_PROFILE: there is no profile 'a'");
  expect((await run('use b', env)).code).toBe(0);
});
