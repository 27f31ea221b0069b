import { describe, expect, test } from 'vitest';
import { type Answer, answer, misbehave, type Script } from '../helpers/misbehaving-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import * as mode from './modes.ts';

// The answers are those of the real gateways, as the versions of Debian 12 send them.

const html = { 'content-type': 'text/html' };

const nginxPage = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n`;

/** Runs a command against a server that answers everything in this way. */
async function run(line: string, reply: Answer, env: Readonly<Record<string, string>> = {}) {
  await using server = await misbehave(mode.answers(reply));
  const words = [...line.split(' '), '--retries', '0'];
  return await runCli([...words, '--base-url', server.url], { env });
}

test.each([
  ['nginx', 502, nginxPage('502 Bad Gateway'), '502 with text/html: 502 Bad Gateway'],
  ['HAProxy', 503, '<html><body><h1>503 No server</h1>\nNone is up.', '503 with text/html: 503 No server'],
  ['tags without a heading', 503, '<error>\n<p>No <b>server</b>', '503 with text/html: No server'],
])('a page is shown by its title, its heading or its text: %s', async (_, status, body, text) => {
  expect(await run('categories list', { status, headers: html, body })).toMatchObject(
    failed(6, new RegExp(`^error: the answer is ${text} \\(GET \\S+: \\d+\\)\nhint: the answer is not JSON`)),
  );
});

test('a page with 64 KB of tags that do not end is shown as any other', async () => {
  for (const tag of ['<title', '<script>', '<!--', '&#']) {
    const body = tag.repeat(65_000 / tag.length);
    expect(await run('categories list', { status: 500, headers: html, body })).toMatchObject({ code: 6 });
  }
});

describe('a 404', () => {
  const text = { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found\n' };
  const page = { status: 404, headers: html, body: nginxPage('404 Not Found') };
  const json = {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: '{"message":"no order 9"}',
  };
  const replies = { text, page, 'page with 410': { ...page, status: 410 }, json, empty: { status: 404 } };

  test.each([
    ['orders get 9', 'text', 6, '404 with text/plain: 404 page not found (GET'],
    ['orders get 9', 'page', 6, 'the answer is 404 with text/html: 404 Not Found'],
    ['orders get 8', 'text', 6, 'hint: the answer is not JSON, so it may come from a gateway'],
    ['orders get 9', 'page with 410', 6, 'the answer is 410 with text/html: 404 Not'],
    ['api request GET /store/orders/9', 'page', 6, 'the answer is 404 with text/html: 404 Not Found'],
    ['orders list', 'page', 6, 'the answer is 404 with text/html: 404 Not Found'],
    ['orders get 9', 'json', 5, 'no order 9'],
    ['orders get 9', 'empty', 5, 'the answer is 404, with no reason given'],
  ] as const)('in answer to %s, as %s, is exit code %i', async (line, reply, code, says) => {
    const result = await run(line, replies[reply]);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(says) });
  });
});

test.each(['inventory set 1 5', 'api request PUT /x'])(
  'a 403 page is a rule of a gateway, and asks for no token: %s',
  async (line) => {
    const page = { status: 403, headers: html, body: nginxPage('403 Forbidden') };
    const { code, stderr } = await run(line, page);
    expect(code).toBe(6);
    expect(stderr).toContain('the answer is 403 with text/html: 403 Forbidden');
    expect(stderr).toContain('hint: the answer is not JSON, so it may come from a gateway');
    expect(stderr).not.toContain('token');
  },
);

describe('a failure that has a remedy has it in its hint:', () => {
  const loginPage = { status: 401, headers: { ...html, 'www-authenticate': 'Basic realm="shop"' } };
  const bad = (body: string) => ({ status: 400, headers: html, body });
  const page = (reason: string) => mode.answers(bad(nginxPage(`400 ${reason}`)));
  const linkTo = (url: string): Answer => ({
    headers: { 'content-type': 'application/json', link: `<${url}/categories?after=1>; rel="next"` },
    body: '[]',
  });

  test.each<readonly [what: string, exit: number, script: Script, says: RegExp]>([
    [
      'plain http to TLS, nginx',
      1,
      page('The plain HTTP request was sent to HTTPS port'),
      /hint: .* http or/,
    ],
    [
      'no client certificate, nginx',
      1,
      page('No required SSL certificate was sent'),
      /hint: .* client-cert /,
    ],
    ['too many requests', 6, mode.answers({ status: 429, headers: html, body: 'x' }), /\nhint: .* --retries/],
    ['too large a body', 1, mode.answers({ status: 413, headers: html, body: 'x' }), /: x \(GET [^\n]*\n$/],
    [
      'plain http, where https is at another port',
      1,
      mode.answers({ status: 302, headers: { location: 'https://127.0.0.1:8443/' } }),
      /\nhint: if the service wants https, begin the base URL with https:\/\/127.0.0.1:8443\n/,
    ],
    ['Basic, nginx', 4, mode.answers(loginPage), /hint: .* Basic \(PETSTORE_AUTH_SCHEME=Basic\)/],
    [
      'plain http to TLS, HAProxy, h2o and nghttpx',
      6,
      mode.always(mode.hangUp),
      /^error: the connection was closed before an answer came \(GET.*\nhint: check whether the port expects http/,
    ],
    [
      'a next page at the address of the service behind the gateway',
      6,
      mode.answers(linkTo('http://127.0.0.1:4100')),
      /hint: perhaps a gateway does not forward the header Host or X-Forwarded-Proto: see `petstore help gateways`/,
    ],
    [
      'a next page at the same address without TLS',
      6,
      mode.always((exchange) => answer(exchange, linkTo(`https://${exchange.request.headers.host}`))),
      /X-Forwarded-Proto/,
    ],
  ])('%s', async (_, exit, script, says) => {
    await using server = await misbehave(script);
    const run = await runCli(`categories list --retries 0 --base-url ${server.url}`);
    expect(run).toMatchObject(failed(exit, says));
  });

  test('another scheme, unless the service takes several or that of the request', async () => {
    const framework = { status: 401, headers: { 'www-authenticate': 'Token realm="a, b"' } };
    const { stderr } = await run('categories list', framework, { PETSTORE_TOKEN: 'secret-word' });
    expect(stderr).toContain('the scheme Token: set auth-scheme to Token (PETSTORE_AUTH_SCHEME=Token)');
    expect((await run('categories list', framework)).stderr).toContain('hint: give a token');
    const both = { ...loginPage, headers: { 'www-authenticate': 'Basic realm="x", Bearer' } };
    expect((await run('categories list', both)).stderr).toContain('hint: give a token');
    const env = { PETSTORE_AUTH_SCHEME: 'Basic', PETSTORE_TOKEN: 'a:secret-word' };
    expect((await run('categories list', loginPage, env)).stderr).toContain(
      'hint: check that the token from PETSTORE_TOKEN',
    );
  });

  test.each([
    ['nginx', bad(nginxPage('400 Request Header Or Cookie Too Large'))],
    ['lighttpd', { status: 431, headers: html, body: '<title>431</title>' }],
    ['Varnish', { status: 400 }],
  ])('headers that are too large, %s', async (_, reply) => {
    const large = { PETSTORE_TOKEN: 'x'.repeat(10_000) };
    const { stderr } = await run('categories list', reply, large);
    expect(stderr).toContain('large headers, and many gateways allow only 8 KB');
    expect((await run('categories list', reply)).stderr).not.toContain('large headers');
  });
});

test('an answer through a forward proxy may be of the proxy or of the service', async () => {
  await using proxy = await misbehave(
    mode.answers({ status: 503, headers: html, body: '<title>No name</title>' }),
  );
  const env = { HTTP_PROXY: proxy.url };
  const list = ['categories', 'list', '--retries', '0', '--base-url', 'http://pets.invalid'];
  const { stderr } = await runCli(list, { env });
  expect(stderr).toContain(
    `the answer is 503 with text/html: No name; it came from the proxy ${proxy.url} or from the service (GET`,
  );
});
