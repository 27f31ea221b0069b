import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { findProxy } from '../../src/client/transport/proxy.ts';
import { monotonicMs } from '../../src/process/deadline.ts';
import { interruption, isInterruption } from '../../src/process/errors.ts';
import { type Exchange, misbehave } from '../helpers/misbehaving-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import { connect, transports } from './connect.ts';
import * as mode from './modes.ts';

const connections = 3;
const set = { id: 1n, body: { quantity: 5 } };

describe.concurrent.each(Object.entries(transports))('over %s', (name, open) => {
  test('no more sockets are open than allowed, and they are reused', async () => {
    const slowly = (exchange: Exchange) => setTimeout(() => mode.wellBehaved(exchange), 5);
    await using server = await misbehave(mode.always(slowly));
    const client = await connect(open, server.url, { connections });
    await Promise.all(Array.from({ length: 30 }, () => client.write('updateInventory', set)));
    expect(server.requests).toHaveLength(30);
    expect(server.mostOpen).toBeLessThanOrEqual(connections);
    expect(server.connections).toBeLessThanOrEqual(connections);
  });

  test('a reset on a connection that was used before is retried for a PUT, and not for a POST', async () => {
    const onlyOnce = (exchange: Exchange) =>
      exchange.numberOnConnection === 1 ? mode.wellBehaved(exchange) : mode.reset(exchange);
    await using server = await misbehave(mode.always(onlyOnce));
    const client = await connect(open, server.url, { connections: 1 });
    await client.write('updateInventory', set);
    expect(await client.write('updateInventory', set)).toMatchObject({
      verdict: 'shown',
      attempt: { number: 2 },
    });
    const created = await client.write('createCategory', { body: { name: 'Dogs' } });
    expect(created.attempt).toMatchObject({ number: 1, isSent: true });
    // A single command gives a POST a connection of its own.
    expect(created.reason?.code).toBe(name === 'node:http' ? undefined : 'reset');
  });

  test('a queued request ends at its deadline and is never sent', async () => {
    await using server = await misbehave(mode.always(mode.silence));
    const client = await connect(open, server.url, { connections, retries: 0, timeoutMs: 3000 });
    const startMs = monotonicMs();
    // Those in the queue end while every connection is still taken.
    const calls = Array.from({ length: 9 }, (_, at) =>
      client.write('updateInventory', set, { deadlineMs: startMs + (at < connections ? 3000 : 1000) }),
    );
    const results = await Promise.all(calls);
    expect(results.map(({ reason }) => reason?.code)).toEqual(Array(9).fill('timeout'));
    expect(results.map(({ attempt }) => attempt?.isSent)).toEqual(
      Array.from(calls, (_, at) => at < connections),
    );
    await sleep(100);
    expect(server.requests).toHaveLength(connections);
  });

  test('an abort ends every call with its reason, and closes its socket', async () => {
    const sockets: Exchange['socket'][] = [];
    await using server = await misbehave(mode.always(({ socket }) => void sockets.push(socket)));
    const controller = new AbortController();
    const client = await connect(open, server.url, { connections, signal: controller.signal });
    const calls = Array.from({ length: 5 }, () =>
      client.write('updateInventory', set).catch((error) => ({ verdict: 'unsent', error })),
    );
    while (server.requests.length < connections) await sleep(10);
    controller.abort(interruption('SIGINT'));
    const verdicts = (await Promise.all(calls)).map(({ verdict, error }) => {
      expect(error).toSatisfy(isInterruption);
      return verdict;
    });
    expect(verdicts).toEqual(Array.from(calls, (_, at) => (at < connections ? 'pending' : 'unsent')));
    await vi.waitUntil(() => sockets.every(({ closed }) => closed), { timeout: 100_000 });
  });
});

const proxy = 'http://proxy.example:3128';

function isProxied(url: string, noProxy?: string): boolean {
  const env = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: noProxy };
  return findProxy(new URL(url), env) !== undefined;
}

