import type { TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { misbehave, type Script } from '../helpers/misbehaving-server.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { temporaryFile } from '../helpers/temporary-folder.ts';
import { boundTo, requireToken, smoke, smokeOf } from './run.ts';
import { type Change, startService, withRefusal } from './service.ts';

describe('a service that is not reached', () => {
  test('a refused connection is in the first line only, skips the other checks and exits 6', async () => {
    const { code, stdout } = await runCli('smoke --base-url http://127.0.0.1:1 --write --skip reach');
    expect(code).toBe(6);
    expect(stdout).toMatch(
      /^fail {3}reach\/connect: 127\.0\.0\.1:1: connection refused; check that the service listens on this port/,
    );
    expect(stdout.match(/connection refused/g)).toHaveLength(1);
  });

  test('a name that does not exist fails reach/dns and exits 6', async () => {
    const run = await smoke('http://petstore.invalid');
    expect(run.code).toBe(6);
    expect(run.ids('fail')).toEqual(['reach/dns']);
    expect(run.check('reach/dns').reason).toMatch(/^no such host: petstore\.invalid/);
  });

  test('a signal ends a handshake that is never answered', async () => {
    const io = fakeIo();
    await using server = await misbehave({
      onConnection(socket) {
        socket.once('data', () => io.raise('SIGHUP'));
        return true;
      },
    });
    const url = `https://127.0.0.1:${server.port}`;
    const code = await main(['smoke', '--base-url', url, '--timeout', '5m'], io);
    expect(code).toBe(129);
    expect(io.written('stdout')).toMatch(/^fail {3}run\/complete: stopped by SIGHUP/);
  });

  const closing: Script = { onConnection: (socket) => socket.destroy().destroyed };

  test.each<[title: string, script: Script, scheme: string, id: string, reason: RegExp]>([
    ['accepts and hangs', {}, 'http', 'reach/http', /no answer within 1 s/],
    ['hangs', {}, 'https', 'tls/valid', /^no answer within 1 s$/],
    ['closes', closing, 'https', 'tls/valid', /the connection was closed/],
  ])('a service that %s fails with that', async (_, script, scheme, id, reason) => {
    await using server = await misbehave(script);
    const run = await smoke(`${scheme}://127.0.0.1:${server.port}`, ['--timeout', '1s']);
    expect(run.code).toBe(6);
    expect(run.ids('fail')).toEqual([id]);
    expect(run.check(id).reason).toMatch(reason);
  });
});

/** Starts a service with a certificate, and gives the environment that makes it trusted. */
async function secured(tls: TlsOptions) {
  const env = { PETSTORE_CA_CERT: temporaryFile(String(tls.cert)) };
  return { service: await startService({ tls }), trusting: { env } };
}

describe('tls', () => {
  test.each([
    [90, 'pass', 0],
    [29, 'warn', 0],
    [6, 'fail', 7],
  ])('a certificate of %i more days: %s', async (days, result, code) => {
    const { service, trusting } = await secured(await makeCertificate(days));
    await using _ = service;
    const run = await smoke(service.url, ['--only', 'tls', '--only', 'op/listPets'], trusting);
    expect(run.check('tls/expiry').result).toBe(result);
    expect(run.check('op/listPets').result).toBe('pass');
    expect(run.check('tls/protocol').reason).toBe('TLSv1.3');
    expect(run.code).toBe(code);
  });

  test.each([
    ['has expired', -2, '127.0.0.1', true, /certificate has expired$/],
    ['nobody trusts', 90, 'elsewhere.example', false, /self-signed certificate$/],
    ['is for another host', 90, 'elsewhere.example', true, /Hostname\/IP does not match/],
  ])(
    'a certificate that %s fails one check without a wait, and nothing is sent',
    async (_, days, host, isTrusted, reason) => {
      const { service, trusting } = await secured(await makeCertificate(days, host));
      await using __ = service;
      const options = isTrusted ? trusting : {};
      const run = await smoke(service.url, ['--wait', '30s'], options);
      expect(run.code).toBe(6);
      expect(run.ids('fail')).toEqual(['tls/valid']);
      expect(run.check('tls/valid').reason).toMatch(reason);
      const skipped = await smoke(service.url, ['--skip', 'tls', '--wait', '30s'], options);
      expect(skipped.code).toBe(6);
      expect(skipped.ids('fail')).toEqual(['reach/http']);
      expect(run.stderr + skipped.stderr).not.toContain('waiting');
      expect(service.requests).toEqual([]);
    },
  );

  test('a service that speaks nothing newer than TLS 1.1 fails tls/valid', async () => {
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    const { service, trusting } = await secured({ ...(await makeCertificate(90)), ...old });
    await using _ = service;
    const run = await smoke(service.url, [], trusting);
    expect(run.code).toBe(6);
    expect(run.ids('fail')).toEqual(['tls/valid']);
    expect(run.check('tls/valid').expected).toMatch(/^TLS 1.2 or later/);
  });

  test('through a proxy the sockets are skipped, and the request names the proxy', async () => {
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const run = await smoke('https://shop.example', ['--retries', '0'], { env });
    expect(run.code).toBe(6);
    for (const id of ['reach/dns', 'reach/connect', 'tls/valid', 'tls/expiry'])
      expect(run.check(id)).toMatchObject({ result: 'skip' });
    expect(run.check('reach/http').reason).toContain('proxy http://127.0.0.1:1');
  });
});

describe('auth', () => {
  test.each<[title: string, withoutToken: Change, reason: RegExp]>([
    ['lets anybody in', (answer) => answer, /^answered 200 OK without a credential: listPets, getPet, /],
    [
      'lets anybody read orders',
      (answer, { path }) => (path.startsWith('/store/orders') ? answer : withRefusal(answer, 401)),
      /^answered 200 OK without a credential: listOrders, getOrder$/,
    ],
  ])('a service that declares security and %s fails auth', async (_, withoutToken, reason) => {
    await using service = await startService({
      spoil: (answer, request) =>
        request.headers.authorization === 'Bearer right-token' ? answer : withoutToken(answer, request),
    });
    const token = { PETSTORE_TOKEN: 'right-token', PETSTORE_BASE_URL: service.url };
    const env = { ...(await boundTo(service.url, requireToken)), ...token };
    const run = await smoke(service.url, ['--only', 'auth'], { env });
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['auth/missing']);
    expect(run.check('auth/missing').reason).toMatch(reason);
  });

  test('a service that answers without the given token is a warning', async () => {
    await using service = await startService();
    const env = { PETSTORE_TOKEN: 'right-token', PETSTORE_BASE_URL: service.url };
    const run = await smoke(service.url, ['--only', 'auth'], { env });
    expect(run.code).toBe(0);
    const reason = 'answered 200 OK without a credential: listPets, and the description declares no security';
    expect(run.check('auth/missing')).toMatchObject({ result: 'warn', reason });
  });

  test('without tls and without security there is nothing of both to check', async () => {
    const { checks, ids: idsOf } = await smokeOf((answer) => answer, []);
    expect(checks.filter(({ id }) => id.startsWith('tls/'))).toEqual([]);
    expect(idsOf('skip')).toEqual(['auth/missing']);
  });
});
