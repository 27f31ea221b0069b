import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { CredentialPlace } from '../../src/api/contract.ts';
import { readTokenFile, runTokenCommand } from '../../src/config/read-token.ts';
import { splitWords } from '../../src/config/setting-values.ts';
import { settingsFrom } from '../../src/config/settings.ts';
import { readCredential } from '../../src/config/token.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const token = { PETSTORE_TOKEN: 's3cret' };
const node = process.execPath;

test('a token goes to the base URL that is given if the config names none', async () => {
  const { credential, notices } = await read({ env: token, baseUrl: 'https://shop.example' });
  expect(credential).toEqual({
    place: { in: 'header', name: 'Authorization' },
    value: 'Bearer s3cret',
    source: 'PETSTORE_TOKEN',
  });
  expect(notices).toEqual([]);
});

test('header and scheme are those of the settings; an empty scheme sends the bare token', async () => {
  const config = { 'auth-header': 'X-Api-Key', 'auth-scheme': '', 'base-url': 'https://shop.example' };
  expect((await read({ config, env: token })).credential).toMatchObject({
    place: { in: 'header', name: 'X-Api-Key' },
    value: 's3cret',
  });
});

test.each([
  ['me:p:ä', 'Basic bWU6cDrDpA=='],
  ['bWU6cDrDpA==', 'Basic bWU6cDrDpA=='],
])('%s goes as Basic if the description asks for it and the config for nothing', async (secret, value) => {
  const places = [{ in: 'header', name: 'authorization', scheme: 'Basic' }] as const;
  const given = { env: { PETSTORE_TOKEN: secret }, baseUrl: 'https://shop.example', places };
  expect((await read(given)).credential).toMatchObject({ value });
  const config = { 'auth-scheme': 'Bearer' };
  expect((await read({ ...given, config })).credential).toMatchObject({ value: `Bearer ${secret}` });
});

test.each([
  ['another host', 'https://evil.example'],
  ['another port', 'https://shop.example:8443'],
  ['another scheme', 'http://shop.example'],
])('the token of a profile is not sent to %s, and one notice says why', async (_, baseUrl) => {
  const own = { 'base-url': 'https://shop.example', 'token-file': write('own', 's3cret') };
  const config = { profile: 'p', profiles: { p: own } };
  for (const how of [
    { flags: { baseUrl } },
    { flags: { baseUrl, profile: 'p' } },
    { env: { PETSTORE_BASE_URL: baseUrl } },
    { env: { PETSTORE_BASE_URL: baseUrl, PETSTORE_PROFILE: 'p' } },
  ]) {
    const { credential, notices } = await read({ config, ...how });
    expect(credential).toBeUndefined();
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^warning: the token of token file .* is not sent: it belongs to https:..shop\.example/,
    );
  }
});

test('PETSTORE_TOKEN belongs to PETSTORE_BASE_URL even if a profile is active', async () => {
  const config = { profile: 'p', profiles: { p: { 'base-url': 'https://shop.example' } } };
  const env = { ...token, PETSTORE_BASE_URL: 'https://a.example' };
  for (const each of [{}, config]) {
    expect((await read({ config: each, env })).credential?.value).toBe('Bearer s3cret');
    const { credential, notices } = await read({
      config: each,
      env,
      flags: { baseUrl: 'https://b.example' },
    });
    expect(credential).toBeUndefined();
    expect(notices).toEqual([
      expect.stringContaining('it belongs to https://a.example, not to https://b.example'),
    ]);
  }
});

test('PETSTORE_TOKEN without PETSTORE_BASE_URL belongs to the active profile, with none to --base-url', async () => {
  const config = { profile: 'p', profiles: { p: { 'base-url': 'https://shop.example' } } };
  const flags = { baseUrl: 'https://b.example' };
  expect((await read({ config, env: token })).credential?.value).toBe('Bearer s3cret');
  expect((await read({ config, env: token, flags })).credential).toBeUndefined();
  expect((await read({ env: token, flags })).credential?.value).toBe('Bearer s3cret');
});

test.each([
  ['https://pr-7.preview.example.com', true],
  ['https://b.example:8443', true],
  ['https://preview.example.com', false],
  ['https://a.pr-7.preview.example.com', false],
  ['https://pr-7.preview.example.com.evil.example', false],
  ['https://evil.example/.preview.example.com', false],
  ['https://pr-7.preview.example.com:8443', false],
  ['http://pr-7.preview.example.com', false],
  ['https://b.example', false],
])('with token-origins the token of a profile goes to %s: %s', async (baseUrl, isSent) => {
  const own = {
    'base-url': 'https://shop.example',
    'token-file': write('origins', 's3cret'),
    'token-origins': 'https://*.preview.example.com https://b.example:8443',
  };
  for (const origins of [own['token-origins'], own['token-origins'].split(' ')]) {
    const config = { profile: 'p', profiles: { p: { ...own, 'token-origins': origins } } };
    for (const flags of [{ baseUrl }, { baseUrl, profile: 'p' }])
      expect((await read({ config, flags })).credential?.value).toBe(isSent ? 'Bearer s3cret' : undefined);
  }
});