test('each scheme has its variable, and the lower-case name takes precedence', () => {
  const env = { HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:2', HTTPS_PROXY: 'https://c' };
  expect(findProxy(new URL('http://shop.example'), env)).toMatchObject({
    origin: 'http://b:2',
    source: 'http_proxy',
  });
  expect(findProxy(new URL('https://shop.example'), env)).toMatchObject({ origin: 'https://c' });
  expect(findProxy(new URL('https://shop.example'), { HTTPS_PROXY: '' })).toBeUndefined();
});

test.each([
  'http://localhost:4010',
  'http://127.0.0.1',
  'http://127.9.9.9',
  'http://[::1]:4010',
  'http://api.localhost',
])('%s is never proxied', (url) => expect(isProxied(url)).toBe(false));

test.each([
  ['http://shop.example', 'shop.example', false],
  ['http://api.shop.example', 'shop.example', false],
  ['http://api.shop.example', '.shop.example', false],
  ['http://api.shop.example', '*.shop.example', false],
  ['http://myshop.example', 'shop.example', true],
  ['http://shop.example:8080', 'shop.example:8080', false],
  ['http://shop.example', 'shop.example:8080', true],
  ['http://SHOP.example', 'other, Shop.Example', false],
  ['http://10.1.2.3', '10.1.2.3', false],
  ['http://[fd00::1]', '[fd00::1]:80', false],
  ['http://shop.example', '*', false],
  ['http://shop.example', 'nonsense/99,,', true],
])('%s with NO_PROXY=%s is proxied: %s', (url, noProxy, expected) => {
  expect(isProxied(url, noProxy)).toBe(expected);
});

test('user and password of a proxy become a header and are never shown', () => {
  const env = { HTTPS_PROXY: 'http://me%40shop:p%3Aw@proxy.example' };
  const proxied = findProxy(new URL('https://shop.example'), env);
  expect(proxied?.authorization).toBe(`Basic ${btoa('me@shop:p:w')}`);
  expect(proxied?.label).toBe('http://***@proxy.example');
});

test.each(['proxy:3128', 'socks5://u:s3cret-word@proxy', 'http://', '//proxy'])(
  'the proxy %s is an error that names the variable, and no password',
  (value) => {
    const find = () => findProxy(new URL('http://shop.example'), { http_proxy: value });
    expect(find).toThrow(/^http_proxy: the proxy /);
    expect(find).not.toThrow(/s3cret/);
  },
);

test.each(Object.entries(transports))(
  'a proxy that closes each connection without a word, as tinyproxy does, costs no request over %s',
  async (_, open) => {
    await using server = await misbehave(
      mode.always((exchange) => {
        if (exchange.numberOnConnection > 1) exchange.socket.destroy();
        else mode.wellBehaved(exchange);
      }),
    );
    const client = await connect(open, 'http://pets.invalid', {
      env: { HTTP_PROXY: server.url },
      connections: 1,
    });
    for (const name of ['Dogs', 'Cats', 'Fish'])
      expect((await client.write('createCategory', { body: { name } })).attempt).toMatchObject({
        number: 1,
        response: { status: 201 },
      });
    expect(server.connections).toBe(3);
  },
);

test.each([
  [401, 'http', 'me:s3cret-word@', 4],
  [401, 'https', 'me:s3cret-word@', 6],
  [407, 'http', 'me:s3cret-word@', 6],
  [407, 'http', '', 6],
] as const)('%i of a proxy over %s at "%s" asks whether its password is right', async (...row) => {
  const [status, scheme, user, code] = row;
  const headers = { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="Tinyproxy"' };
  await using server = await misbehave(mode.answers({ status, headers, body: '<title>Who are you</title>' }));
  const env = { [`${scheme.toUpperCase()}_PROXY`]: server.url.replace('//', `//${user}`) };
  const run = await runCli(`pets list --base-url ${scheme}://pets.invalid`, { env });
  const hint = 'check the address of the proxy, and the user name and the password in it: ';
  expect(run).toMatchObject(failed(code, `\nhint: ${hint}`));
  if (status === 407) expect(run.stderr).toMatch(/the proxy http:\/\/\S+ \(HTTP_PROXY\) answered 407/);
  expect(run.stderr).not.toContain('s3cret-word');
});
