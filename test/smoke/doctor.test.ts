import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** The folder of the configuration. */
let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

interface Finding {
  readonly state: string;
  readonly reason: string;
  readonly hint: string | null;
}

/** Runs `doctor`, and gives its findings and their states by check. */
async function examine(words: string, env: RunOptions['env'] = {}) {
  const argv = `doctor -o json ${words}`.trim();
  const { code, stdout } = await runCli(argv, {
    env: { PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder, ...env },
  });
  const rows = JSON.parse(stdout) as (Finding & { check: string })[];
  const findings = Object.fromEntries(rows.map(({ check, ...finding }) => [check, finding as Finding]));
  const states = Object.fromEntries(rows.map(({ check, state }) => [check, state]));
  return { code, stdout, states, findings };
}

const healthy = () => recordingServer({ '/pets': [] });
const containing = (text: string) => expect.stringContaining(text);

function writeConfig(config: unknown, mode = 0o600): void {
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  chmodSync(join(folder, 'config.json'), mode);
}

test('the embedded store passes without network checks, and each check comes after the checks that it needs', async () => {
  const { code, states } = await examine('--offline');
  expect(code).toBe(0);
  expect(Object.entries(states)).toEqual([
    ['config', 'ok'],
    ['environment', 'ok'],
    ['permissions', 'ok'],
    ['token', 'skip'],
    ['dns', 'skip'],
    ['connection', 'skip'],
    ['tls', 'skip'],
    ['service', 'ok'],
    ['clock', 'skip'],
  ]);
});

test('a service that answers passes every check, and gets one request', async () => {
  await using server = await healthy();
  const { code, states, findings } = await examine(`--base-url ${server.url}`);
  const inOrder = { dns: 'ok', connection: 'ok', tls: 'skip', service: 'ok', clock: 'ok' };
  expect({ code, ...states }).toMatchObject({ code: 0, ...inOrder });
  expect(findings.service?.reason).toBe('listPets answered 200 OK');
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /pets']);
});

test('a name below localhost is this machine, for every command', async () => {
  await using server = await healthy();
  const { code, states } = await examine(`--base-url http://shop.localhost:${new URL(server.url).port}`);
  expect({ code, ...states }).toMatchObject({ code: 0, dns: 'ok', connection: 'ok', service: 'ok' });
});

test('the hint of a refused connection is a command line that checks the same address', async () => {
  const refused = await runCli('pets list --base-url http://127.0.0.1:1 --retries 0');
  const [, words = ''] = /`petstore doctor (.*)` looks at each step/.exec(refused.stderr) ?? [];
  const { code, findings } = await examine(`${words} --retries 0`);
  expect(code).toBe(6);
  expect(findings.connection?.reason).toContain('127.0.0.1:1');
});

