import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { checkConnection } from '../../src/checks/reach.ts';
import type { Sockets } from '../../src/checks/sockets.ts';
import { main } from '../../src/main.ts';
import { UnavailableError } from '../../src/process/errors.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { smoke } from './run.ts';
import { type Service, startService, withBody, withFields } from './service.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-smoke-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const service = await startService();
  await service.close();
  return service.port;
}

test('a refused connection fails once, in one line, skips the rest and exits 6', async () => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  const run = await smoke(url, ['--write']);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/connect']);
  expect(run.ids('error')).toEqual([]);
  expect(run.check('reach/connect').reason).toMatch(/^127\.0\.0\.1:\d+: connection refused$/);
  expect(run.check('op/listPets').reason).toMatch(/^reach\/connect failed: .*connection refused$/);
  const human = await runCli(['smoke', '--base-url', url]);
  expect(human.stdout.match(/connection refused/g)).toHaveLength(1);
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const startedMs = performance.now();
    const code = await main(['smoke', '--base-url', `https://127.0.0.1:${port}`], io);
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(performance.now() - startedMs).toBeLessThan(1500);
    expect(io.written('stdout')).toMatch(/^skip {3}tls\/valid .* the run was interrupted$/m);
  } finally {
    server.close();
  }
});

test('a gateway that answers 503 for the whole service fails once and exits 6', async () => {
  await using service = await startService({ spoil: (_, answer) => ({ ...answer, status: 503 }) });
  const run = await smoke(service.url);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
}, 10_000);

test('a service that cannot be reached is reported even if only other checks were asked for', async () => {
  const run = await smoke(`http://127.0.0.1:${await closedPort()}`, ['--only', 'op/listPets']);
  expect(run.code).toBe(6);
  expect(run.checks.map(({ id, result }) => [id, result])).toEqual([
    ['reach/connect', 'fail'],
    ['op/listPets', 'skip'],
  ]);
});

test('a service that accepts and does not answer fails after the timeout', async () => {
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const run = await smoke(`http://127.0.0.1:${port}`, ['--timeout', '200ms']);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http').reason).toContain('no answer within 0.2 s');
  server.close();
});

test('a TLS handshake without an answer is a timeout, not a closed connection', async () => {
  const hang = createServer((socket) => socket.on('error', () => {}));
  const close = createServer((socket) => socket.destroy());
  const reasonOf = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const run = await smoke(`https://127.0.0.1:${port}`, ['--timeout', '200ms']);
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
  expect(await checkConnection(sockets as unknown as Sockets)).toMatchObject({
    reason: '127.0.0.1:1: no answer within 2 s',
    hint: 'is there a firewall, or a proxy that is not configured, in between?',
  });
});

/** A service whose certificate expires in `days`, and the flags that make it trusted. */
async function secured(days: number, host?: string): Promise<{ service: Service; trusting: string[] }> {
  const certificate = await makeCertificate(days, host);
  const file = join(folder, `${days}-${host}.pem`);
  await writeFile(file, certificate.cert);
  return { service: await startService({ tls: certificate }), trusting: ['--ca-cert', file] };
}

test('a certificate that is trusted and lasts passes', async () => {
  const { service, trusting } = await secured(90);
  const run = await smoke(service.url, ['--only', 'tls', '--only', 'reach', ...trusting]);
  await service.close();
  expect(run).toMatchObject({ code: 0, totals: { pass: 6 } });
  expect(run.check('tls/expiry').reason).toMatch(/^expires on \d{4}-\d\d-\d\d, in 90 days$/);
  expect(run.check('tls/protocol').reason).toBe('TLSv1.3');
});

test.each([
  [29, [], 'warn', 0],
  [6, [], 'fail', 7],
  [6, ['--tls-min-days', '5'], 'warn', 0],
  [20, ['--tls-min-days', '21'], 'fail', 7],
] as const)('a certificate of %i more days, with %j: %s', async (days, flags, result, code) => {
  const { service, trusting } = await secured(days);
  const run = await smoke(service.url, ['--only', 'tls', '--only', 'op/listPets', ...trusting, ...flags]);
  await service.close();
  expect(run.check('tls/expiry').result).toBe(result);
  expect(run.code).toBe(code);
  expect(run.check('op/listPets').result).toBe('pass');
});