test('another path of the same origin is the same service', async () => {
  const config = { 'base-url': 'https://shop.example/v1' };
  const { credential } = await read({ config, env: token, flags: { baseUrl: 'https://shop.example/v2' } });
  expect(credential?.value).toBe('Bearer s3cret');
});

test.each([
  ['http://localhost:4010', true],
  ['http://127.0.0.1:4010', true],
  ['http://127.9.9.9', true],
  ['http://[::1]:4010', true],
  ['http://api.localhost', true],
  ['http://shop.example', false],
  ['http://127.0.0.1.evil.example', false],
  ['http://localhost.evil.example', false],
  ['http://[::ffff:1.2.3.4]', false],
])('over plain http to %s a token is sent: %s; else it is a usage error', async (baseUrl, isSent) => {
  const reading = read({ env: token, baseUrl });
  if (isSent) expect((await reading).credential?.value).toBe('Bearer s3cret');
  else
    await expect(reading).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('the token of PETSTORE_TOKEN is not sent: '),
    });
});

test('--allow-insecure-http sends it over plain http to any host', async () => {
  const { credential } = await read({ env: token, baseUrl: 'http://shop.example', allowInsecureHttp: true });
  expect(credential?.value).toBe('Bearer s3cret');
});

test('one trailing newline of a token file is dropped', async () => {
  const file = write('token', 'from-file\n');
  expect((await read({ env: { PETSTORE_TOKEN_FILE: file } })).credential?.value).toBe('Bearer from-file');
  expect((await read({ config: { 'token-file': write('crlf', 'from-file\r\n') } })).credential?.value).toBe(
    'Bearer from-file',
  );
});

test('PETSTORE_TOKEN beats a token file; of files and commands the source with precedence counts', async () => {
  const file = write('nearer', 'from-file');
  const config = {
    profile: 'p',
    profiles: { p: { 'token-command': `'${node}' -p 1234` } },
    'token-file': file,
  };
  expect((await read({ config, env: token })).credential?.value).toBe('Bearer s3cret');
  expect((await read({ config, env: { PETSTORE_TOKEN_FILE: file } })).credential?.value).toBe(
    'Bearer from-file',
  );
  expect((await read({ config })).credential?.value).toBe('Bearer 1234');
  const both = { 'token-file': file, 'token-command': 'x' };
  await expect(read({ config: both })).rejects.toMatchObject({ kind: 'usage' });
});

test.each([
  ['a\nb', 'the token contains a line break'],
  ['a\r\nInjected: yes\n', 'the token contains a line break'],
  ['clé–x', "the token's character 4 is not allowed in a header"],
  ['a\u0007', "the token's character 2 is not allowed in a header"],
  ['\n', 'the token is empty'],
  ['', 'the token is empty'],
])('a token file that holds %j is an error that names the file and not the token', async (text, why) => {
  const file = write('bad', text);
  await expect(read({ env: { PETSTORE_TOKEN_FILE: file } })).rejects.toMatchObject({
    kind: 'auth',
    message: `token file ${file}: ${why}`,
  });
});

test('of a token file and a token command in one place, the hint removes either', async () => {
  const both = { 'base-url': 'https://shop.example', 'token-file': 'token', 'token-command': 'cat token' };
  await expect(read({ config: both })).rejects.toMatchObject({
    details: { hint: expect.stringContaining('`petstore config unset token-file`') },
  });
  await expect(read({ config: { profile: 'a', profiles: { a: both } } })).rejects.toMatchObject({
    details: { hint: expect.stringContaining('`petstore config unset --profile a token-file`') },
  });
});

test('a token variable with a line break is an error that names the variable', async () => {
  await expect(read({ env: { PETSTORE_TOKEN: 'a\nb' } })).rejects.toThrow(
    'PETSTORE_TOKEN: the token contains a line break',
  );
});

test('a missing token file is an authentication error', async () => {
  await expect(read({ env: { PETSTORE_TOKEN_FILE: '/nonexistent/token' } })).rejects.toMatchObject({
    kind: 'auth',
    message: 'read token file /nonexistent/token: no such file or directory',
  });
});

