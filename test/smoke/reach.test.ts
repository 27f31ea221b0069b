import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { expect, test } from 'vitest';
import { checkConnection } from '../../src/checks/reach.ts';
import type { Sockets } from '../../src/checks/sockets.ts';
import { main } from '../../src/main.ts';
import { UnavailableError } from '../../src/process/errors.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { listenHere } from '../helpers/listen.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { bindTo, newFolder, requireToken, smoke } from './run.ts';
import { refusal, type Service, startService, withFields } from './service.ts';

const folder = newFolder();

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const service = await startService();
  await service[Symbol.asyncDispose]();
  return service.port;
}

test('a refused connection is the first line, told once, skips the rest and exits 6', async () => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  for (const flags of [['--write'], ['--only', 'op/listPets'], ['--skip', 'reach'], ['--brief']]) {
    const { code, stdout } = await runCli(['smoke', '--base-url', url, ...flags]);
    expect(code).toBe(6);
    expect(stdout).toMatch(
      /^fail {3}reach\/connect: 127\.0\.0\.1:\d+: connection refused; is the service running/,
    );
    expect(stdout.match(/connection refused/g)).toHaveLength(1);
  }
});

test('a name that does not exist fails reach/dns and exits 6', async () => {
  const run = await smoke('http://petstore.invalid');
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/dns']);
  expect(run.check('reach/dns').reason).toMatch(/^petstore\.invalid has no address: /);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a handshake that is never answered', async (signal) => {
  const io = fakeIo();
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => io.raise(signal));
  });
  const port = await listenHere(server);
  const startedMs = performance.now();
  const code = await main(['smoke', '--base-url', `https://127.0.0.1:${port}`], io);
  server.close();
  expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
  expect(performance.now() - startedMs).toBeLessThan(2500);
  expect(io.written('stdout')).toMatch(/^fail {3}run\/complete: stopped by SIG/);
});

test('a service that accepts and does not answer fails after the timeout', async () => {
  const server = createServer((socket) => socket.on('error', () => {}));
  const port = await listenHere(server);
  const run = await smoke(`http://127.0.0.1:${port}`, ['--timeout', '200ms']);
  server.close();
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http').reason).toMatch(/no answer within 0\.[12]\d* s/);
});

test('a TLS handshake without an answer is a timeout, not a closed connection', async () => {
  const hang = createServer((socket) => socket.on('error', () => {}));
  const close = createServer((socket) => socket.destroy());
  const reasonOf = async (server: Server) => {
    const run = await smoke(`https://127.0.0.1:${await listenHere(server)}`, ['--timeout', '200ms']);
    server.close();
    expect(run.ids('fail')).toEqual(['tls/valid']);
    return run.check('tls/valid').reason;
  };
  expect(await reasonOf(hang)).toBe('the TLS handshake failed: no answer within 200 ms');
  expect(await reasonOf(close)).toContain('the connection was closed');
});

test('a host that drops packets gets a hint about firewalls', async () => {
  const late = new UnavailableError('no answer within 2 s', { reason: 'timeout', sent: false });
  const sockets = { host: '127.0.0.1', port: 1, connect: () => Promise.reject(late) };
  expect((await checkConnection(sockets as unknown as Sockets)).hint).toMatch(/firewall/);
});

/** A service whose certificate expires in `days`, and the flags that make it trusted. */
async function secured(days: number, host?: string): Promise<{ service: Service; trusting: string[] }> {
  const certificate = await makeCertificate(days, host);
  const file = join(folder, `${days}-${host}.pem`);
  writeFileSync(file, certificate.cert);
  return { service: await startService({ tls: certificate }), trusting: ['--ca-cert', file] };
}

test.each([
  [90, 'pass', 0],
  [29, 'warn', 0],
  [6, 'fail', 7],
])('a certificate of %i more days: %s', async (days, result, code) => {
  const { service, trusting } = await secured(days);
  const run = await smoke(service.url, ['--only', 'tls', '--only', 'op/listPets', ...trusting]);
  await service[Symbol.asyncDispose]();
  expect(run.check('tls/expiry').result).toBe(result);
  expect(run.check('op/listPets').result).toBe('pass');
  expect(run.check('tls/protocol').reason).toBe('TLSv1.3');
  expect(run.code).toBe(code);
});

test('a certificate that has expired, that nobody trusts or that is for another host fails once', async () => {
  const expired = await secured(-2);
  const foreign = await secured(90, 'elsewhere.example');
  const cases = [
    [expired.service, expired.trusting, /^the certificate has expired \(CERT_HAS_EXPIRED\)$/],
    [foreign.service, [], /^the certificate is self-signed/],
    [foreign.service, foreign.trusting, /^the certificate is for another host/],
  ] as const;
  for (const [service, flags, reason] of cases) {
    for (const more of [[], ['--wait', '30s']]) {
      const run = await smoke(service.url, [...flags, ...more]);
      expect(run.code).toBe(6);
      expect(run.ids('fail')).toEqual(['tls/valid']);
      expect(run.check('tls/valid').reason).toMatch(reason);
    }
    const skipped = await smoke(service.url, [...flags, '--skip', 'tls']);
    expect(skipped.code).toBe(6);
    expect(skipped.ids('fail')).toEqual(['reach/http']);
    expect(service.seen).toEqual([]);
  }
  await expired.service[Symbol.asyncDispose]();
  await foreign.service[Symbol.asyncDispose]();
});