test('a certificate that has expired fails tls, and nothing is sent over it', async () => {
  const { service, trusting } = await secured(-2);
  const run = await smoke(service.url, trusting);
  await service.close();
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['tls/valid', 'tls/expiry']);
  expect(run.check('tls/valid').reason).toBe('the certificate has expired (CERT_HAS_EXPIRED)');
  expect(run.check('tls/expiry').reason).toMatch(/^expired on /);
  expect(service.seen).toEqual([]);
});

test('a certificate that nobody trusts, or that is for another host, fails tls/valid', async () => {
  const { service, trusting } = await secured(90, 'elsewhere.example');
  const unknown = await smoke(service.url, ['--only', 'tls']);
  const foreign = await smoke(service.url, ['--only', 'tls', ...trusting]);
  await service.close();
  expect(unknown.check('tls/valid').reason).toMatch(/SELF_SIGNED/);
  expect(foreign.check('tls/valid').reason).toMatch(/another host/);
});

test('a service that speaks nothing newer than TLS 1.1 fails tls/protocol', async () => {
  const certificate = await makeCertificate(90);
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  const file = join(folder, 'old.pem');
  await writeFile(file, certificate.cert);
  await using service = await startService({ tls: { ...certificate, ...old } });
  const run = await smoke(service.url, ['--only', 'tls', '--ca-cert', file]);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['tls/protocol']);
  expect(run.check('tls/protocol')).toMatchObject({
    reason: 'the service speaks TLSv1.1',
    expected: 'TLSv1.2 or later',
  });
});

test('behind a proxy the certificate is checked through it', async () => {
  const { service } = await secured(20, 'service.test');
  const certificate = join(folder, '20-service.test.pem');
  const proxy = createServer((client) => {
    client.once('data', (head) => {
      const upstream = connect(service.port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      expect(String(head)).toMatch(/^CONNECT service\.test:443 /);
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    });
    client.on('error', () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
  const flags = ['--only', 'reach,tls', '--ca-cert', certificate];
  const run = await smoke('https://service.test', flags, { env });
  proxy.close();
  await service.close();
  expect(run).toMatchObject({ code: 0, totals: { skip: 2, pass: 3, warn: 1 } });
  expect(run.check('reach/connect').reason).toBe(`requests go through the proxy http://127.0.0.1:${port}`);
  expect(run.check('tls/expiry').result).toBe('warn');
});

test('a transport error or a 503 is tried once more, and reported as flaky', async () => {
  const failures = new Map<string, number>();
  await using service = await startService({
    spoil: ({ target }, answer) => {
      const before = failures.get(target) ?? 0;
      failures.set(target, before + 1);
      if (before > 0) return answer;
      if (target === '/pets/1') return 'reset';
      return target === '/categories' ? { ...answer, status: 503 } : answer;
    },
  });
  const run = await smoke(service.url, ['--only', 'op/get*,op/list*', '--skip', 'op/*Order*']);
  expect(run).toMatchObject({ code: 0, totals: { flaky: 2 } });
  expect(run.checks.filter(({ flaky }) => flaky).map(({ id }) => id)).toEqual([
    'op/getPet',
    'op/listCategories',
  ]);
  failures.clear();
  const strict = await smoke(service.url, ['--only', 'op/getPet', '--fail-on', 'flaky']);
  expect(strict).toMatchObject({ code: 7 });
  expect(strict.check('op/getPet').reason).toMatch(/^flaky: /);
});

test('a flaky answer that --fail-on makes a failure does not skip other checks', async () => {
  let isFirst = true;
  await using service = await startService({
    spoil(_, answer) {
      if (!isFirst) return answer;
      isFirst = false;
      return 'reset';
    },
  });
  const run = await smoke(service.url, ['--only', 'reach,op/getPet', '--fail-on', 'flaky']);
  expect(run).toMatchObject({ code: 7, totals: { pass: 3, fail: 1 } });
  expect(run.ids('fail')).toEqual(['reach/http']);
});

test('a rate limit of the service is respected and is not a failure', async () => {
  let refusals = 2;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target !== '/pets/1' || refusals === 0) return answer;
      refusals -= 1;
      return { ...withFields(answer, { 'retry-after': '0' }), status: 429 };
    },
  });
  const run = await smoke(service.url, ['--only', 'op/getPet']);
  expect(run).toMatchObject({ code: 0, totals: { pass: 1, flaky: 0 } });
  expect(service.seen.filter(({ target }) => target === '/pets/1')).toHaveLength(3);
});

