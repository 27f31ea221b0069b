import { expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { misbehave } from '../helpers/misbehaving-server.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';
import * as mode from '../network/modes.ts';

test('a token is masked whatever the header and the word before it', async () => {
  await using server = await recordingServer({}, () => ({ status: 422, body: { message: 'no s3cret' } }));
  const header = { PETSTORE_AUTH_HEADER: 'X-Request-Id', PETSTORE_AUTH_SCHEME: 'Api.Key' };
  const run = await runAt(server, 'inventory set 1 5 -vv', { env: { ...header, PETSTORE_TOKEN: 's3cret' } });
  expect(server.requests[0]?.headers['x-request-id']).toBe('Api.Key s3cret');
  expect(run.stderr).toContain('no ***');
  expect(run.stderr).not.toContain('s3cret');
});

test('a warning of Node says that verification is off, even with --quiet', async () => {
  await using server = await recordingServer({}, () => ({ body: [] }), { tls: await makeCertificate(3) });
  const run = await spawnCli(['inventory', 'list', '--quiet', '--base-url', server.url], {
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  });
  const warning = /Warning: Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable to '0'/;
  expect(run).toMatchObject({ code: 0, stderr: expect.stringMatching(warning) });
});

test('every request names the program and the media type it accepts, and asks for no compression and no cache', async () => {
  await using server = await recordingServer({}, () => ({ body: [] }));
  await runAt(server, ['inventory', 'list', '-H', 'X-Trace: 7']);
  const { headers } = server.requests[0]!;
  expect(headers).toMatchObject({ accept: 'application/json', 'cache-control': 'no-cache', 'x-trace': '7' });
  expect(headers['user-agent']).toMatch(/^petstore\/\d+\.\d+\.\d+/);
  expect(headers).not.toHaveProperty('accept-encoding');
  await runAt(server, ['inventory', 'list', '-H', 'Cache-Control: max-age=60']);
  expect(server.requests.at(-1)!.headers).toHaveProperty('cache-control', 'max-age=60');
});

test.each([
  [{ PETSTORE_CA_CERT: '/nonexistent/ca.pem' }, '/nonexistent/ca.pem: no such file or directory'],
  [{ PETSTORE_CLIENT_CERT: `${process.cwd()}/package.json` }, 'package.json: not a PEM certificate'],
  [{ PETSTORE_CLIENT_KEY: `${process.cwd()}/package.json` }, 'the client key has no certificate'],
])('a wrong TLS file is named before anything is sent: %o', async (env, why) => {
  const run = await runCli('inventory list --base-url https://127.0.0.1:9', { env });
  expect(run).toMatchObject(failed(2, why));
});

test('a trace has one line a request, and its retries', async () => {
  await using server = await misbehave(
    mode.first(1, ({ socket }) => socket.write('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n')),
  );
  const run = await runCli(['inventory', 'list', '-v', '-o', 'ids'], {
    env: { PETSTORE_BASE_URL: server.url },
  });
  const [first, second, ...rest] = run.stderr.trimEnd().split('\n');
  expect(first).toMatch(
    /^\* GET http:\/\/127\.0\.0\.1:\d+\/store\/inventory\S* -> 503 in \d+ ms, attempt 1, next in \d\.\d\d s$/,
  );
  expect(second).toMatch(/-> 200 in \d+ ms, attempt 2$/);
  expect(rest).toEqual([]);
});
