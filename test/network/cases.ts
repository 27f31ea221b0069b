import { gzipSync } from 'node:zlib';
import { makeCertificate } from '../helpers/certificate.ts';
import {
  type Answer,
  answer,
  answerJson,
  type Exchange,
  type MisbehavingServer,
  misbehave,
  type Script,
  tunnel,
} from '../helpers/misbehaving-server.ts';
import * as mode from './modes.ts';

/** The request that the program sends: a list, a PUT, a POST or a DELETE. */
export type Ask = 'list' | 'set' | 'create' | 'delete';

/** The servers and the settings of a case. */
export interface Scene {
  readonly baseUrl: string;
  /** The server whose log the case checks. */
  readonly watched: MisbehavingServer;
  readonly others?: readonly MisbehavingServer[];
  readonly env?: Readonly<Record<string, string>>;
  /** PEM, for --ca-cert. */
  readonly caCert?: string;
  readonly clientCert?: { readonly cert: string; readonly key: string };
}

interface Details {
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly says?: RegExp;
  /** The least and the most time that the call may take, without the start of the process. */
  readonly ms?: readonly [number, number];
  /** True if the case is also run in a process, which could hang, die, or write to a wrong stream. */
  readonly spoilsProcess?: true;
}

/** What a service does, and how the program ends that asks it. */
export interface Case extends Details {
  readonly ask: Ask;
  readonly name: string;
  readonly open: () => Promise<Scene>;
  readonly exit: number;
  /** The least and the most requests that the watched server may see. */
  readonly requests: readonly [number, number];
}

function row(
  ask: Ask,
  name: string,
  open: () => Promise<Scene>,
  exit: number,
  requests: number | readonly [number, number],
  details: Details = {},
): Case {
  return {
    ask,
    name,
    open,
    exit,
    requests: typeof requests === 'number' ? [requests, requests] : requests,
    ...details,
  };
}

const late: Details = { timeoutMs: 1000, ms: [900, 1900], says: /within 1 s/, spoilsProcess: true };
const maybe: Details = { says: /may or may not have been applied/ };
const json = { 'content-type': 'application/json' };
const gzip = { ...json, 'content-encoding': 'gzip' };

