import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readToken } from '../../src/config/credential.ts';
import { openConfig } from '../helpers/config-folder.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, fakeIo, runAt } from '../helpers/run-cli.ts';
import { temporaryFile, temporaryFolder } from '../helpers/temporary-folder.ts';

type Env = Readonly<Record<string, string>>;

const token = { PETSTORE_TOKEN: 's3cret' };
const shop = { 'base-url': 'https://shop.example' };

interface ShowOptions {
  readonly env?: Env;
  readonly flags?: string;
  /** Whether stderr is a terminal. */
  readonly isAtTerminal?: boolean;
}

/** A write that is shown and not sent, with this config: the headers that carry a token, and what is on stderr. */
async function show(config: object, { env = {}, flags = '', isAtTerminal = false }: ShowOptions = {}) {
  const words = `categories create --name x --dry-run ${flags}`.trimEnd();
  const run = await openConfig(config).run(words, { env, terminals: isAtTerminal ? ['stderr'] : [] });
  return { ...run, isSent: /: \*\*\*$/m.test(run.stdout) };
}

/** A config whose active profile belongs to https://shop.example. */
const active = (more: object) => ({ profile: 'p', profiles: { p: { ...shop, ...more } } });

describe('the token', () => {
  /** The header that a service gets. */
  async function sent(env: Env, header = 'authorization') {
    await using server = await recordingServer({}, () => ({ body: [] }));
    const run = await runAt(server, 'categories list', { env });
    return { ...run, value: server.requests[0]?.headers[header] };
  }

  test.each<readonly [env: Env, header: string, value: string]>([
    [token, 'authorization', 'Bearer s3cret'],
    [{ ...token, PETSTORE_AUTH_HEADER: 'X-Key', PETSTORE_AUTH_SCHEME: 'Token' }, 'x-key', 'Token s3cret'],
    [{ PETSTORE_TOKEN: 'me:p:ä', PETSTORE_AUTH_SCHEME: 'Basic' }, 'authorization', 'Basic bWU6cDrDpA=='],
    [{ PETSTORE_TOKEN: 'bWU6cA==', PETSTORE_AUTH_SCHEME: 'Basic' }, 'authorization', 'Basic bWU6cA=='],
  ])('with %j is sent as %s: %s', async (env, header, value) => {
    expect(await sent(env, header)).toMatchObject({ code: 0, value });
  });

  test('of a file or a variable has its one trailing newline dropped', async () => {
    for (const text of ['s3cret\n', 's3cret\r\n'])
      for (const env of [{ PETSTORE_TOKEN_FILE: temporaryFile(text) }, { PETSTORE_TOKEN: text }])
        expect(await sent(env)).toMatchObject({ value: 'Bearer s3cret' });
  });

  test('of a command comes without a shell, and is masked in what the command prints on stderr', async () => {
    const script = 'console.error("got a|b \\x1b[2J"); console.log(process.argv.slice(1).join("|"))';
    const env = { PETSTORE_TOKEN_COMMAND: `'${process.execPath}' -e '${script}' -- '$HOME' "a b" c\\d ; *` };
    const value = 'Bearer $HOME|a b|c\\d|;|*';
    expect(await sent(env)).toMatchObject({ value, stderr: 'got a|b \\x1b[2J\n' });
    const echo = { PETSTORE_TOKEN_COMMAND: `sh -c 'echo "got s3cret" >&2; echo s3cret'` };
    expect(await sent(echo)).toMatchObject({ value: 'Bearer s3cret', stderr: 'got ***\n' });
  });

  test('of the variable beats a file; of files and commands the source with precedence counts', async () => {
    const env = { PETSTORE_TOKEN_FILE: temporaryFile('from-file') };
    expect(await sent({ ...env, ...token })).toMatchObject({ value: 'Bearer s3cret' });
    await using server = await recordingServer({}, () => ({ body: [] }));
    const p = { 'base-url': server.url, 'token-command': 'echo from-profile' };
    const config = openConfig({ profile: 'p', profiles: { p }, 'token-file': '/nonexistent/token' });
    for (const more of [{}, env]) await config.run('categories list', { env: more });
    const values = server.requests.map(({ headers }) => headers.authorization);
    expect([...new Set(values)]).toEqual(['Bearer from-profile', 'Bearer from-file']);
  });
});

