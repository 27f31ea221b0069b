import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { listenHere } from '../helpers/listen.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

interface Finding {
  readonly state: string;
  readonly reason: string;
  readonly hint: string | null;
}

let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

test('the embedded store is in order, without a network to check', async () => {
  const { code, states } = await examine('--offline');
  expect(code).toBe(0);
  expect(states).toEqual({
    config: 'ok',
    environment: 'ok',
    permissions: 'ok',
    token: 'skip',
    dns: 'skip',
    connection: 'skip',
    tls: 'skip',
    service: 'ok',
    clock: 'skip',
  });
});

test('a service that answers is in order', async () => {
  await using server = await recordingServer({ '/pets?limit=1': [] });
  const { code, states, of } = await examine(`--base-url ${server.url}`);
  expect([code, states.dns, states.connection, states.service, states.clock]).toEqual([
    0,
    'ok',
    'ok',
    'ok',
    'ok',
  ]);
  expect(states.tls).toBe('skip');
  expect(of('service').reason).toMatch(/^GET \/pets answered 200 in \d+ ms$/);
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /pets?limit=1']);
});

test('the hint of a refused connection is a command line that examines the same address', async () => {
  const refused = await runCli(['pets', 'list', '--base-url', 'http://127.0.0.1:1', '--retries', '0']);
  const [, words = ''] = /`petstore (.*)` looks at each step/.exec(refused.stderr) ?? [];
  const { code, of } = await examine(`${words.replace(/^doctor/, '')} --retries 0`);
  expect(code).toBe(6);
  expect(of('connection').reason).toContain('127.0.0.1:1');
});

test('in a terminal each check is a line, folded under its own column, with a hint under a failure', async () => {
  const { stdout } = await runCli(['doctor', '--base-url', 'http://127.0.0.1:1', '--retries', '0'], {
    env: { PETSTORE_CONFIG_DIR: '/nonexistent/petstore-config', PETSTORE_STATE_DIR: folder, NO_COLOR: '1' },
    terminals: ['stdout'],
    columns: 60,
  });
  expect(stdout).toMatchInlineSnapshot(`
    "ok    config       /nonexistent/petstore-config/config.json
                       does not exist, defaults are used; no
                       profile; http://127.0.0.1:1
    ok    environment  PETSTORE_CONFIG_DIR,
                       PETSTORE_OFFLINE_STORE,
                       PETSTORE_STATE_DIR
    ok    permissions  secrets are private; config and state can
                       be written
    ok    token        none is set
    ok    dns          127.0.0.1 is an address
    fail  connection   127.0.0.1:1: connection refused
          hint         is the service running, and the port of
                       the base URL right?
    skip  tls          connection failed
    skip  service      connection failed
    skip  clock        connection failed
    "
  `);
});

test('each check is one line, after those that it needs', async () => {
  const { stdout } = await run('--offline');
  expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
    'check',
    'config',
    'environment',
    'permissions',
    'token',
    'dns',
    'connection',
    'tls',
    'service',
    'clock',
    '',
  ]);
});

test('without a base URL doctor exits 2 and names the ways out', async () => {
  const { code, of } = await examine('');
  expect(code).toBe(2);
  expect(of('service')).toMatchObject({ state: 'fail', hint: expect.stringContaining('--offline') });
});

test('a port that nobody listens on fails the connection, and checks that need it are skipped', async () => {
  const server = await recordingServer({});
  await server[Symbol.asyncDispose]();
  const { code, of, states } = await examine(`--base-url ${server.url}`);
  expect(code).toBe(6);
  expect(of('connection')).toMatchObject({ state: 'fail', reason: expect.stringContaining('refused') });
  expect([states.tls, states.service, states.clock]).toEqual(['skip', 'skip', 'skip']);
});

test('a name below localhost is this machine, for every command', async () => {
  await using server = await recordingServer({ '/pets?limit=1': [] });
  const { code, states } = await examine(`--base-url http://shop.localhost:${new URL(server.url).port}`);
  expect([code, states.dns, states.connection, states.service]).toEqual([0, 'ok', 'ok', 'ok']);
});

test('a host that does not exist fails dns', async () => {
  const { code, of } = await examine('--base-url http://no-such-host.invalid --timeout 5s');
  expect(code).toBe(6);
  expect(of('dns')).toMatchObject({ state: 'fail' });
});

test.each([
  [401, 4, 'fail'],
  [403, 4, 'fail'],
  [404, 1, 'fail'],
  [500, 6, 'fail'],
  [429, 6, 'fail'],
])('an answer of %s exits %s', async (status, code, state) => {
  await using server = await answering({ status, body: { code: 'x', message: 'no', status } });
  const found = await examine(`--base-url ${server.url} --retries 0`);
  expect([found.code, found.states.service]).toEqual([code, state]);
});

test('a page instead of data is a warning with a hint about the base URL', async () => {
  await using server = await answering({ headers: { 'content-type': 'text/html' }, body: '<p>hi' });
  const { code, of } = await examine(`--base-url ${server.url}`);
  expect(code).toBe(0);
  expect(of('service')).toMatchObject({ state: 'warn', reason: expect.stringContaining('text/html') });
});