test('a failed assertion is not retried', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/pets/1' ? withBody(answer, {}) : answer),
  });
  await smoke(service.url, ['--only', 'op/getPet']);
  expect(service.seen.filter(({ target }) => target === '/pets/1')).toHaveLength(1);
});

test('an operation that never answers is an error, and the others are still checked', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/store/orders' ? 'reset' : answer),
  });
  const run = await smoke(service.url);
  expect(run.code).toBe(7);
  expect(run.ids('error')).toEqual(['op/listOrders']);
  expect(run.check('lifecycle/listOrders')).toMatchObject({ result: 'skip' });
  expect(run.check('op/listInventory').result).toBe('pass');
});

test('--wait waits for a service that starts late', async () => {
  const port = await closedPort();
  const io = fakeIo();
  const flags = ['--base-url', `http://127.0.0.1:${port}`, '--wait', '10s', '--only', 'reach'];
  const code = main(['smoke', ...flags], io);
  const told = /waiting up to 10 s for the service: .*connection refused/;
  await vi.waitFor(() => expect(io.written('stderr')).toMatch(told), { timeout: 10_000 });
  await using _ = await startService({ port });
  expect(await code).toBe(0);
  expect(io.written('stdout')).toMatch(/^3 checks in .*: 3 passed$/m);
}, 20_000);

test('a wait that runs out fails once and exits 6', async () => {
  await using service = await startService({ spoil: (_, answer) => ({ ...answer, status: 500 }) });
  const run = await smoke(service.url, ['--wait', '600ms']);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http').reason).toBe(
    'no answer below 500 after waiting 600 ms: answered 500 Internal Server Error',
  );
});

test.each([401, 404])('an answer of %i ends the wait at once', async (status) => {
  await using service = await startService({ spoil: (_, answer) => ({ ...answer, status }) });
  const startedMs = performance.now();
  const run = await smoke(service.url, ['--wait', '30s', '--only', 'op/listPets']);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(run.check('reach/http')).toMatchObject({ result: 'fail', status });
});

test('a certificate that is not trusted ends the wait at once', async () => {
  const { service } = await secured(90);
  const startedMs = performance.now();
  const run = await smoke(service.url, ['--wait', '30s', '--only', 'tls']);
  await service.close();
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(run.ids('fail')).toEqual(['tls/valid']);
});

test('a slow operation fails only if a limit is set', async () => {
  await using service = await startService({
    async spoil({ target }, answer) {
      if (target === '/store/orders') await new Promise((resolve) => setTimeout(resolve, 250));
      return answer;
    },
  });
  const only = ['--only', 'latency/list*', '--samples', '1'];
  const measured = await smoke(service.url, only);
  expect(measured.code).toBe(0);
  expect(measured.check('latency/listOrders').reason).toMatch(/^p50 \d+ ms, p95 \d+ ms, max \d+ ms of 1$/);
  const limited = await smoke(service.url, [...only, '--max-latency', '200ms,p50']);
  expect(limited.code).toBe(7);
  expect(limited.ids('fail')).toEqual(['latency/listOrders']);
  expect(limited.check('latency/listOrders')).toMatchObject({
    reason: expect.stringMatching(/^p50 \d+ ms is over the limit$/),
    expected: 'p50 of at most 200 ms',
  });
});