describe('a token that cannot be read is an error that names its source, and shows no secret:', () => {
  const node = process.execPath;

  test.each<readonly [variable: string, text: string, why: string]>([
    ['PETSTORE_TOKEN', 'a\nb', "the token's character 2 is not allowed in a header"],
    ['PETSTORE_TOKEN_FILE', 'a\r\nInjected: yes\n', "the token's character 2 is not allowed in a header"],
    ['PETSTORE_TOKEN_FILE', 'clé–x', "the token's character 4 is not allowed in a header"],
    ['PETSTORE_TOKEN_FILE', 'a\u0007', "the token's character 2 is not allowed in a header"],
    ['PETSTORE_TOKEN_FILE', '\n', 'the token is empty'],
    ['PETSTORE_TOKEN_FILE', '', 'the token is empty'],
    ['PETSTORE_TOKEN_COMMAND', '/nonexistent/command s3cret', 'no such command'],
    ['PETSTORE_TOKEN_COMMAND', '/etc/passwd', 'permission denied'],
    ['PETSTORE_TOKEN_COMMAND', `sh -c 'echo s3cret; echo "+ s3cret" >&2; exit 1'`, 'exited with 1'],
    [
      'PETSTORE_TOKEN_COMMAND',
      `'${node}' -e 'console.log("x".repeat(70000))'`,
      'stdout maxBuffer length exceeded',
    ],
  ])('%s %j: %s', async (variable, text, why) => {
    const value = variable === 'PETSTORE_TOKEN_FILE' ? temporaryFile(text) : text;
    const { code, stdout, stderr } = await show(shop, { env: { [variable]: value } });
    expect([code, stdout]).toEqual([4, '']);
    const name = { PETSTORE_TOKEN: variable, PETSTORE_TOKEN_FILE: `token file ${value}` }[variable];
    expect(stderr).toMatch(new RegExp(`^error: ${name ?? 'token-command \\S+'}: ${why}$`, 'm'));
    expect(stderr).not.toContain('s3cret');
  });

  test('a file that is missing', async () => {
    const run = await show(shop, { env: { PETSTORE_TOKEN_FILE: '/nonexistent/token' } });
    const stderr = 'error: read token file /nonexistent/token: no such file or directory\n';
    expect(run).toMatchObject({ code: 4, stderr });
  });
});

const variable = { PETSTORE_BASE_URL: 'https://variable.example' };
const inProfile = { 'base-url': 'https://profile.example' };
const atTop = { 'base-url': 'https://top.example' };
const command = { 'token-command': 'echo s3cret' };

test.each<readonly [what: string, env: Env, profile: object, top: object, origin: string]>([
  ['the environment', { ...token, ...variable }, inProfile, atTop, 'https://variable.example'],
  ['the environment', token, inProfile, atTop, 'https://profile.example'],
  ['the environment', token, {}, atTop, 'https://top.example'],
  ['the environment', { ...token, ...variable }, {}, {}, 'https://variable.example'],
  ['a profile', variable, { ...inProfile, ...command }, atTop, 'https://profile.example'],
  ['a profile', variable, command, {}, 'https://variable.example'],
  ['the top level', variable, inProfile, { ...atTop, ...command }, 'https://top.example'],
  ['the top level', {}, inProfile, command, 'https://profile.example'],
])('a token of %s, with %j, the profile %j and the top level %j, belongs to %s', async (...row) => {
  const [what, env, profile, others, origin] = row;
  const config = { profile: 'p', profiles: { p: profile }, ...others };
  const flags = '--base-url https://flag.example --profile p';
  const { isSent, stderr } = await show(config, { env, flags, isAtTerminal: true });
  expect(isSent).toBe(false);
  const name = what === 'the environment' ? 'PETSTORE_TOKEN' : 'token-command';
  expect(stderr).toContain(`note: ${name} is not sent to https://flag.example: it is meant for ${origin}\n`);
});