test('in a terminal each check is a line, with its hint, folded under its own column', async () => {
  const { stdout, code } = await runCli('doctor --base-url http://127.0.0.1:1 --retries 0', {
    env: { PETSTORE_CONFIG_DIR: '/nonexistent/petstore-config', PETSTORE_STATE_DIR: folder, NO_COLOR: '1' },
    terminals: ['stdout'],
    columns: 60,
  });
  expect(code).toBe(6);
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
    fail  connection   127.0.0.1:1: connection refused; is the
                       service running, and the port of the base
                       URL right?
    skip  tls          connection failed
    skip  service      connection failed
    skip  clock        connection failed
    "
  `);
});

const refusal = (status: number): Reply => ({ status, body: { code: 'x', message: 'no', status } });
const date = new Date(Date.now() - 600_000).toUTCString();

test.each<[title: string, reply: Reply, code: number, check: string, state: string, reason: RegExp]>([
  ['a 401', refusal(401), 4, 'service', 'fail', /401/],
  ['a 403', refusal(403), 4, 'service', 'fail', /403/],
  ['a 404', refusal(404), 7, 'service', 'fail', /404/],
  ['a 429', refusal(429), 6, 'service', 'fail', /429/],
  ['a 500', refusal(500), 6, 'service', 'fail', /500/],
  ['a page', { headers: { 'content-type': 'text/html' }, body: '<p>hi' }, 7, 'service', 'fail', /web page/],
  [
    'an old date',
    { headers: { date }, body: [] },
    0,
    'clock',
    'warn',
    /^this clock is 10 min ahead of the service/,
  ],
])('%s of the service is found', async (_, reply, code, check, state, reason) => {
  await using server = await recordingServer({}, () => reply);
  const run = await examine(`--base-url ${server.url} --retries 0`);
  expect({ code: run.code, state: run.states[check] }).toEqual({ code, state });
  expect(run.findings[check]?.reason).toMatch(reason);
});

test('an untrusted certificate fails TLS; a trusted one is shown with its last day', async () => {
  const { cert, key } = await makeCertificate(90);
  await using server = await recordingServer({ '/pets': [] }, undefined, { cert, key });
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, cert);
  const untrusted = await examine(`--base-url ${server.url}`);
  expect({ code: untrusted.code, ...untrusted.states }).toMatchObject({
    code: 6,
    tls: 'fail',
    service: 'skip',
  });
  expect(untrusted.findings.tls?.hint).toContain('ca-cert');
  const trusted = await examine(`--base-url ${server.url}`, { PETSTORE_CA_CERT: ca });
  expect({ code: trusted.code, ...trusted.states }).toMatchObject({ code: 0, tls: 'ok', service: 'ok' });
  expect(trusted.findings.tls?.reason).toMatch(/^TLSv1.3, certificate valid until \d{4}-\d\d-\d\d$/);
});

test('a token that cannot be read exits 4, and nothing is sent', async () => {
  await using server = await healthy();
  const run = await examine(`--base-url ${server.url}`, { PETSTORE_TOKEN_FILE: '/nonexistent/token' });
  expect({ code: run.code, ...run.states }).toMatchObject({ code: 4, token: 'fail', service: 'skip' });
  expect(run.findings.token?.reason).toContain('/nonexistent/token');
  expect(server.seen).toEqual([]);
});

test('a token is named by its source, and its value is never shown', async () => {
  await using server = await healthy();
  const { findings, stdout } = await examine(`--base-url ${server.url}`, { PETSTORE_TOKEN: 's3cret' });
  expect(findings.token?.reason).toBe('PETSTORE_TOKEN, sent as Authorization');
  expect(stdout).not.toContain('s3cret');
});

test('without a base URL doctor exits 2 and names the remedies', async () => {
  const { code, findings } = await examine('');
  expect(code).toBe(2);
  expect(findings.service).toMatchObject({ state: 'fail', hint: containing('--offline') });
});

test('a host that does not exist fails dns', async () => {
  const { code, states } = await examine('--base-url http://no-such-host.invalid --timeout 5s');
  expect({ code, ...states }).toMatchObject({ code: 6, dns: 'fail', connection: 'skip' });
});

test('a wrong config is a failure of its check', async () => {
  writeConfig({ timeout: 'often' });
  const { code, findings } = await examine('--offline');
  expect(code).toBe(2);
  expect(findings.config).toMatchObject({ state: 'fail', reason: containing("'often'") });
  expect(findings.service?.state).toBe('skip');
});

test('an unknown variable is a warning that suggests the nearest name', async () => {
  const { findings } = await examine('--offline', { PETSTORE_BASEURL: 'http://a' });
  expect(findings.environment).toMatchObject({ state: 'warn', hint: 'did you mean PETSTORE_BASE_URL?' });
});

test('a file that others may read is a warning with the command that fixes it, whatever its folder', async () => {
  const parent = folder;
  folder = join(folder, "it's odd");
  mkdirSync(folder);
  writeConfig({}, 0o644);
  const { code, findings } = await examine('--offline');
  expect(code).toBe(0);
  const hint = `chmod 600 '${join(parent, "it'\\''s odd")}/config.json'`;
  expect(findings.permissions).toMatchObject({ state: 'warn', hint });
});

test('a config folder that cannot be created is a warning, and the other checks go on', async () => {
  const nowhere = join(folder, 'config.json', 'below');
  writeConfig({});
  const { code, findings } = await examine('--offline', { PETSTORE_CONFIG_DIR: nowhere });
  expect(code).toBe(0);
  const reason = containing(`${nowhere} cannot be written to`);
  expect(findings.permissions).toMatchObject({ state: 'warn', reason });
  expect(findings.service?.state).toBe('ok');
});