export const cases: readonly Case[] = [
  // No answer, or one that comes too slowly.
  row('list', 'accepts and says nothing', at(mode.accept.andSayNothing), 6, 0, late),
  row('list', 'reads the request and never answers', always(mode.silence), 6, 1, late),
  row('list', 'drips the head of its answer', always(mode.dripHead), 6, 1, late),
  row('list', 'drips the body of its answer', always(mode.dripBody), 6, 1, late),
  row('set', 'drips an answer to a PUT', always(mode.dripBody), 6, 1, { ...late, ...maybe }),
  row('list', 'stalls in TLS', tlsStall, 6, 0, late),
  row('list', 'answers 503 until the deadline', always(status(503)), 6, [2, 50], {
    timeoutMs: 1000,
    retries: 50,
    ms: [0, 1900],
    says: /no time for another attempt|no answer within/,
  }),

  // Connections that break.
  row('list', 'resets on accept, once', resetFirstConnection, 0, 1),
  row('list', 'resets after the request, always', always(mode.reset), 6, 2, {
    retries: 1,
    says: /closed before the whole answer came; after 2 attempts/,
  }),
  row('set', 'resets a PUT, once', once(mode.reset), 0, 2),
  row('delete', 'resets a DELETE, once', once(mode.reset), 0, 2),
  row('create', 'resets a POST that it has read', always(mode.reset), 6, 1, {
    ...maybe,
    spoilsProcess: true,
  }),
  row('list', 'hangs up before an answer', once(mode.hangUp), 0, 2),
  row('list', 'cuts the body short', always(mode.shortBody), 6, 2, {
    retries: 1,
    says: /closed before the whole answer came/,
  }),
  row('list', 'leaves out the last chunk', always(mode.shortChunks), 6, 2, {
    retries: 1,
    says: /closed before the whole answer came/,
  }),
  row(
    'list',
    'cuts an error short',
    always(ending('HTTP/1.1 404 No\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"code"')),
    6,
    1,
    { says: /404/ },
  ),
  row('list', 'listens on no port', closedPort, 6, 0, {
    retries: 1,
    says: /connection refused \(127\.0\.0\.1:\d+\)/,
  }),
  row('create', 'refuses the connection of a POST', closedPort, 6, 0, { retries: 1, says: /refused/ }),
  row('list', 'has a name that does not exist', noHost, 6, 0, {
    spoilsProcess: true,
    says: /no such host: nowhere\.invalid|looked up/,
  }),

  // Retries.
  ...[408, 425, 429, 500, 502, 503, 504].map((code) =>
    row('list', `answers ${code}, then behaves`, once(status(code)), 0, 2),
  ),
  row('set', 'answers 500 to a PUT, then behaves', once(status(500)), 0, 2),
  row('create', 'answers 500 to a POST', always(status(500)), 6, 1, maybe),
  row('create', 'answers 503 to a POST', always(status(503)), 6, 1, maybe),
  row(
    'create',
    'answers 503 with Retry-After to a POST, then behaves',
    once(status(503, { 'retry-after': '1' })),
    0,
    2,
    { ms: [1000, 2500] },
  ),
  row(
    'create',
    'answers 429 with Retry-After to a POST, then behaves',
    once(status(429, { 'retry-after': '0' })),
    0,
    2,
  ),
  row('create', 'answers 429 to a POST, without saying when', always(status(429)), 6, 1, {
    says: /answered 429, with no reason given$/m,
  }),
  ...[408, 425, 502, 504].map((code) =>
    row(
      'create',
      `answers ${code} to a POST with Retry-After`,
      always(status(code, { 'retry-after': '0' })),
      6,
      1,
    ),
  ),
  ...[408, 425, 429, 502, 503, 504].map((code) =>
    row('set', `answers ${code} to a PUT, then behaves`, once(status(code)), 0, 2),
  ),
  row('delete', 'answers 503 to a DELETE, then behaves', once(status(503)), 0, 2),
  row(
    'list',
    'takes longer than the deadline with its retries',
    always(status(503, { 'retry-after': '2' })),
    6,
    2,
    {
      timeoutMs: 3500,
      retries: 50,
      ms: [2000, 3500],
      says: /asks to wait 2 s, longer than what is left of the deadline of 3\.5 s/,
    },
  ),
  row('list', 'asks to wait a second', once(status(429, { 'retry-after': '1' })), 0, 2, { ms: [1000, 2500] }),
  row('list', 'asks to wait until a date', once(waitUntilDate), 0, 2),
  row(
    'list',
    'asks to wait longer than the deadline allows',
    always(status(429, { 'retry-after': '3600' })),
    6,
    1,
    { ms: [0, 900], says: /asks to wait 3600 s, longer than what is left/ },
  ),
  row('list', 'sends an invalid Retry-After', once(status(503, { 'retry-after': 'soon' })), 0, 2),
  row(
    'list',
    'answers 503 after all retries',
    always(answeringJson({ code: 'busy', message: 'too many pets', status: 503 }, { status: 503 })),
    6,
    3,
    { retries: 2, says: /too many pets \(503 busy\); after 3 attempts/ },
  ),

  // Error answers with any body.
  ...(
    [
      [400, 1],
      [401, 4],
      [403, 4],
      [404, 5],
      [409, 1],
      [410, 5],
      [412, 1],
      [418, 1],
      [422, 1],
      [501, 6],
    ] as const
  ).map(([code, exit]) =>
    row(
      'set',
      `refuses with ${code}`,
      always(answeringJson({ code: 'no', message: 'never on a Sunday' }, { status: code })),
      exit,
      1,
      { says: new RegExp(`never on a Sunday \\(${code} no\\)$`, 'm') },
    ),
  ),
  row(
    'set',
    'refuses with problem details',
    refusing(
      422,
      'application/problem+json',
      '{"type":"about:blank","title":"Bad","detail":"quantity is odd"}',
    ),
    1,
    1,
    { says: /quantity is odd \(422\)/ },
  ),
  row(
    'set',
    'refuses with other JSON',
    refusing(409, 'application/json', '{"errors":[{"message":"it is\\n taken","code":"E1"}]}'),
    1,
    1,
    { says: /it is taken \(409\)/ },
  ),
  row('set', 'refuses with text', refusing(403, 'text/plain', 'Not\nyou\u001b[31m'), 4, 1, {
    says: /Not you\\x1b\[31m \(403\)/,
  }),
  row('set', 'refuses with nothing', refusing(404, undefined, ''), 5, 1, {
    says: /answered 404, with no reason given/,
  }),
  row(
    'set',
    'refuses with garbage',
    refusing(400, 'application/json', Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
    1,
    1,
    { says: /answered 400 with application\/json/ },
  ),
  row('set', 'refuses with an endless body', always(mode.endless(404)), 5, 1, { ms: [0, 1500], says: /404/ }),
  row('list', 'answers 502 with a page', always(mode.html(502)), 6, 1, {
    retries: 0,
    says: /answered 502 with text\/html: <html><head><title>Sign in<\/title>.*\\x1b\[31m/,
  }),

  // Invalid answers.
  row('list', 'answers 200 with a page', always(mode.html(200)), 6, 1, {
    says: /answered 200 with text\/html, not JSON: <html>.*hint: does the base URL lead to the service/s,
  }),
  row('list', 'answers JSON without a content type', always(answering({ body: '[]' })), 6, 1, {
    says: /no content type/,
  }),
  ...(
    [
      ['text that is not JSON', '[{"petId":1', /not valid JSON/],
      ['JSON 101 deep', `${'['.repeat(101)}${']'.repeat(101)}`, /nested deeper than 100/],
      ['a number that is not finite', '[{"petId":1,"quantity":1e400,"status":"sold"}]', /not finite/],
      ['another shape', '[{"petId":"one","quantity":1,"status":"sold"}]', /\/0\/petId must be an integer/],
      ['an object in place of a list', '{}', /not a list of InventoryItem/],
      ['nothing', '', /no body/],
    ] as const
  ).map(([what, body, says]) =>
    row('list', `answers ${what}`, always(answeringJson(body)), 6, 1, {
      says,
    }),
  ),
  row(
    'list',
    'answers bytes that are not UTF-8',
    always(answering({ fields: json, body: Buffer.from('["\xff"]', 'latin1') })),
    6,
    1,
    { says: /not UTF-8/ },
  ),
  row('list', 'puts a BOM in front', always(answeringJson('\ufeff[]')), 0, 1),
  row('list', 'answers without end', always(mode.endless(200)), 6, 1, {
    spoilsProcess: true,
    ms: [0, 15_000],
    timeoutMs: 20_000,
    says: /longer than 64 MiB/,
  }),
  row('list', 'answers compressed, unasked', always(answering({ fields: gzip, body: gzipSync('[]') })), 0, 1),
  row('list', 'answers a gzip bomb', always(mode.gzipBomb), 6, 1, {
    timeoutMs: 20_000,
    says: /longer than 64 MiB/,
  }),
  row(
    'list',
    'cuts a gzip short',
    always(answering({ fields: gzip, body: gzipSync('[1,2,3]').subarray(0, 20) })),
    6,
    1,
    { says: /not valid gzip/ },
  ),
  row(
    'list',
    'answers in an unknown encoding',
    always(answering({ fields: { ...json, 'content-encoding': 'rot13' }, body: '[]' })),
    6,
    1,
    { says: /encoded as rot13/ },
  ),
  row('list', 'does not speak HTTP', always(ending('SSH-2.0-OpenSSH_9.2\r\n')), 6, 1, {
    says: /invalid HTTP response/,
  }),
  row(
    'list',
    'switches to another protocol',
    always(writing('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')),
    6,
    1,
    { retries: 0, timeoutMs: 10_000, ms: [0, 2000] },
  ),
  row('list', 'sends more than its content-length', always(sendTooMuch), 0, 1),
  row(
    'list',
    'ends its answer by closing, as HTTP/1.0 does',
    always(ending('HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n[]')),
    0,
    1,
  ),
  row(
    'list',
    'gives two lengths',
    always(
      writing(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
      ),
    ),
    6,
    1,
    { says: /invalid HTTP response/ },
  ),
  row(
    'list',
    'sends a head without end',
    always(writing(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`)),
    6,
    1,
    { says: /invalid HTTP response/ },
  ),
  row('list', 'sends early hints and strange headers first', always(strangeHeaders), 0, 1),

  // Redirects and links.
  row('list', 'redirects within its origin', once(status(307, { location: '/store/inventory' })), 0, 2),
  row('list', 'redirects to https on its host', redirectToTls, 1, 0, {
    says: /redirect to https:\/\/pets\.invalid\/store\/inventory; another origin is never followed/,
  }),
  row('list', 'redirects to https on another port of its host', redirectToTlsPort, 1, 0, {
    says: /redirect to https:\/\/127\.0\.0\.1:\d+\/store\/inventory; another origin is never followed/,
  }),
  ...[300, 304, 305, 306].map((code) =>
    row('list', `answers ${code}, which is not a redirect`, always(status(code)), 6, 1, {
      says: new RegExp(`answered ${code}, which is neither a success nor an error`),
    }),
  ),
  row('list', 'redirects without end', always(redirectOnAndOn), 1, 6, {
    says: /redirected more than 5 times/,
  }),
  row('list', 'redirects to another origin', redirectElsewhere, 1, 0, {
    says: /redirect to http:\/\/127\.0\.0\.1:\d+\/x; another origin is never followed/,
  }),
  row('set', 'redirects a write', always(status(308, { location: '/elsewhere' })), 1, 1, {
    says: /redirect to http:\/\/127\.0\.0\.1:\d+\/elsewhere; a write is never redirected/,
  }),
  row('create', 'redirects a POST to its result', always(status(303, { location: '/pets/9' })), 1, 1, {
    says: /pets\/9; a write is never redirected$/m,
  }),
  row('list', 'redirects to nowhere', always(status(302)), 1, 1, { says: /names no target/ }),
  row('list', 'links to itself as the next page', always(linkToItself), 6, 1, {
    says: /next page repeats/,
  }),
  row(
    'list',
    'links to another origin as the next page',
    always(answeringJson([], { fields: { link: '<http://127.0.0.2:9/>; rel=next' } })),
    6,
    1,
    { says: /another origin: http:\/\/127\.0\.0\.2:9\// },
  ),

  // TLS.
  row('list', 'shows a certificate that is trusted by --ca-cert', () => secure({ trusted: true }), 0, 1),
  row('list', 'shows a self-signed certificate', () => secure({ trusted: false }), 6, 0, {
    spoilsProcess: true,
    ms: [0, 900],
    says: /TLS: .*self-signed[\s\S]*--ca-cert/,
  }),
  row('list', 'shows an expired certificate', () => secure({ trusted: true, days: -1 }), 6, 0, {
    says: /TLS: .*expired/,
  }),
  row(
    'list',
    'shows the certificate of another host',
    () => secure({ trusted: true, host: 'pets.example' }),
    6,
    0,
    { says: /TLS: .*altnames/ },
  ),
  row(
    'list',
    'wants a client certificate, and gets it',
    () => secure({ trusted: true, client: 'shown' }),
    0,
    1,
  ),
  row(
    'list',
    'wants a client certificate, and gets none',
    () => secure({ trusted: true, client: 'missing' }),
    6,
    0,
    { retries: 0 },
  ),
  row('list', 'speaks plain http where TLS is expected', plainForTls, 6, 0, { says: /TLS: .*plain http/ }),

  // Proxies. The services behind them do not exist: only the proxy can answer for them.
  row('list', 'is a proxy that forwards http', proxied('http', mode.always(mode.wellBehaved)), 0, 1),
  row('list', 'is a proxy that tunnels to TLS', () => tunnelled(), 0, 1, { spoilsProcess: true }),
  row('list', 'is a proxy that speaks TLS itself', secureProxy, 0, 1),
  row('list', 'is a proxy that says nothing', proxied('http', mode.always(mode.silence)), 6, 1, late),
  row(
    'list',
    'is a proxy that says nothing to CONNECT',
    proxied('https', mode.always(mode.silence)),
    6,
    1,
    late,
  ),
  row('list', 'is a proxy that drops CONNECT', proxied('https', mode.always(mode.reset)), 6, 2, {
    spoilsProcess: true,
    retries: 1,
    says: /the proxy http:\/\/\*\*\*@127\.0\.0\.1:\d+ \(HTTPS_PROXY\) .*after 2 attempts/,
  }),
  row(
    'create',
    'is a proxy that drops the CONNECT of a POST',
    proxied('https', mode.first(9, mode.hangUp)),
    6,
    2,
    { retries: 1, says: /closed the connection; after 2 attempts$/m },
  ),
  row('list', 'is a proxy that wants a password', proxied('https', mode.always(status(407))), 6, 1, {
    says: /answered CONNECT pets\.invalid:443 with 407 Whatever/,
  }),
  row('list', 'is a proxy that has no way to the service', proxied('https', mode.always(status(502))), 6, 2, {
    retries: 1,
    says: /with 502 Whatever; after 2 attempts/,
  }),
  row(
    'list',
    'is not a proxy',
    proxied('https', mode.always(ending('220 mail.example ESMTP\r\n\r\n'))),
    6,
    1,
    { says: /does not answer like an http proxy/ },
  ),
  row('list', 'is behind a proxy that does not listen', closedProxy, 6, 0, {
    retries: 0,
    says: /the proxy .* \(HTTPS_PROXY\) cannot be reached: connection refused/,
  }),
  row('list', 'is a proxy that would see a loopback request', loopbackProxy, 0, 0),
  row('list', 'is a proxy that NO_PROXY names an exception to', exemptProxy, 6, 0, {
    retries: 0,
    says: /no such host|looked up/,
  }),
  row('list', 'is a proxy without a scheme', badProxy('127.0.0.1:3128'), 2, 0, {
    says: /HTTP_PROXY: the proxy URL must start with/,
  }),
  row('list', 'is a SOCKS proxy', badProxy('socks5://127.0.0.1:1080'), 2, 0, {
    says: /HTTP_PROXY: the proxy has the scheme socks5/,
  }),
];

function at(script: Script): () => Promise<Scene> {
  return async () => {
    const watched = await misbehave(script);
    return { baseUrl: watched.url, watched };
  };
}

type Act = (exchange: Exchange) => void;

function always(act: Act): () => Promise<Scene> {
  return at(mode.always(act));
}

/** Misbehaves for the first request, then behaves. */
function once(act: Act): () => Promise<Scene> {
  return at(mode.first(1, act));
}

function answering(all: Answer): Act {
  return (exchange) => answer(exchange, all);
}

function answeringJson(body: unknown, more: Answer = {}): Act {
  return (exchange) => answerJson(exchange, body, more);
}

function status(code: number, fields: Readonly<Record<string, string>> = {}): Act {
  return answering({ status: code, fields });
}

function writing(text: string): Act {
  return ({ socket }) => void socket.write(text);
}

function ending(text: string): Act {
  return ({ socket }) => void socket.end(text);
}

function refusing(code: number, type: string | undefined, body: string | Buffer): () => Promise<Scene> {
  return always(answering({ status: code, body, fields: type ? { 'content-type': type } : {} }));
}

function waitUntilDate(exchange: Exchange): void {
  const date = new Date(Date.now() + 2500).toUTCString();
  answer(exchange, { status: 503, fields: { 'retry-after': date } });
}

function redirectOnAndOn(exchange: Exchange): void {
  answer(exchange, { status: 302, fields: { location: `/store/inventory?${exchange.number}` } });
}

function linkToItself(exchange: Exchange): void {
  answerJson(exchange, [], { fields: { link: `<${exchange.request.target}>; rel="next"` } });
}

function sendTooMuch(exchange: Exchange): void {
  answerJson(exchange, []);
  exchange.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nextra');
}

function resetFirstConnection(): Promise<Scene> {
  let connections = 0;
  const script: Script = {
    onConnection(socket) {
      connections += 1;
      if (connections === 1) socket.resetAndDestroy();
      return connections === 1;
    },
    onRequest: mode.wellBehaved,
  };
  return at(script)();
}

async function tlsStall(): Promise<Scene> {
  const watched = await misbehave(mode.accept.andSayNothing);
  return { baseUrl: `https://127.0.0.1:${watched.port}`, watched };
}

async function plainForTls(): Promise<Scene> {
  const watched = await misbehave({
    onConnection(socket) {
      socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return true;
    },
  });
  return { baseUrl: `https://127.0.0.1:${watched.port}`, watched };
}

/** No server listens there. A port that was free a moment ago could be another case's by now. */
const closed = '127.0.0.1:1';

async function closedPort(): Promise<Scene> {
  return { baseUrl: `http://${closed}`, watched: await misbehave({}) };
}

async function noHost(): Promise<Scene> {
  return { baseUrl: 'http://nowhere.invalid', watched: await misbehave({}) };
}

async function redirectElsewhere(): Promise<Scene> {
  const watched = await misbehave(mode.always(mode.wellBehaved));
  const from = await misbehave(
    mode.always((exchange) => answer(exchange, { status: 302, fields: { location: `${watched.url}/x` } })),
  );
  return { baseUrl: from.url, watched, others: [from] };
}

function strangeHeaders({ socket }: Parameters<typeof mode.wellBehaved>[0]): void {
  socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n');
  const strange = [
    'link: <<<;;; rel="next',
    'deprecation: tomorrow',
    'sunset: \xff\xfe',
    '__proto__: x',
    'constructor: y',
    'set-cookie: a=1',
    'set-cookie: b=2',
  ];
  socket.write(
    `HTTP/1.1 200 OK\r\n${strange.join('\r\n')}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]`,
    'latin1',
  );
}

interface Security {
  /** Whether the program trusts it. */
  readonly trusted: boolean;
  readonly days?: number;
  readonly host?: string;
  readonly client?: 'shown' | 'missing';
}

async function secure({ trusted, days = 30, host, client }: Security): Promise<Scene> {
  const { cert, key } = await makeCertificate(days, host);
  const own = await makeCertificate(30, 'client.example');
  const asking = client ? { requestCert: true, rejectUnauthorized: true, ca: own.cert } : {};
  const watched = await misbehave(mode.always(mode.wellBehaved), { cert, key, ...asking });
  return {
    baseUrl: watched.url,
    watched,
    ...(trusted ? { caCert: cert } : {}),
    ...(client === 'shown' ? { clientCert: own } : {}),
  };
}

/** A service that can be reached only through a proxy. */
function proxied(scheme: 'http' | 'https', script: Script): () => Promise<Scene> {
  return async () => {
    const watched = await misbehave(script);
    const env = { [`${scheme.toUpperCase()}_PROXY`]: `http://user:s3cret-word@127.0.0.1:${watched.port}` };
    return { baseUrl: `${scheme}://pets.invalid`, watched, env };
  };
}

/** A TLS service under a name that only the proxy knows. */
async function tunnelled(): Promise<Scene> {
  const { cert, key } = await makeCertificate(30, 'pets.invalid');
  const watched = await misbehave(mode.always(mode.wellBehaved), { cert, key });
  const proxy = await misbehave(mode.always((exchange) => tunnel(exchange, watched.port)));
  const env = { HTTPS_PROXY: proxy.url };
  return { baseUrl: 'https://pets.invalid', watched, others: [proxy], env, caCert: cert };
}

async function secureProxy(): Promise<Scene> {
  const { cert, key } = await makeCertificate(30);
  const watched = await misbehave(mode.always(mode.wellBehaved), { cert, key });
  return { baseUrl: 'http://pets.invalid', watched, env: { HTTP_PROXY: watched.url }, caCert: cert };
}

/** Only two proxies know the name: there http and https have their default ports. */
async function redirectToTls(): Promise<Scene> {
  const scene = await tunnelled();
  const location = 'https://pets.invalid/store/inventory';
  const from = await misbehave(
    mode.always((exchange) => answer(exchange, { status: 301, fields: { location } })),
  );
  const env = { ...scene.env, HTTP_PROXY: from.url };
  return { ...scene, baseUrl: 'http://pets.invalid', others: [...(scene.others ?? []), from], env };
}

async function redirectToTlsPort(): Promise<Scene> {
  const { cert, key } = await makeCertificate(30);
  const watched = await misbehave(mode.always(mode.wellBehaved), { cert, key });
  const location = `${watched.url}/store/inventory`;
  const from = await misbehave(
    mode.always((exchange) => answer(exchange, { status: 301, fields: { location } })),
  );
  return { baseUrl: from.url, watched, others: [from], caCert: cert };
}

async function closedProxy(): Promise<Scene> {
  const env = { HTTPS_PROXY: `http://${closed}` };
  return { baseUrl: 'https://pets.invalid', watched: await misbehave({}), env };
}

async function loopbackProxy(): Promise<Scene> {
  const service = await misbehave(mode.always(mode.wellBehaved));
  const watched = await misbehave(mode.always((exchange) => tunnel(exchange, service.port)));
  return {
    baseUrl: service.url,
    watched,
    others: [service],
    env: { HTTP_PROXY: watched.url, http_proxy: watched.url },
  };
}

async function exemptProxy(): Promise<Scene> {
  const watched = await misbehave(mode.always(mode.wellBehaved));
  return {
    baseUrl: 'http://pets.shop.invalid',
    watched,
    env: { HTTP_PROXY: watched.url, NO_PROXY: 'example.com, .shop.invalid' },
  };
}

function badProxy(value: string): () => Promise<Scene> {
  return async () => ({
    baseUrl: 'http://pets.invalid',
    watched: await misbehave({}),
    env: { HTTP_PROXY: value },
  });
}

/** The result of a case. */
export interface Result {
  readonly exit: number | null;
  /** The text on stderr. */
  readonly text: string;
  /** The time of the call alone. */
  readonly ms: number;
  readonly requests: number;
}

/** Plays a case in a scene. */
type Play = (scene: Scene, one: Case) => Promise<Pick<Result, 'exit' | 'text' | 'ms'>>;

/** Runs all cases, `atATime` of them together, because most of them wait. */
export async function runCases(
  cases: readonly Case[],
  atATime: number,
  play: Play,
): Promise<ReadonlyMap<Case, Result>> {
  const results = new Map<Case, Result>();
  const left = [...cases];
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift()) results.set(one, await runCase(one, play));
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}

async function runCase(one: Case, play: Play): Promise<Result> {
  const scene = await one.open();
  const { watched, others = [] } = scene;
  try {
    const played = await play(scene, one);
    return { ...played, requests: watched.requests.length };
  } finally {
    for (const server of [watched, ...others]) await server[Symbol.asyncDispose]();
  }
}