describe('a token that belongs to one origin', () => {
  test.each([
    ['another host', 'https://evil.example'],
    ['another port', 'https://shop.example:8443'],
    ['another scheme', 'http://shop.example'],
  ])('is not sent to %s, and one warning on a terminal says why', async (_, url) => {
    const config = active({ 'token-file': temporaryFile('s3cret') });
    for (const options of [
      { flags: `--base-url ${url}` },
      { flags: `--base-url ${url} --profile p` },
      { env: { PETSTORE_BASE_URL: url } },
      { env: { PETSTORE_BASE_URL: url, PETSTORE_PROFILE: 'p' } },
    ]) {
      const { isSent, stderr } = await show(config, { ...options, isAtTerminal: true });
      expect(isSent).toBe(false);
      expect(stderr).toMatch(/^note: token file .* is not sent to \S+: it is meant for https:..shop/);
      expect(stderr.match(/is not sent/g)).toHaveLength(1);
      expect(await show(config, options)).toMatchObject({ isSent: false, stderr: '' });
    }
  });

  test('is named if the service asks for a token, and with -v, but not at every call of a script', async () => {
    let status = 200;
    await using server = await recordingServer({}, () => ({ status, body: [] }));
    const run = (line: string) => openConfig(active({})).run(line, { env: token });
    const list = `pets list --base-url ${server.url}`;
    const why = `PETSTORE_TOKEN is not sent to ${server.url}: it is meant for https://shop.example`;
    expect(await run(list)).toMatchObject({ code: 0, stderr: '' });
    expect((await run(`${list} -o json`)).stderr).toBe('');
    expect((await run(`${list} -v`)).stderr).toContain(`note: ${why}`);
    status = 401;
    const refused = await run(list);
    expect(refused).toMatchObject(failed(4, `hint: ${why}`));
    expect(refused.stderr.match(/is not sent/g)).toHaveLength(1);
    const { error } = JSON.parse((await run(`${list} -o json`)).stderr);
    expect(error).toMatchObject({ kind: 'auth', hint: expect.stringContaining(why) });
  });
});

test.each([
  ['localhost:4010', true],
  ['[::1]:4010', true],
  ['api.localhost', true],
  ['shop.example', false],
  ['127.0.0.1.evil.example', false],
])('over plain http to %s a token is sent: %s; else it is a usage error', async (host, isSent) => {
  const run = await show({}, { env: token, flags: `--base-url http://${host}` });
  expect(run).toMatchObject({ code: isSent ? 0 : 2, isSent });
  expect(run.stderr).toMatch(isSent ? /^$/ : /^error: PETSTORE_TOKEN is not sent: http:/);
});

test('a token file may be a pipe; one that nobody writes to ends in time', async () => {
  const [pipe, silent] = ['pipe', 'silent'].map((name) => join(temporaryFolder(), name));
  execFileSync('mkfifo', [`${pipe}`, `${silent}`]);
  const { signal } = new AbortController();
  const read = (text = '', timeoutMs = 60) =>
    readToken({ kind: 'file', text }, { io: fakeIo(), signal, timeoutMs });
  await expect(read(silent)).rejects.toThrow('nothing was written to it in time');
  const text = read(pipe, 5000);
  execFile('sh', ['-c', `sleep 0.05; printf piped > '${pipe}'`]);
  expect(await text).toBe('piped');
});

test('a token command runs once for a command that reads records and writes many', async () => {
  const folder = temporaryFolder();
  const editor = `sh -c 'sed -i s/5/6/ "$1"' sh`;
  await using server = await recordingServer({ '/pets': [] }, ({ method, path }) => {
    const entry = { petId: 1, quantity: method === 'PUT' ? 6 : 5, status: 'available' };
    return { body: path.startsWith('/store/inventory/') ? entry : [entry] };
  });
  const command = { PETSTORE_TOKEN_COMMAND: `sh -c 'echo run >> ${folder}/started; echo s3cret'` };
  const env = { ...command, PETSTORE_STATE_DIR: folder, EDITOR: editor };
  const run = await runAt(server, ['inventory', 'edit', '--yes'], { env });
  expect(server.calls().at(-1)).toBe('PUT /store/inventory/1');
  expect(run.code).toBe(0);
  expect(readFileSync(join(folder, 'started'), 'utf8')).toBe('run\n');
});