test('a token file may be a pipe; one that nobody writes to ends in time', async () => {
  const [pipe, silent] = [join(folder, 'pipe'), join(folder, 'silent')];
  execFileSync('mkfifo', [pipe, silent]);
  await expect(readTokenFile(silent, 60)).rejects.toThrow('nothing was written to it in time');
  const text = readTokenFile(pipe, 5000);
  execFileSync('sh', ['-c', `sleep 0.05; printf piped > '${pipe}'`]);
  expect(await text).toBe('piped');
});

test('a token command gets its words as they are, without a shell', async () => {
  const text = await runTokenCommand(
    `'${node}' -p 'process.argv.slice(1).join("|")' -- '$HOME' "a b" c\\ d ; *`,
    reader(),
  );
  expect(text).toBe('$HOME|a b|c d|;|*\n');
  expect(splitWords(String.raw`a "b \"c\" \n" '' "d"e`)).toEqual(['a', String.raw`b "c" \n`, '', 'de']);
});

test('the stderr of a token command is shown with its controls made visible', async () => {
  const io = fakeIo();
  await expect(
    runTokenCommand(`'${node}' -e 'console.error("log in first \\x1b[2J"); process.exit(3)'`, {
      ...reader(),
      io,
    }),
  ).rejects.toMatchObject({ kind: 'auth', message: `token-command ${node}: exited with 3` });
  expect(io.written('stderr')).toBe('log in first \\x1b[2J\n');
});

test('the token is masked in what the command prints on stderr', async () => {
  const io = fakeIo();
  const line = `sh -c 'echo "got tok-3n" >&2; echo tok-3n'`;
  expect(await runTokenCommand(line, { ...reader(), io })).toBe('tok-3n\n');
  expect(io.written('stderr')).toBe('got ***\n');
  await expect(
    runTokenCommand(`sh -c 'echo tok-3n; echo "+ tok-3n" >&2; exit 1'`, { ...reader(), io }),
  ).rejects.toThrow('token-command sh: exited with 1');
  expect(io.written('stderr')).toBe('got ***\n+ ***\n');
});

test.each([
  ['/nonexistent/command secret-word', 'token-command /nonexistent/command: there is no such command'],
  ['/etc/passwd', 'token-command /etc/passwd: permission denied'],
  [`'${node}' -e 'console.log("x".repeat(70000))'`, `token-command ${node}: printed more than 64 KiB`],
])('%s is an authentication error', async (line, message) => {
  await expect(runTokenCommand(line, reader())).rejects.toMatchObject({ kind: 'auth', message });
});

test('a token command that takes too long is killed, also if a child of it goes on', async () => {
  const mark = join(folder, 'late');
  const start = Date.now();
  const line = `sh -c '(sleep 1; touch ${mark}) & sleep 5'`;
  await expect(runTokenCommand(line, reader(), 300)).rejects.toThrow('took longer than 0.3 s');
  expect(Date.now() - start).toBeLessThan(900);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(existsSync(mark)).toBe(false);
});

test('a child of a token command that keeps its output open is not waited for, and is ended', async () => {
  const mark = join(folder, 'kept');
  const start = Date.now();
  expect(await runTokenCommand(`sh -c '(sleep 1; touch ${mark}) & echo tok-3n'`, reader())).toBe('tok-3n\n');
  expect(Date.now() - start).toBeLessThan(900);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(existsSync(mark)).toBe(false);
});

interface Case {
  readonly config?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly flags?: { readonly baseUrl?: string; readonly profile?: string };
  readonly baseUrl?: string;
  readonly allowInsecureHttp?: boolean;
  readonly places?: readonly CredentialPlace[];
}

/** The credential for the base URL of the settings, or for the one given as if by flag. */
async function read({ config = {}, env = {}, flags = {}, places = [], ...given }: Case) {
  const { baseUrl, allowInsecureHttp = false } = given;
  const io = fakeIo({ env });
  const { profile, profiles = {}, ...defaults } = config as Record<string, never>;
  const file = { path: '/c/config.json', active: profile, profiles, defaults, problem: undefined };
  const settings = settingsFrom(io, baseUrl === undefined ? flags : { baseUrl }, file);
  const notices: string[] = [];
  const target = {
    baseUrl: settings.get('base-url') ?? 'https://given.example',
    allowInsecureHttp,
    places,
  };
  const credential = await readCredential(settings, target, {
    io,
    secrets: createSecrets(),
    signal: new AbortController().signal,
    warn: async (line) => void notices.push(line),
  });
  return { credential, notices };
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function reader() {
  return { io: fakeIo(), signal: new AbortController().signal };
}