test('a chain without its intermediate certificate is called that', async () => {
  const names = (text: string) => [{ name: 'commonName', value: text }];
  const options = { keyType: 'ec', algorithm: 'sha256' } as const;
  const isAuthority = { extensions: [{ name: 'basicConstraints' as const, cA: true }] };
  const root = await generate(names('Pet Root'), { ...options, ...isAuthority });
  const middle = await generate(names('Pet Intermediate'), {
    ...options,
    ...isAuthority,
    ca: { key: root.private, cert: root.cert },
  });
  const leaf = await generate(names('127.0.0.1'), {
    ...options,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    ca: { key: middle.private, cert: middle.cert },
  });
  const file = join(folder, 'root.pem');
  writeFileSync(file, root.cert);
  await using service = await startService({ tls: { cert: leaf.cert, key: leaf.private } });
  const run = await smoke(service.url, ['--ca-cert', file]);
  expect(run.code).toBe(6);
  expect(run.check('tls/valid').reason).toMatch(
    /^the service sends no intermediate certificate: "Pet Intermediate" signed/,
  );
  await using whole = await startService({
    tls: { cert: `${leaf.cert}\n${middle.cert}`, key: leaf.private },
  });
  expect((await smoke(whole.url, ['--ca-cert', file])).code).toBe(0);
});

test('a service that speaks nothing newer than TLS 1.1 fails tls/protocol', async () => {
  const certificate = await makeCertificate(90);
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  const file = join(folder, 'old.pem');
  writeFileSync(file, certificate.cert);
  await using service = await startService({ tls: { ...certificate, ...old } });
  const run = await smoke(service.url, ['--ca-cert', file]);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['tls/protocol']);
  expect(run.check('tls/protocol').reason).toBe('the service speaks TLSv1.1');
});

test('https on a plain port fails with a reason in plain words', async () => {
  await using service = await startService();
  const run = await smoke(service.url.replace('http:', 'https:'));
  expect(run.code).toBe(6);
  expect(run.check('tls/valid')).toMatchObject({
    reason: 'the TLS handshake failed: wrong version number; the server may speak plain http',
    hint: 'is the base URL http:// instead?',
  });
});

test('a link of http behind an https proxy is told once, as that', async () => {
  const certificate = await makeCertificate(90);
  const file = join(folder, 'proxy.pem');
  writeFileSync(file, certificate.cert);
  await using service = await startService({
    tls: certificate,
    spoil: (answer) =>
      answer.fields.link
        ? withFields(answer, {
            link: String(answer.fields.link)
              .replace(/<(https:)?/, '<http:')
              .replace('<http:/', '<http:/'),
          })
        : answer,
  });
  const { stdout, code } = await runCli(['smoke', '--base-url', service.url, '--ca-cert', file]);
  expect(code).toBe(7);
  expect(stdout).toMatch(
    /^fail {3}4 checks: the next link is http, although the service is reached by https; /,
  );
});

/** Runs the auth checks of a service that declares security. */
async function auth(spoil: NonNullable<Parameters<typeof startService>[0]>['spoil']) {
  await using service = await startService(spoil ? { spoil } : {});
  const env = await bindTo(service.url, requireToken);
  const token = { PETSTORE_TOKEN: 'right-token', PETSTORE_BASE_URL: service.url };
  return await smoke(service.url, ['--only', 'auth'], { env: { ...env, ...token } });
}

test.each([
  ['lets anybody in', undefined, /^let in with (no|a wrong) credential$/],
  ['breaks without one', 500, /^answered 500 Internal Server Error with (no|a wrong) credential$/],
  ['redirects to a login', 302, /^redirected to .*\/login with (no|a wrong) credential$/],
])('a service that declares security and %s fails auth', async (_, status, reason) => {
  const run = await auth((answer, { fields, target }) => {
    if (status === undefined || fields.authorization === 'Bearer right-token') return answer;
    if (status === 500) return refusal(answer, 500);
    return target === '/login'
      ? { ...answer, status: 200 }
      : { ...withFields(answer, { location: '/login' }), status };
  });
  expect(run.code).toBe(7);
  expect(run.ids('fail')).toEqual(['auth/missing', 'auth/wrong']);
  for (const id of run.ids('fail')) expect(run.check(id).reason).toMatch(reason);
});

test('a key in the query is sent, left out and falsified, and is in no report', async () => {
  await using service = await startService({
    spoil: (answer, { target }) =>
      new URL(target, 'http://any').searchParams.get('k') === 'right key' ? answer : refusal(answer, 401),
  });
  const env = await bindTo(service.url, (document) =>
    requireToken(document, { type: 'apiKey', in: 'query', name: 'k' }),
  );
  const token = { PETSTORE_TOKEN: 'right key', PETSTORE_BASE_URL: service.url };
  const run = await smoke(service.url, ['--write', '-v'], { env: { ...env, ...token } });
  expect(run.code).toBe(0);
  expect(run.check('auth/missing')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
  expect(run.check('auth/wrong')).toMatchObject({ result: 'pass' });
  expect(JSON.stringify(run) + run.stderr).not.toMatch(/right.{1,3}key/);
});

test('a run without tls or security does not list their checks, one with mutual TLS says why not', async () => {
  await using service = await startService();
  const plain = await smoke(service.url);
  expect(plain.checks.filter(({ id }) => /^(tls|auth)\//.test(id))).toEqual([]);
  expect(plain.checks.filter(({ id }) => id.startsWith('lifecycle/')).map(({ id }) => id)).toEqual([
    'lifecycle/getPet',
  ]);
  const env = await bindTo(service.url, (document) => requireToken(document, { type: 'mutualTLS' }));
  const mutual = await smoke(service.url, [], { env });
  expect(mutual.check('auth/missing')).toMatchObject({ result: 'skip' });
  expect(mutual.check('auth/missing').reason).toContain('mutual TLS');
});