test('a token command has no longer than a call may take', async () => {
  const env = { PETSTORE_TOKEN_COMMAND: 'sleep 5' };
  const { code, stderr } = await show(shop, { env, flags: '--timeout 200ms' });
  expect([code, stderr]).toEqual([4, 'error: token-command sleep: took longer than 200 ms\n']);
});

test('a binding does not keep the query of the address of its description, which may hold a token', async () => {
  const description = JSON.parse((await openConfig({}).run('api spec -o json')).stdout);
  await using server = await recordingServer({}, () => ({ body: description }));
  const config = openConfig({ 'base-url': server.url });
  expect(await config.run(`api bind ${server.url}/d.json?key=s3cret`)).toMatchObject({ code: 0 });
  const files = readdirSync(config.folder, { recursive: true, withFileTypes: true });
  const texts = files.flatMap((each) =>
    each.isFile() ? readFileSync(join(each.parentPath, each.name), 'utf8') : [],
  );
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.join()).not.toContain('s3cret');
});

const isRoot = process.geteuid?.() === 0;

/** A config whose token-command leaves a mark. */
function markingConfig(baseUrl: string) {
  const mark = join(temporaryFolder(), 'mark');
  const profile = { 'base-url': baseUrl, 'token-command': `touch ${mark}` };
  return { ...openConfig({ profile: 'p', profiles: { p: profile } }), mark };
}

type Spoil = readonly [how: string, spoil: (file: string) => void, says: RegExp];
const spoils: readonly Spoil[] = [
  ['others may write', (file) => chmodSync(file, 0o602), /others can write to it \(owner \d+, mode 0602\)/],
  ['its group may write', (file) => chmodSync(file, 0o660), /can write to it \(owner \d+, mode 0660\)/],
  ['is of another user', (file) => chownSync(file, 12345, 12345), /belongs to user 12345, .*`chown \d+ /],
];
/** Only root can give a file to another user. */
const possible = isRoot ? spoils : spoils.slice(0, 2);

describe.each(possible)('a config that %s', (_, spoil, says) => {
  test('ends every command that calls a service with 2, and none of it is used', async () => {
    await using server = await recordingServer({});
    const { path, mark, run } = markingConfig(server.url);
    spoil(path);
    const stderr = expect.stringMatching(says);
    for (const line of ['pets list', `pets list --base-url ${server.url}`, 'smoke', 'pets delete 1'])
      expect(await run(line)).toMatchObject({ code: 2, stdout: '', stderr });
    expect(server.requests).toEqual([]);
    expect(existsSync(mark)).toBe(false);
  });

  test('is named by the commands that repair it', async () => {
    const { path, mark, run } = markingConfig('http://127.0.0.1:9');
    spoil(path);
    for (const line of ['config path', 'config show', 'config explain', 'profile list'])
      expect(await run(line)).toMatchObject({ code: 0, stderr: expect.stringMatching(says) });
    expect(existsSync(mark)).toBe(false);
  });
});

test('the error has the command that makes a config private again', async () => {
  const { path, run } = markingConfig('http://127.0.0.1:9');
  chmodSync(path, 0o666);
  const { stderr } = await run('pets list');
  const [, command = ''] = /`(chmod 600 .*)`/.exec(stderr) ?? [];
  execFileSync('sh', ['-c', command]);
  expect((await run('config get base-url')).stdout).toBe('http://127.0.0.1:9\n');
});

test('a contract that others may write is exit 2', async () => {
  const { folder, run } = markingConfig('http://127.0.0.1:9');
  const file = join(folder, 'contracts', 'origins', 'http%3A%2F%2F127.0.0.1%3A9.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  chmodSync(file, 0o666);
  expect(await run('pets list')).toMatchObject(failed(2, 'others can write to it'));
});
