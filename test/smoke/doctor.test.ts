import { beforeEach, expect, test } from 'vitest';
import { openConfig } from '../helpers/config-folder.ts';
import { type Reply, recordingServer, refusal } from '../helpers/recording-server.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { boundTo } from './run.ts';

let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

interface Finding {
  readonly state: string;
  readonly reason: string;
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

test('the embedded store passes without network checks, each after those that it needs', async () => {
  const { code, states } = await examine('--offline');
  expect(code).toBe(0);
  expect(Object.entries(states).join(' ')).toBe(
    'config,pass token,pass binding,pass reach/dns,skip reach/connect,skip reach/http,pass',
  );
});

test('a service that answers passes with one request, and the source of its token is named', async () => {
  await using server = await healthy();
  const token = { PETSTORE_TOKEN: 's3cret' };
  const { code, states, findings, stdout } = await examine(`--base-url ${server.url}`, token);
  expect(findings.token?.reason).toBe('PETSTORE_TOKEN is sent as Authorization');
  expect(stdout).not.toContain('s3cret');
  const inOrder = { 'reach/dns': 'pass', 'reach/connect': 'pass', 'reach/http': 'pass' };
  expect({ code, ...states }).toMatchObject({ code: 0, ...inOrder });
  expect(findings['reach/http']?.reason).toBe('listPets answered 200 OK');
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /pets']);
});

/** Services that answer everything in one way, which is not that of the API. */
const wrongAnswers: readonly (readonly [title: string, reply: Reply, code: number, reason: RegExp])[] = [
  [
    '401',
    refusal(401),
    4,
    /^listPets answered 401 Unauthorized with application\/json: .*it says no.*; no token was sent(; |$)/,
  ],
  [
    '403 of a gateway',
    { status: 403, headers: { 'content-type': 'text/html' }, body: '<p>hi' },
    7,
    /^listPets answered 403 Forbidden with text\/html: 'hi'; no token was sent(; |$)/,
  ],
  ['429', refusal(429), 7, /^listPets answered 429 Too Many Requests with application/],
  [
    'text',
    { headers: { 'content-type': 'text/plain' }, body: '[]' },
    7,
    /plain: '\[\]', not a .*s in JSON; no token/,
  ],
  ['421', refusal(421), 7, /^listPets answered 421 Misdirected Request with application\/json: .*it says no/],
  ['204', { status: 204 }, 7, /^listPets answered 204 No Content with no body, not a list of pets; no token/],
  [
    '{"hello":1}',
    { body: { hello: 1 } },
    7,
    /200 OK with application\/json: '{"hello":1}', not a list of pets; no token/,
  ],
];

test.each(wrongAnswers)(
  '%s to everything is red, and smoke has the same verdict',
  async (_, reply, code, reason) => {
    await using server = await recordingServer({}, () => reply);
    const run = await examine(`--base-url ${server.url} --retries 0`);
    expect({ code: run.code, state: run.states['reach/http'] }).toEqual({ code, state: 'fail' });
    expect(run.findings['reach/http']?.reason).toMatch(reason);
    const smoked = await runCli(`smoke --base-url ${server.url} --retries 0 -o json -q`);
    expect(smoked.code).toBe(code);
    const http = JSON.parse(smoked.stdout).checks.find((check: { id: string }) => check.id === 'reach/http');
    const { reason: why, hint } = http;
    expect(run.findings['reach/http']?.reason).toBe(hint === undefined ? why : `${why}; ${hint}`);
  },
);

test('a hint follows the reason', async () => {
  const { stdout } = await runCli('doctor --base-url http://127.0.0.1:1');
  expect(stdout).toMatch(/^check +state +reason\n/);
  expect(stdout).toMatch(/127\.0\.0\.1:1: connection refused; check that the service listens/);
});

test('the binding is named with the number of its operations', async () => {
  await using server = await healthy();
  const unbound = await examine(`--base-url ${server.url}`);
  expect(unbound.findings.binding?.reason).toBe('not bound to a description');
  const env = await boundTo(server.url, ({ paths }) => delete paths['/categories']);
  const bound = await examine('', env);
  expect(bound.findings.binding?.reason).toBe('bound to a description, 18 of 20 operations');
});

test.each<
  [title: string, code: number, reason: string, words: string, env: RunOptions['env'], config: object]
>([
  ['no base URL', 2, 'base URL', '', {}, {}],
  ['a wrong setting', 2, "'often'", '--offline', {}, { timeout: 'often' }],
  [
    'a token that cannot be read',
    4,
    '/nonexistent/token',
    '--base-url http://127.0.0.1:1',
    { PETSTORE_TOKEN_FILE: '/nonexistent/token' },
    {},
  ],
])('%s is a failure of the config, and nothing is sent', async (_, code, reason, words, env, config) => {
  const run = await examine(words, { ...openConfig(config).env, ...env });
  expect(run.code).toBe(code);
  expect(run.findings.config).toMatchObject({ state: 'fail', reason: expect.stringContaining(reason) });
  expect(run.findings['reach/http']).toMatchObject({ state: 'skip', reason: 'config failed' });
});
