import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { listenHere } from '../helpers/listen.ts';
import { answerJson, misbehave } from '../helpers/misbehaving-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import * as mode from '../network/modes.ts';

test('a token is masked whatever the header and the word before it', async () => {
  await using server = await misbehave(
    mode.always((exchange) =>
      answerJson(exchange, { code: 'bad', message: 'no s3cret', status: 422 }, { status: 422 }),
    ),
  );
  const config = { 'base-url': server.url, 'auth-header': 'X-Request-Id', 'auth-scheme': 'Api.Key' };
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = { PETSTORE_CONFIG_DIR: folder, PETSTORE_TOKEN: 's3cret' };
  const run = await runCli(['inventory', 'set', '1', '5', '-vv'], { env });
  expect(server.requests[0]?.fields['x-request-id']).toBe('Api.Key s3cret');
  expect(run.stderr).toContain('no ***');
  expect(run.stderr).not.toContain('s3cret');
});

test('a warning tells that verification is off, even with --quiet', async () => {
  await using server = await misbehave(mode.always(mode.wellBehaved));
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', PETSTORE_BASE_URL: server.url };
  const run = await runCli(['inventory', 'list', '--quiet'], { env });
  expect(run.code).toBe(0);
  expect(run.stderr).toMatch(
    /^warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is set: certificates are not verified/,
  );
});

test('a JSON error has that warning too', async () => {
  await using server = await misbehave(mode.always((exchange) => answerJson(exchange, {}, { status: 400 })));
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', PETSTORE_BASE_URL: server.url };
  const run = await runCli(['inventory', 'list', '-o', 'json'], { env });
  const { warnings } = JSON.parse(run.stderr).error;
  expect(warnings).toEqual([expect.stringContaining('certificates are not verified')]);
});

test('the warning comes once: Node does not repeat it', async () => {
  const server = createServer(await makeCertificate(3), (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
  );
  const port = await listenHere(server);
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', PETSTORE_BASE_URL: `https://127.0.0.1:${port}` };
  const run = await spawnCli(['inventory', 'list'], { env });
  server.close();
  expect(run.code).toBe(0);
  expect(run.stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED/g)).toHaveLength(1);
});

test('every request names the program and the media type it accepts, and asks for no compression', async () => {
  await using server = await misbehave(mode.always(mode.wellBehaved));
  await runCli(['inventory', 'list', '-H', 'X-Trace: 7'], { env: { PETSTORE_BASE_URL: server.url } });
  const { fields } = server.requests[0]!;
  expect(fields['user-agent']).toMatch(/^petstore\/\d+\.\d+\.\d+/);
  expect(fields.accept).toBe('application/json');
  expect(fields['x-trace']).toBe('7');
  expect(fields).not.toHaveProperty('accept-encoding');
});

test('a wrong TLS file is named before anything is sent', async () => {
  const env = { PETSTORE_BASE_URL: 'https://127.0.0.1:9' };
  const missing = await runCli(['inventory', 'list', '--ca-cert', '/nonexistent/ca.pem'], { env });
  expect(missing).toMatchObject({ code: 2, stdout: '' });
  expect(missing.stderr).toContain('--ca-cert: /nonexistent/ca.pem: no such file or directory');
  const wrong = await runCli(['inventory', 'list', '--client-cert', 'package.json'], { env });
  expect(wrong.stderr).toMatch(/--client-cert: .*package\.json: not a PEM certificate/);
  const alone = await runCli(['inventory', 'list', '--client-key', 'package.json'], { env });
  expect(alone.stderr).toContain('--client-key: a client key without a certificate');
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
