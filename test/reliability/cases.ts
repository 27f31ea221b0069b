import { gzipSync } from 'node:zlib';
import { makeCertificate } from '../helpers/certificate.ts';
import {
  answer,
  answerJson,
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

export interface Case {
  readonly name: string;
  readonly open: () => Promise<Scene>;
  readonly ask: Ask;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly exit: number;
  readonly says?: RegExp;
  /** The least and the most requests that the watched server may see. */
  readonly requests: readonly [number, number];
  /** The least and the most time that the call may take, without the start of the process. */
  readonly ms?: readonly [number, number];
  /** True if the case is also run in a process, which could hang, die, or write to a wrong stream. */
  readonly spoilsProcess?: true;
  /** True if a PUT instead of the list ends differently. */
  readonly asWrite?: 'differs';
}

const deadline = {
  timeoutMs: 1000,
  exit: 6,
  ms: [900, 1900],
  says: /within 1 s/,
  spoilsProcess: true,
} as const;

export const cases: readonly Case[] = [
  // No answer, or one that comes too slowly.
  {
    name: 'accepts and says nothing',
    open: at(mode.accept.andSayNothing),
    ask: 'list',
    ...deadline,
    requests: [0, 0],
  },
  {
    name: 'reads the request and never answers',
    open: at(mode.always(mode.silence)),
    ask: 'list',
    ...deadline,
    requests: [1, 1],
  },
  {
    name: 'drips the head of its answer',
    open: at(mode.always(mode.dripHead)),
    ask: 'list',
    ...deadline,
    requests: [1, 1],
  },
  {
    name: 'drips the body of its answer',
    open: at(mode.always(mode.dripBody)),
    ask: 'list',
    ...deadline,
    requests: [1, 1],
  },
  {
    name: 'drips an answer to a PUT',
    open: at(mode.always(mode.dripBody)),
    ask: 'set',
    ...deadline,
    requests: [1, 1],
    says: /may or may not have been applied/,
  },
  { name: 'stalls in TLS', open: tlsStall, ask: 'list', ...deadline, requests: [0, 0] },
  {
    name: 'answers 503 until the deadline',
    open: at(mode.always((exchange) => answer(exchange, { status: 503 }))),
    ask: 'list',
    timeoutMs: 1000,
    retries: 50,
    exit: 6,
    requests: [2, 50],
    ms: [0, 1900],
    says: /no time for another attempt|no answer within/,
  },

  // Connections that break.
  {
    name: 'resets on accept, once',
    open: () => at(resetFirstConnection())(),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'resets after the request, always',
    open: at(mode.always(mode.reset)),
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /closed before the whole answer came; after 2 attempts/,
  },
  {
    name: 'resets a PUT, once',
    open: at(mode.first(1, mode.reset)),
    ask: 'set',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'resets a DELETE, once',
    open: at(mode.first(1, mode.reset)),
    ask: 'delete',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'resets a POST that it has read',
    spoilsProcess: true,
    open: at(mode.always(mode.reset)),
    ask: 'create',
    exit: 6,
    requests: [1, 1],
    says: /may or may not have been applied/,
  },
  {
    name: 'hangs up before an answer',
    open: at(mode.first(1, mode.hangUp)),
    ask: 'list',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'cuts the body short',
    spoilsProcess: true,
    open: at(mode.always(mode.shortBody)),
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /closed before the whole answer came/,
  },
  {
    name: 'leaves out the last chunk',
    open: at(mode.always(mode.shortChunks)),
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /closed before the whole answer came/,
  },
  {
    name: 'cuts an error short',
    open: at(
      mode.always(({ socket }) =>
        socket.end('HTTP/1.1 404 No\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"code"'),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /404/,
  },
  {
    name: 'listens on no port',
    spoilsProcess: true,
    open: closedPort,
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [0, 0],
    says: /connection refused \(127\.0\.0\.1:\d+\)/,
  },
  {
    name: 'refuses the connection of a POST',
    open: closedPort,
    ask: 'create',
    retries: 1,
    exit: 6,
    requests: [0, 0],
    says: /refused/,
  },
  {
    name: 'has a name that does not exist',
    spoilsProcess: true,
    open: noHost,
    ask: 'list',
    exit: 6,
    requests: [0, 0],
    says: /no such host: nowhere\.invalid|looked up/,
  },

  // Retries.
  ...[408, 425, 429, 500, 502, 503, 504].map(
    (status): Case => ({
      name: `answers ${status}, then behaves`,
      open: at(mode.first(1, (exchange) => answer(exchange, { status }))),
      ask: 'list',
      exit: 0,
      requests: [2, 2],
    }),
  ),
  {
    name: 'answers 500 to a PUT, then behaves',
    open: at(mode.first(1, (exchange) => answer(exchange, { status: 500 }))),
    ask: 'set',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'answers 500 to a POST',
    open: at(mode.always((exchange) => answer(exchange, { status: 500 }))),
    ask: 'create',
    exit: 6,
    requests: [1, 1],
    says: /may or may not have been applied/,
  },
  {
    name: 'answers 503 to a POST',
    open: at(mode.always((exchange) => answer(exchange, { status: 503 }))),
    ask: 'create',
    exit: 6,
    requests: [1, 1],
    says: /may or may not have been applied/,
  },
  {
    name: 'answers 503 with Retry-After to a POST, then behaves',
    open: at(mode.first(1, (exchange) => answer(exchange, { status: 503, fields: { 'retry-after': '1' } }))),
    ask: 'create',
    exit: 0,
    requests: [2, 2],
    ms: [1000, 2500],
  },
  {
    name: 'answers 429 with Retry-After to a POST, then behaves',
    open: at(mode.first(1, (exchange) => answer(exchange, { status: 429, fields: { 'retry-after': '0' } }))),
    ask: 'create',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'answers 429 to a POST, without saying when',
    open: at(mode.always((exchange) => answer(exchange, { status: 429 }))),
    ask: 'create',
    exit: 6,
    requests: [1, 1],
    says: /answered 429, with no reason given$/m,
  },
  ...[408, 425, 502, 504].map(
    (status): Case => ({
      name: `answers ${status} to a POST with Retry-After`,
      open: at(mode.always((exchange) => answer(exchange, { status, fields: { 'retry-after': '0' } }))),
      ask: 'create',
      exit: 6,
      requests: [1, 1],
    }),
  ),
  ...[408, 425, 429, 502, 503, 504].map(
    (status): Case => ({
      name: `answers ${status} to a PUT, then behaves`,
      open: at(mode.first(1, (exchange) => answer(exchange, { status }))),
      ask: 'set',
      exit: 0,
      requests: [2, 2],
    }),
  ),
  {
    name: 'answers 503 to a DELETE, then behaves',
    open: at(mode.first(1, (exchange) => answer(exchange, { status: 503 }))),
    ask: 'delete',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'takes longer than the deadline with its retries',
    open: at(mode.always((exchange) => answer(exchange, { status: 503, fields: { 'retry-after': '2' } }))),
    ask: 'list',
    timeoutMs: 3500,
    retries: 50,
    exit: 6,
    requests: [2, 2],
    ms: [2000, 3500],
    says: /asks to wait 2 s, longer than what is left of the deadline of 3\.5 s/,
  },
  {
    name: 'asks to wait a second',
    open: at(mode.first(1, (exchange) => answer(exchange, { status: 429, fields: { 'retry-after': '1' } }))),
    ask: 'list',
    exit: 0,
    requests: [2, 2],
    ms: [1000, 2500],
  },
  {
    name: 'asks to wait until a date',
    open: at(
      mode.first(1, (exchange) =>
        answer(exchange, {
          status: 503,
          fields: { 'retry-after': new Date(Date.now() + 2500).toUTCString() },
        }),
      ),
    ),
    ask: 'list',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'asks to wait longer than the deadline allows',
    spoilsProcess: true,
    open: at(mode.always((exchange) => answer(exchange, { status: 429, fields: { 'retry-after': '3600' } }))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    ms: [0, 900],
    says: /asks to wait 3600 s, longer than what is left/,
  },
  {
    name: 'sends an invalid Retry-After',
    open: at(
      mode.first(1, (exchange) => answer(exchange, { status: 503, fields: { 'retry-after': 'soon' } })),
    ),
    ask: 'list',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'answers 503 after all retries',
    open: at(
      mode.always((exchange) =>
        answerJson(exchange, { code: 'busy', message: 'too many pets', status: 503 }, { status: 503 }),
      ),
    ),
    ask: 'list',
    retries: 2,
    exit: 6,
    requests: [3, 3],
    says: /too many pets \(503 busy\); after 3 attempts/,
  },

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
  ).map(
    ([status, exit]): Case => ({
      name: `refuses with ${status}`,
      open: at(
        mode.always((exchange) =>
          answerJson(exchange, { code: 'no', message: 'never on a Sunday', status }, { status }),
        ),
      ),
      ask: 'set',
      exit,
      requests: [1, 1],
      says: new RegExp(`never on a Sunday \\(${status} no\\)$`, 'm'),
    }),
  ),
  {
    name: 'refuses with problem details',
    open: refusing(
      422,
      'application/problem+json',
      '{"type":"about:blank","title":"Bad","detail":"quantity is odd"}',
    ),
    ask: 'set',
    exit: 1,
    requests: [1, 1],
    says: /quantity is odd \(422\)/,
  },
  {
    name: 'refuses with other JSON',
    open: refusing(409, 'application/json', '{"errors":[{"message":"it is\\n taken","code":"E1"}]}'),
    ask: 'set',
    exit: 1,
    requests: [1, 1],
    says: /it is taken \(409\)/,
  },
  {
    name: 'refuses with text',
    open: refusing(403, 'text/plain', 'Not\nyou\u001b[31m'),
    ask: 'set',
    exit: 4,
    requests: [1, 1],
    says: /Not you\\x1b\[31m \(403\)/,
  },
  {
    name: 'refuses with nothing',
    open: refusing(404, undefined, ''),
    ask: 'set',
    exit: 5,
    requests: [1, 1],
    says: /answered 404, with no reason given/,
  },
  {
    name: 'refuses with garbage',
    open: refusing(400, 'application/json', Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
    ask: 'set',
    exit: 1,
    requests: [1, 1],
    says: /answered 400 with application\/json/,
  },
  {
    name: 'refuses with an endless body',
    open: at(mode.always(mode.endless(404))),
    ask: 'set',
    exit: 5,
    requests: [1, 1],
    ms: [0, 1500],
    says: /404/,
  },
  {
    name: 'answers 502 with a page',
    open: at(mode.always(mode.html(502))),
    ask: 'list',
    retries: 0,
    exit: 6,
    requests: [1, 1],
    says: /answered 502 with text\/html: <html><head><title>Sign in<\/title>.*\\x1b\[31m/,
  },

  // Invalid answers.
  {
    name: 'answers 200 with a page',
    spoilsProcess: true,
    open: at(mode.always(mode.html(200))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /answered 200 with text\/html, not JSON: <html>.*hint: does the base URL lead to the service/s,
  },
  {
    name: 'answers JSON without a content type',
    open: at(mode.always((exchange) => answer(exchange, { body: '[]' }))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /no content type/,
  },
  ...(
    [
      ['text that is not JSON', '[{"petId":1', /not valid JSON/],
      ['JSON 101 deep', `${'['.repeat(101)}${']'.repeat(101)}`, /nested deeper than 100/],
      ['a number that is not finite', '[{"petId":1,"quantity":1e400,"status":"sold"}]', /not finite/],
      ['another shape', '[{"petId":"one","quantity":1,"status":"sold"}]', /\/0\/petId must be an integer/],
      ['an object in place of a list', '{}', /not a list of InventoryItem/],
      ['nothing', '', /no body/],
    ] as const
  ).map(
    ([what, body, says]): Case => ({
      name: `answers ${what}`,
      open: at(mode.always((exchange) => answerJson(exchange, body))),
      ask: 'list',
      exit: 6,
      requests: [1, 1],
      says,
      // A write may be answered without a body.
      ...(body === '' ? { asWrite: 'differs' } : {}),
    }),
  ),
  {
    name: 'answers bytes that are not UTF-8',
    open: at(
      mode.always((exchange) =>
        answer(exchange, {
          fields: { 'content-type': 'application/json' },
          body: Buffer.from('["\xff"]', 'latin1'),
        }),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /not UTF-8/,
  },
  {
    asWrite: 'differs',
    name: 'puts a BOM in front',
    open: at(mode.always((exchange) => answerJson(exchange, '\ufeff[]'))),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'answers without end',
    spoilsProcess: true,
    open: at(mode.always(mode.endless(200))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    ms: [0, 15_000],
    timeoutMs: 20_000,
    says: /longer than 64 MiB/,
  },
  {
    asWrite: 'differs',
    name: 'answers compressed, unasked',
    open: at(
      mode.always((exchange) =>
        answer(exchange, {
          fields: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: gzipSync('[]'),
        }),
      ),
    ),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'answers a gzip bomb',
    open: at(mode.always(mode.gzipBomb)),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    timeoutMs: 20_000,
    says: /longer than 64 MiB/,
  },
  {
    name: 'cuts a gzip short',
    open: at(
      mode.always((exchange) =>
        answer(exchange, {
          fields: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: gzipSync('[1,2,3]').subarray(0, 20),
        }),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /not valid gzip/,
  },
  {
    name: 'answers in an unknown encoding',
    open: at(
      mode.always((exchange) =>
        answer(exchange, {
          fields: { 'content-type': 'application/json', 'content-encoding': 'rot13' },
          body: '[]',
        }),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /encoded as rot13/,
  },
  {
    name: 'does not speak HTTP',
    open: at(mode.always(({ socket }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /invalid HTTP response/,
  },
  {
    name: 'switches to another protocol',
    open: at(
      mode.always(({ socket }) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      ),
    ),
    ask: 'list',
    retries: 0,
    timeoutMs: 10_000,
    ms: [0, 2000],
    exit: 6,
    requests: [1, 1],
  },
  {
    name: 'sends more than its content-length',
    asWrite: 'differs',
    open: at(
      mode.always((exchange) => {
        answerJson(exchange, []);
        exchange.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nextra');
      }),
    ),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'ends its answer by closing, as HTTP/1.0 does',
    asWrite: 'differs',
    open: at(
      mode.always(({ socket }) => socket.end('HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n[]')),
    ),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'gives two lengths',
    open: at(
      mode.always(({ socket }) =>
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
        ),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /invalid HTTP response/,
  },
  {
    name: 'sends a head without end',
    open: at(mode.always(({ socket }) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`))),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /invalid HTTP response/,
  },
  {
    asWrite: 'differs',
    name: 'sends early hints and strange headers first',
    open: at(mode.always(strangeHeaders)),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },

  // Redirects and links.
  {
    asWrite: 'differs',
    name: 'redirects within its origin',
    open: at(
      mode.first(1, (exchange) =>
        answer(exchange, { status: 307, fields: { location: '/store/inventory' } }),
      ),
    ),
    ask: 'list',
    exit: 0,
    requests: [2, 2],
  },
  {
    name: 'redirects to https on its host',
    asWrite: 'differs',
    open: redirectToTls,
    ask: 'list',
    exit: 1,
    requests: [0, 0],
    says: /redirect to https:\/\/pets\.invalid\/store\/inventory; another origin is never followed/,
  },
  {
    name: 'redirects to https on another port of its host',
    asWrite: 'differs',
    open: redirectToTlsPort,
    ask: 'list',
    exit: 1,
    requests: [0, 0],
    says: /redirect to https:\/\/127\.0\.0\.1:\d+\/store\/inventory; another origin is never followed/,
  },
  ...[300, 304, 305, 306].map(
    (status): Case => ({
      name: `answers ${status}, which is not a redirect`,
      open: at(mode.always((exchange) => answer(exchange, { status }))),
      ask: 'list',
      exit: 6,
      requests: [1, 1],
      says: new RegExp(`answered ${status}, which is neither a success nor an error`),
    }),
  ),
  {
    asWrite: 'differs',
    name: 'redirects without end',
    open: at(
      mode.always((exchange) =>
        answer(exchange, { status: 302, fields: { location: `/store/inventory?${exchange.number}` } }),
      ),
    ),
    ask: 'list',
    exit: 1,
    requests: [6, 6],
    says: /redirected more than 5 times/,
  },
  {
    asWrite: 'differs',
    name: 'redirects to another origin',
    spoilsProcess: true,
    open: redirectElsewhere,
    ask: 'list',
    exit: 1,
    requests: [0, 0],
    says: /redirect to http:\/\/127\.0\.0\.1:\d+\/x; another origin is never followed/,
  },
  {
    name: 'redirects a write',
    open: at(
      mode.always((exchange) => answer(exchange, { status: 308, fields: { location: '/elsewhere' } })),
    ),
    ask: 'set',
    exit: 1,
    requests: [1, 1],
    says: /redirect to http:\/\/127\.0\.0\.1:\d+\/elsewhere; a write is never redirected/,
  },
  {
    name: 'redirects a POST to its result',
    open: at(mode.always((exchange) => answer(exchange, { status: 303, fields: { location: '/pets/9' } }))),
    ask: 'create',
    exit: 1,
    requests: [1, 1],
    says: /pets\/9; a write is never redirected$/m,
  },
  {
    name: 'redirects to nowhere',
    open: at(mode.always((exchange) => answer(exchange, { status: 302 }))),
    ask: 'list',
    exit: 1,
    requests: [1, 1],
    says: /names no target/,
  },
  {
    asWrite: 'differs',
    name: 'links to itself as the next page',
    open: at(
      mode.always((exchange) =>
        answerJson(exchange, [], { fields: { link: `<${exchange.request.target}>; rel="next"` } }),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /next page repeats/,
  },
  {
    asWrite: 'differs',
    name: 'links to another origin as the next page',
    open: at(
      mode.always((exchange) =>
        answerJson(exchange, [], { fields: { link: '<http://127.0.0.2:9/>; rel=next' } }),
      ),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /another origin: http:\/\/127\.0\.0\.2:9\//,
  },

  // TLS.
  {
    name: 'shows a certificate that is trusted by --ca-cert',
    spoilsProcess: true,
    open: () => secure({ trusted: true }),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'shows a self-signed certificate',
    spoilsProcess: true,
    open: () => secure({ trusted: false }),
    ask: 'list',
    exit: 6,
    requests: [0, 0],
    ms: [0, 900],
    says: /TLS: .*self-signed[\s\S]*--ca-cert/,
  },
  {
    name: 'shows an expired certificate',
    open: () => secure({ trusted: true, days: -1 }),
    ask: 'list',
    exit: 6,
    requests: [0, 0],
    says: /TLS: .*expired/,
  },
  {
    name: 'shows the certificate of another host',
    open: () => secure({ trusted: true, host: 'pets.example' }),
    ask: 'list',
    exit: 6,
    requests: [0, 0],
    says: /TLS: .*altnames/,
  },
  {
    name: 'wants a client certificate, and gets it',
    open: () => secure({ trusted: true, client: 'shown' }),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'wants a client certificate, and gets none',
    open: () => secure({ trusted: true, client: 'missing' }),
    ask: 'list',
    retries: 0,
    exit: 6,
    requests: [0, 0],
  },
  {
    name: 'speaks plain http where TLS is expected',
    open: plainForTls,
    ask: 'list',
    exit: 6,
    requests: [0, 0],
    says: /TLS: .*plain http/,
  },

  // Proxies. The services behind them do not exist: only the proxy can answer for them.
  {
    name: 'is a proxy that forwards http',
    open: proxied('http', mode.always(mode.wellBehaved)),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  {
    name: 'is a proxy that tunnels to TLS',
    spoilsProcess: true,
    open: () => tunnelled(),
    ask: 'list',
    exit: 0,
    requests: [1, 1],
  },
  { name: 'is a proxy that speaks TLS itself', open: secureProxy, ask: 'list', exit: 0, requests: [1, 1] },
  {
    name: 'is a proxy that says nothing',
    open: proxied('http', mode.always(mode.silence)),
    ask: 'list',
    ...deadline,
    requests: [1, 1],
  },
  {
    name: 'is a proxy that says nothing to CONNECT',
    open: proxied('https', mode.always(mode.silence)),
    ask: 'list',
    ...deadline,
    requests: [1, 1],
  },
  {
    name: 'is a proxy that drops CONNECT',
    spoilsProcess: true,
    open: proxied('https', mode.always(mode.reset)),
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /the proxy http:\/\/\*\*\*@127\.0\.0\.1:\d+ \(HTTPS_PROXY\) .*after 2 attempts/,
  },
  {
    name: 'is a proxy that drops the CONNECT of a POST',
    open: proxied('https', mode.first(9, mode.hangUp)),
    ask: 'create',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /closed the connection; after 2 attempts$/m,
  },
  {
    name: 'is a proxy that wants a password',
    open: proxied(
      'https',
      mode.always((exchange) => answer(exchange, { status: 407 })),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /answered CONNECT pets\.invalid:443 with 407 Whatever/,
  },
  {
    name: 'is a proxy that has no way to the service',
    open: proxied(
      'https',
      mode.always((exchange) => answer(exchange, { status: 502 })),
    ),
    ask: 'list',
    retries: 1,
    exit: 6,
    requests: [2, 2],
    says: /with 502 Whatever; after 2 attempts/,
  },
  {
    name: 'is not a proxy',
    open: proxied(
      'https',
      mode.always(({ socket }) => socket.end('220 mail.example ESMTP\r\n\r\n')),
    ),
    ask: 'list',
    exit: 6,
    requests: [1, 1],
    says: /does not answer like an http proxy/,
  },
  {
    name: 'is behind a proxy that does not listen',
    open: closedProxy,
    ask: 'list',
    retries: 0,
    exit: 6,
    requests: [0, 0],
    says: /the proxy .* \(HTTPS_PROXY\) cannot be reached: connection refused/,
  },
  {
    name: 'is a proxy that would see a loopback request',
    open: loopbackProxy,
    ask: 'list',
    exit: 0,
    requests: [0, 0],
  },
  {
    name: 'is a proxy that NO_PROXY names an exception to',
    open: exemptProxy,
    ask: 'list',
    retries: 0,
    exit: 6,
    requests: [0, 0],
    says: /no such host|looked up/,
  },
  {
    name: 'is a proxy without a scheme',
    spoilsProcess: true,
    open: badProxy('127.0.0.1:3128'),
    ask: 'list',
    exit: 2,
    requests: [0, 0],
    says: /HTTP_PROXY: the proxy has no scheme/,
  },
  {
    name: 'is a SOCKS proxy',
    open: badProxy('socks5://127.0.0.1:1080'),
    ask: 'list',
    exit: 2,
    requests: [0, 0],
    says: /HTTP_PROXY: the proxy has the scheme socks5/,
  },
];

function at(script: Script): () => Promise<Scene> {
  return async () => {
    const watched = await misbehave(script);
    return { baseUrl: watched.url, watched };
  };
}

function refusing(status: number, type: string | undefined, body: string | Buffer): () => Promise<Scene> {
  return at(
    mode.always((exchange) =>
      answer(exchange, { status, body, fields: type ? { 'content-type': type } : {} }),
    ),
  );
}

function resetFirstConnection(): Script {
  let connections = 0;
  return {
    onConnection(socket) {
      connections += 1;
      if (connections === 1) socket.resetAndDestroy();
      return connections === 1;
    },
    onRequest: mode.wellBehaved,
  };
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
