import { expect, test } from 'vitest';
import { hintOf } from '../../src/client/call-error.ts';
import { readErrorBody } from '../../src/client/read-answer.ts';
import { transportError } from '../../src/client/transport/response.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';

async function errorOf(line: string, ...replies: readonly Reply[]) {
  let requests = 0;
  await using server = await recordingServer({}, () => replies[requests++] ?? {});
  const { code, stderr } = await runAt(server, `${line} --json`);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return { exit: code, ...JSON.parse(stderr).error };
}

const refused = { code: 'busy', message: 'try later', status: 500 };

type Row = readonly [line: string, reply: Reply, error: object, hint: string];

test.each<Row>([
  [
    'categories create --name x',
    { status: 500, body: refused },
    { message: 'try later', code: 'busy', status: 500, retryable: false, applied: 'unknown' },
    'before you run it again, check what was written',
  ],
  ...['categories list', 'inventory set 1 5'].map(
    (line): Row => [
      line,
      { status: 429, headers: { 'retry-after': '3600' }, body: refused },
      { message: 'try later', status: 429, retryable: true },
      'the service asks to wait 60 min, longer than what is left of the deadline',
    ],
  ),
  ...[404, 410].map(
    (status): Row => [
      'categories list',
      { status },
      { exit: 6, kind: 'unavailable', status, retryable: false },
      '',
    ],
  ),
  ...['request-id', 'x-request-id', 'x-correlation-id', 'traceparent'].map(
    (name): Row => [
      'inventory get 7',
      { status: 404, headers: { [name]: 'abc-1' }, body: { ...refused, code: 'not_found', status: 404 } },
      {
        kind: 'not-found',
        code: 'not_found',
        requestId: 'abc-1',
        method: 'GET',
        attempts: 1,
        retryable: false,
      },
      '',
    ],
  ),
])('the JSON error of %s, answered with %j', async (line, reply, error, hint) => {
  const printed = await errorOf(line, reply);
  expect(printed).toMatchObject(error);
  expect(printed.hint ?? '').toContain(hint);
});

test.each([
  ['{"code":"x","message":"name is required","status":422}', 'name is required'],
  ['{"title":"Bad","detail":"quantity is odd"}', 'quantity is odd'],
  ['{"errors":[{"message":"it is taken"}]}', '[{"message":"it is taken"}]'],
  ['"the shop is closed"', 'the shop is closed'],
  ['{"success":false,"error":{"code":"x","message":"no such pet"}}', 'no such pet'],
  ['{"title":"Not valid","errors":{"Name":["is required"]}}', 'Not valid: {"Name":["is required"]}'],
  ['{"error":"Bad Request","message":["name is short"]}', 'Bad Request: ["name is short"]'],
  ['{"detail":[{"loc":["name"],"msg":"missing"}]}', '[{"loc":["name"],"msg":"missing"}]'],
])('the message in %s is %s', (body, message) => {
  expect(readErrorBody({ status: 400, headers: {}, body }, 'service', String).message).toBe(message);
});

test('the error of the embedded store names a path, not an address', async () => {
  const { stderr } = await runCli('pets get 999 --offline --json');
  expect(JSON.parse(stderr).error).toMatchObject({ status: 404, url: '/pets/999' });
});

const give =
  'give a token in PETSTORE_TOKEN, or its file with `petstore config set token-file <file> --profile <name>`';
const token = { PETSTORE_TOKEN: 's3cret' };
const ofHeader = 'check that the token from --header is for this service and still valid';

test.each<[status: number, env: Readonly<Record<string, string>>, hint: string, header?: string]>([
  [401, {}, give],
  [401, {}, give, 'x-trace: 1'],
  [401, {}, ofHeader, 'Authorization: Bearer s3cret'],
  [401, { PETSTORE_AUTH_HEADER: 'X-Key' }, ofHeader, 'x-key: s3cret'],
  [403, {}, give],
  [401, token, 'check that the token from PETSTORE_TOKEN is for this service and still valid'],
  [403, token, 'the token from PETSTORE_TOKEN is not allowed to do this'],
])('the hint of a %i knows whether a token was sent: %j', async (status, env, hint, header) => {
  const reply = { status, headers: { 'request-id': 'abc-1' }, body: { ...refused, status } };
  await using server = await recordingServer({}, () => reply);
  const words = ['categories', 'list', ...(header === undefined ? [] : ['--header', header])];
  const run = await runAt(server, words, { env });
  expect(run.code).toBe(4);
  expect(run.stderr).toContain(`; request id abc-1)\nhint: ${hint}\n`);
});

test('the hint of a certificate that is not yet valid has the time of this machine', () => {
  const why = 'certificate is not yet valid';
  // Node 24 adds words about its flags.
  const message = `${why}; if the root CA is installed locally, try running Node.js with --use-system-ca`;
  const error = transportError(Object.assign(new Error(message), { code: 'CERT_NOT_YET_VALID' }));
  expect(error.message).toBe(`TLS: ${why}`);
  expect(hintOf({ error })).toMatch(
    /^check the clock of this machine, which says \d{4}-\d\d-\d\dT\d\d:\d\dZ$/,
  );
});
