import { expect, test } from 'vitest';
import { toUnavailable } from '../../src/client/transport/socket-error.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';

const refused = { code: 'busy', message: 'try later', status: 500 };

test('a JSON error says that a POST may have been applied and is not retryable', async () => {
  const error = await errorOf(['categories', 'create', '--name', 'x'], { status: 500, body: refused });
  expect(error).toMatchObject({ message: 'try later', code: 'busy', status: 500, retryable: false });
  expect(error.hint).toBe('the request may or may not have been applied');
});

test('a JSON error says how long the service asks to wait', async () => {
  const reply = { status: 429, headers: { 'retry-after': '3600' }, body: refused };
  const error = await errorOf(['categories', 'list'], reply);
  expect(error).toMatchObject({ message: 'try later', status: 429, retryable: true });
  expect(error.hint).toContain('the service asks to wait 3600 s');
});

test('the error of a redirect that is not followed has its status', async () => {
  const reply = { status: 302, headers: { location: 'http://127.0.0.1:1/' } };
  expect(await errorOf(['categories', 'list'], reply)).toMatchObject({ kind: 'failed', status: 302 });
});

test('an untrusted certificate reads the same on every Node', () => {
  const why =
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
  const error = Object.assign(new Error(why), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(toUnavailable(error, { sent: false }).message).toBe('TLS: self-signed certificate');
});

test.each([
  [401, {}, 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile'],
  [403, {}, 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile'],
  [
    401,
    { PETSTORE_TOKEN: 's3cret' },
    'the token of PETSTORE_TOKEN was sent: is it that of this service, and still valid?',
  ],
  [403, { PETSTORE_TOKEN: 's3cret' }, 'the token of PETSTORE_TOKEN may not do this'],
])('the hint of a %i knows whether a token was sent: %j', async (status, env, hint) => {
  await using server = await recordingServer({}, () => ({ status, body: { ...refused, status } }));
  const run = await runCli(['categories', 'list', '--base-url', server.url], { env });
  expect(run.code).toBe(4);
  expect(run.stderr).toContain(`\nhint: ${hint}\n`);
});

test('the error of a record that lacks a field names the field', async () => {
  const error = await errorOf(['categories', 'list'], { body: [{ id: 1 }] });
  expect(error.message).toMatch(/the body is not a Category: \/0\/name is required$/);
});

async function errorOf(argv: readonly string[], reply: Reply) {
  await using server = await recordingServer({}, () => reply);
  const { stderr } = await runCli([...argv, '--base-url', server.url, '--json']);
  return JSON.parse(stderr).error;
}