test('a clock that differs by more than a minute is a warning that says ahead or behind', async () => {
  const headers = { date: new Date(Date.now() - 600_000).toUTCString() };
  await using server = await answering({ headers, body: [] });
  const { code, of } = await examine(`--base-url ${server.url}`);
  expect(code).toBe(0);
  expect(of('clock')).toMatchObject({ state: 'warn', reason: expect.stringMatching(/ahead of the service/) });
});

test('an untrusted certificate fails TLS; a trusted one is shown with its last day', async () => {
  const { cert, key } = await makeCertificate(90);
  const server = createTlsServer({ cert, key }, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('[]');
  });
  const url = `https://127.0.0.1:${await listenHere(server)}`;
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, cert);
  const untrusted = await examine(`--base-url ${url}`);
  expect([untrusted.code, untrusted.states.tls, untrusted.states.service]).toEqual([6, 'fail', 'skip']);
  expect(untrusted.of('tls').hint).toContain('--ca-cert');
  const trusted = await examine(`--base-url ${url} --ca-cert ${ca}`);
  expect([trusted.code, trusted.states.service]).toEqual([0, 'ok']);
  expect(trusted.of('tls').reason).toMatch(/^TLSv1.3, certificate valid until \d{4}-\d\d-\d\d$/);
  server.close();
});

test('a token that cannot be read exits 4, and nothing is sent', async () => {
  await using server = await recordingServer({ '/pets?limit=1': [] });
  const env = { PETSTORE_TOKEN_FILE: '/nonexistent/token' };
  const { code, of, states } = await examine(`--base-url ${server.url}`, { env });
  expect(code).toBe(4);
  expect(of('token')).toMatchObject({ state: 'fail', reason: expect.stringContaining('/nonexistent/token') });
  expect(states.service).toBe('skip');
  expect(server.seen).toEqual([]);
});

test('a token is named by its source and never shown', async () => {
  await using server = await recordingServer({ '/pets?limit=1': [] });
  const env = { PETSTORE_TOKEN: 's3cret' };
  const { of, stdout } = await examine(`--base-url ${server.url}`, { env });
  expect(of('token').reason).toBe('PETSTORE_TOKEN, sent as Authorization');
  expect(stdout).not.toContain('s3cret');
});

test('a wrong config is a failure in a line like any other', async () => {
  write({ timeot: '5s' });
  const { code, of, states } = await examine('--offline');
  expect(code).toBe(2);
  expect(of('config')).toMatchObject({
    state: 'fail',
    reason: expect.stringContaining("unknown key 'timeot'"),
  });
  expect(states.service).toBe('skip');
});

test('a file that others may read is a warning with the command that fixes it', async () => {
  write({ timeout: '5s' });
  chmodSync(join(folder, 'config.json'), 0o644);
  const { code, of } = await examine('--offline');
  expect(code).toBe(0);
  expect(of('permissions')).toMatchObject({
    state: 'warn',
    hint: `chmod 600 ${join(folder, 'config.json')}`,
  });
});

test('a config folder that cannot be created is a warning, and the other checks go on', async () => {
  const nowhere = join(folder, 'config.json', 'below');
  write({});
  const { code, of, states } = await examine('--offline', { env: { PETSTORE_CONFIG_DIR: nowhere } });
  expect(code).toBe(0);
  expect(of('permissions')).toMatchObject({
    state: 'warn',
    reason: expect.stringContaining(`${nowhere} cannot be written to`),
  });
  expect(states.service).toBe('ok');
});

test('the command that fixes a file can be copied, whatever the name of the folder', async () => {
  const odd = join(folder, "it's odd");
  mkdirSync(odd, { recursive: true });
  writeFileSync(join(odd, 'config.json'), '{}', { mode: 0o644 });
  const { of } = await examine('--offline', { env: { PETSTORE_CONFIG_DIR: odd } });
  expect(of('permissions').hint).toBe(`chmod 600 '${join(folder, "it'\\''s odd")}/config.json'`);
});

test('an unknown variable is a warning that suggests the nearest name', async () => {
  const { of } = await examine('--offline', { env: { PETSTORE_BASEURL: 'http://a' } });
  expect(of('environment')).toMatchObject({ state: 'warn', hint: 'did you mean PETSTORE_BASE_URL?' });
});

function run(words: string, options: RunOptions = {}) {
  const env = { PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder, ...options.env };
  return runCli(['doctor', ...words.split(' ').filter((word) => word !== '')], { ...options, env });
}

async function examine(words: string, options: RunOptions = {}) {
  const { code, stdout } = await run(`${words} -o json`, options);
  const findings = new Map<string, Finding>(
    (JSON.parse(stdout) as (Finding & { check: string })[]).map(({ check, ...finding }) => [check, finding]),
  );
  const states: Record<string, string> = Object.fromEntries(
    [...findings].map(([check, { state }]) => [check, state]),
  );
  return { code, stdout, states, of: (check: string) => findings.get(check)! };
}

function answering(reply: ReturnType<Parameters<typeof recordingServer>[1] & {}>): Promise<RecordingServer> {
  return recordingServer({}, () => reply);
}

function write(config: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
}
