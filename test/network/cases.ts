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
import { always } from './modes.ts';

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
  readonly says: RegExp | undefined;
  readonly exit: number;
  /** The least and the most requests that the watched server may see. */
  readonly requests: readonly [number, number];
}

/** How a case ends: by default with exit code 6 if it says something, else with 0, and after one request. */
interface Ending extends Details {
  readonly exit?: number;
  readonly requests?: number | readonly [number, number];
}

function row(
  ask: Ask,
  name: string,
  service: Script | (() => Promise<Scene>),
  says?: RegExp,
  { exit = says ? 6 : 0, requests = 1, ...details }: Ending = {},
): Case {
  const open = typeof service === 'function' ? service : () => openOne(service);
  const range = typeof requests === 'number' ? ([requests, requests] as const) : requests;
  return { ask, name, open, says, exit, requests: range, ...details };
}

const late: Ending = { timeoutMs: 1000, ms: [900, 1900], spoilsProcess: true };
const unseen: Ending = { requests: 0 };
const twice: Ending = { requests: 2 };
const refused: Ending = { exit: 1 };
const again: Ending = { requests: 2, retries: 1 };
const unsent: Ending = { requests: 0, retries: 1 };
const notFollowed: Ending = { exit: 1, requests: 0 };
/** No server listens there. A port that was free a moment ago could be another case's by now. */
const closed = 'http://127.0.0.1:1';
const within = /within 1 s/;
const maybe = /may or may not have been applied/;
const cut = /closed before the whole answer came/;
const notHttp = /invalid HTTP response/;
const json = { 'content-type': 'application/json' };
const gzip = { ...json, 'content-encoding': 'gzip' };
const no = { code: 'no', message: 'never on a Sunday' };

/** The exit codes of a write that is refused. */
const refusals = { 400: 1, 401: 4, 403: 4, 404: 5, 409: 1, 410: 5, 412: 1, 418: 1, 422: 1, 501: 6 };

/** Bodies that are no list of inventory entries. */
const invalid: readonly (readonly [what: string, body: string, says: RegExp])[] = [
  ['text that is not JSON', '[{"petId":1', /not valid JSON/],
  ['JSON 101 deep', `${'['.repeat(101)}${']'.repeat(101)}`, /nested deeper than 100/],
  ['a number that is not finite', '[{"petId":1,"quantity":1e400,"status":"sold"}]', /not finite/],
  ['another shape', '[{"petId":"one","quantity":1,"status":"sold"}]', /\/0\/petId must be an integer/],
  ['an object in place of a list', '{}', /not a list of InventoryItem/],
  ['nothing', '', /no body/],
];

export const cases: readonly Case[] = [
  // No answer, or one that comes too slowly.
  row('list', 'accepts and says nothing', mode.accept, within, { ...late, requests: 0 }),
  row('list', 'reads the request and never answers', always(mode.silence), within, late),
  row('list', 'drips the head of its answer', always(mode.dripHead), within, late),
  row('list', 'drips the body of its answer', always(mode.dripBody), within, late),
  row('set', 'drips an answer to a PUT', always(mode.dripBody), maybe, late),
  row('list', 'stalls in TLS', tlsStall, within, { ...late, requests: 0 }),
  row('list', 'answers 503 until the deadline', status(503), /no time for another attempt|no answer within/, {
    requests: [2, 50],
    timeoutMs: 1000,
    retries: 50,
    ms: [0, 1900],
  }),

  // Connections that break.
  row('list', 'resets on accept, once', resetFirst()),
  row('list', 'resets after the request, always', always(mode.reset), /answer came; after 2 attempts/, again),
  row('set', 'resets a PUT, once', once(mode.reset), undefined, twice),
  row('delete', 'resets a DELETE, once', once(mode.reset), undefined, twice),
  row('create', 'resets a POST that it has read', always(mode.reset), maybe, { spoilsProcess: true }),
  row('list', 'hangs up before an answer', once(mode.hangUp), undefined, twice),
  row('list', 'cuts the body short', always(mode.shortBody), cut, again),
  row('list', 'leaves out the last chunk', always(mode.shortChunks), cut, again),
  row('list', 'cuts an error short', writes(`${head('404 No')}content-length: 100\r\n\r\n{"code"`), /404/),
  row('list', 'listens on no port', unasked(closed), /connection refused \(127\.0\.0\.1:\d+\)/, unsent),
  row('create', 'refuses the connection of a POST', unasked(closed), /refused/, unsent),
  row(
    'list',
    'has a name that does not exist',
    unasked('http://nowhere.invalid'),
    /no such host: nowhere\.invalid|looked up/,
    {
      requests: 0,
      spoilsProcess: true,
    },
  ),

  // Retries.
  ...[408, 425, 429, 500, 502, 503, 504].map((code) =>
    row('list', `answers ${code}, then behaves`, once(statusAct(code)), undefined, twice),
  ),
  row('set', 'answers 500 to a PUT, then behaves', once(statusAct(500)), undefined, twice),
  row('delete', 'answers 503 to a DELETE, then behaves', once(statusAct(503)), undefined, twice),
  row('create', 'answers 500 to a POST', status(500), maybe),
  row('create', 'answers 503 to a POST', status(503), maybe),
  ...[429, 503].map((code) =>
    row(
      'create',
      `answers ${code} to a POST, says when, then behaves`,
      once(waiting(code, '0')),
      undefined,
      twice,
    ),
  ),
  row(
    'create',
    'answers 429 to a POST, without saying when',
    status(429),
    /answered 429, with no reason given$/m,
  ),
  ...[408, 425, 502, 504].map((code) =>
    row('create', `answers ${code} to a POST with Retry-After`, always(waiting(code, '0')), /error: /),
  ),
  row('list', 'asks to wait a second', once(waiting(429, '1')), undefined, { requests: 2, ms: [1000, 2500] }),
  row('list', 'asks to wait until a date', once(waitUntilDate), undefined, twice),
  row(
    'list',
    'asks to wait longer than the deadline allows',
    always(waiting(429, '3600')),
    /asks to wait 3600 s, longer than what is left of the deadline of 30 s/,
    { ms: [0, 900] },
  ),
  row('list', 'sends an invalid Retry-After', once(waiting(503, 'soon')), undefined, twice),
  row(
    'list',
    'answers 503 after all retries',
    answersJson({ code: 'busy', message: 'too many pets', status: 503 }, { status: 503 }),
    /too many pets \(503 busy\); after 3 attempts/,
    { retries: 2, requests: 3 },
  ),

  // Error answers with any body.
  ...Object.entries(refusals).map(([code, exit]) => {
    const says = new RegExp(`never on a Sunday \\(${code} no\\)$`, 'm');
    return row('set', `refuses with ${code}`, answersJson(no, { status: Number(code) }), says, { exit });
  }),
  row(
    'set',
    'refuses with problem details',
    refusing(
      422,
      'application/problem+json',
      '{"type":"about:blank","title":"Bad","detail":"quantity is odd"}',
    ),
    /quantity is odd \(422\)/,
    refused,
  ),
  row(
    'set',
    'refuses with other JSON',
    refusing(409, 'application/json', '{"errors":[{"message":"it is\\n taken","code":"E1"}]}'),
    /it is taken \(409\)/,
    refused,
  ),
  row(
    'set',
    'refuses with text',
    refusing(403, 'text/plain', 'Not\nyou\u001b[31m'),
    /Not you\\x1b\[31m \(403\)/,
    {
      exit: 4,
    },
  ),
  row('set', 'refuses with nothing', status(404), /answered 404, with no reason given/, { exit: 5 }),
  row(
    'set',
    'refuses with garbage',
    refusing(400, 'application/json', Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
    /answered 400 with application\/json/,
    refused,
  ),
  row('set', 'refuses with an endless body', always(mode.endless(404)), /404/, { exit: 5, ms: [0, 1500] }),
  row(
    'list',
    'answers 502 with a page',
    always(mode.html(502)),
    /answered 502 with text\/html: <html><head><title>Sign in<\/title>.*\\x1b\[31m/,
    { retries: 0 },
  ),

  // Invalid answers.
  row(
    'list',
    'answers 200 with a page',
    always(mode.html(200)),
    /answered 200 with text\/html, not JSON: <html>.*hint: does the base URL lead to the service/s,
  ),
  row('list', 'answers JSON without a content type', answers({ body: '[]' }), /no content type/),
  ...invalid.map(([what, body, says]) => row('list', `answers ${what}`, answersJson(body), says)),
  row(
    'list',
    'answers bytes that are not UTF-8',
    answersBytes(json, Buffer.from('["\xff"]', 'latin1')),
    /not UTF-8/,
  ),
  row('list', 'puts a BOM in front', answersJson('\ufeff[]')),
  row('list', 'answers without end', always(mode.endless(200)), /longer than 64 MiB/, {
    spoilsProcess: true,
    ms: [0, 15_000],
    timeoutMs: 20_000,
  }),
  row('list', 'answers compressed, unasked', answersBytes(gzip, gzipSync('[]'))),
  row('list', 'answers a gzip bomb', always(mode.gzipBomb), /longer than 64 MiB/, { timeoutMs: 20_000 }),
  row('list', 'cuts a gzip short', answersBytes(gzip, gzipSync('[1,2,3]').subarray(0, 20)), /not valid gzip/),
  row(
    'list',
    'answers in an unknown encoding',
    answersBytes({ ...json, 'content-encoding': 'rot13' }, '[]'),
    /encoded as rot13/,
  ),
  row('list', 'does not speak HTTP', writes('SSH-2.0-OpenSSH_9.2\r\n'), notHttp),
  row(
    'list',
    'switches to another protocol',
    writesOn('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    /^error: /,
    { retries: 0, timeoutMs: 10_000, ms: [0, 2000] },
  ),
  row('list', 'sends more than its content-length', always(sendTooMuch)),
  row('list', 'ends its answer by closing, as HTTP/1.0 does', writes(`${head('200 OK')}\r\n[]`)),
  row(
    'list',
    'gives two lengths',
    writesOn(`${head('200 OK')}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`),
    notHttp,
  ),
  row('list', 'sends a head without end', writesOn(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`), notHttp),
  row('list', 'sends early hints and strange headers first', always(strangeHeaders)),

  // Redirects and links.
  row('list', 'redirects within its origin', once(movedTo(307, '/store/inventory')), undefined, twice),
  row(
    'list',
    'redirects to https on its host',
    redirectToTls,
    /redirect to https:\/\/pets\.invalid\/store\/inventory; another origin is never followed/,
    notFollowed,
  ),
  ...[300, 304, 305, 306].map((code) => {
    const says = new RegExp(`answered ${code}, which is neither a success nor an error`);
    return row('list', `answers ${code}, which is not a redirect`, status(code), says);
  }),
  row('list', 'redirects without end', always(redirectOnAndOn), /redirected more than 5 times/, {
    exit: 1,
    requests: 6,
  }),
  row(
    'list',
    'redirects to another origin',
    redirectElsewhere,
    /redirect to http:\/\/127\.0\.0\.1:\d+\/x; another origin is never followed/,
    notFollowed,
  ),
  row(
    'set',
    'redirects a write',
    always(movedTo(308, '/elsewhere')),
    /redirect to http:\/\/127\.0\.0\.1:\d+\/elsewhere; a write is never redirected/,
    refused,
  ),
  row(
    'create',
    'redirects a POST to its result',
    always(movedTo(303, '/pets/9')),
    /pets\/9; a write is never redirected$/m,
    refused,
  ),
  row('list', 'redirects to nowhere', status(302), /names no target/, refused),
  row('list', 'links to itself as the next page', always(linkToItself), /next page repeats/),
  row(
    'list',
    'links to another origin as the next page',
    answersJson([], { fields: { link: '<http://127.0.0.2:9/>; rel=next' } }),
    /another origin: http:\/\/127\.0\.0\.2:9\//,
  ),

  // TLS.
  row('list', 'shows a certificate that is trusted by --ca-cert', secure({ trusted: true })),
  row('list', 'shows a self-signed certificate', secure({}), /TLS: .*self-signed[\s\S]*--ca-cert/, {
    requests: 0,
    spoilsProcess: true,
    ms: [0, 900],
  }),
  row('list', 'shows an expired certificate', secure({ trusted: true, days: -1 }), /TLS: .*expired/, unseen),
  row(
    'list',
    'shows the certificate of another host',
    secure({ trusted: true, host: 'pets.example' }),
    /TLS: .*altnames/,
    unseen,
  ),
  row('list', 'wants a client certificate, and gets it', secure({ trusted: true, client: 'shown' })),
  row(
    'list',
    'wants a client certificate, and gets none',
    secure({ trusted: true, client: 'missing' }),
    /^error: /,
    unsent,
  ),
  row('list', 'speaks plain http where TLS is expected', plainForTls, /TLS: .*plain http/, unseen),

  // Proxies. The services behind them do not exist: only the proxy can answer for them.
  row('list', 'is a proxy that forwards http', proxied('http', always(mode.wellBehaved))),
  row('list', 'is a proxy that tunnels to TLS', tunnelled, undefined, { spoilsProcess: true }),
  row('list', 'is a proxy that speaks TLS itself', secureProxy),
  row('list', 'is a proxy that says nothing', proxied('http', always(mode.silence)), within, late),
  row(
    'list',
    'is a proxy that says nothing to CONNECT',
    proxied('https', always(mode.silence)),
    within,
    late,
  ),
  row(
    'list',
    'is a proxy that drops CONNECT',
    proxied('https', always(mode.reset)),
    /the proxy http:\/\/\*\*\*@127\.0\.0\.1:\d+ \(HTTPS_PROXY\) .*after 2 attempts/,
    { requests: 2, spoilsProcess: true, retries: 1 },
  ),
  row(
    'create',
    'is a proxy that drops the CONNECT of a POST',
    proxied('https', mode.first(9, mode.hangUp)),
    /closed the connection; after 2 attempts$/m,
    again,
  ),
  row(
    'list',
    'is a proxy that wants a password',
    proxied('https', status(407)),
    /answered CONNECT pets\.invalid:443 with 407 Whatever/,
  ),
  row(
    'list',
    'is a proxy that has no way to the service',
    proxied('https', status(502)),
    /with 502 Whatever; after 2/,
    again,
  ),
  row(
    'list',
    'is not a proxy',
    proxied('https', writes('220 mail.example ESMTP\r\n\r\n')),
    /does not answer like an http proxy/,
  ),
  row(
    'list',
    'is behind a proxy that does not listen',
    unasked('https://pets.invalid', { HTTPS_PROXY: closed }),
    /the proxy .* \(HTTPS_PROXY\) cannot be reached: connection refused/,
    unsent,
  ),
  row('list', 'is a proxy that would see a loopback request', loopbackProxy, undefined, unseen),
  row(
    'list',
    'is a proxy that NO_PROXY names an exception to',
    exemptProxy,
    /no such host|looked up/,
    unsent,
  ),
  row(
    'list',
    'is a proxy without a scheme',
    unasked('http://pets.invalid', { HTTP_PROXY: '127.0.0.1:3128' }),
    /HTTP_PROXY: the proxy URL must start with/,
    {
      exit: 2,
      requests: 0,
    },
  ),
];

async function openOne(script: Script): Promise<Scene> {
  const watched = await misbehave(script);
  return { baseUrl: watched.url, watched };
}

type Act = (exchange: Exchange) => void;

/** Misbehaves for the first request, then behaves. */
function once(act: Act): Script {
  return mode.first(1, act);
}

function answers(all: Answer): Script {
  return always((exchange) => answer(exchange, all));
}

function answersJson(body: unknown, more: Answer = {}): Script {
  return always((exchange) => answerJson(exchange, body, more));
}

function answersBytes(fields: Readonly<Record<string, string>>, body: string | Buffer): Script {
  return answers({ fields, body });
}

function refusing(code: number, type: string, body: string | Buffer): Script {
  return answers({ status: code, body, fields: { 'content-type': type } });
}

function status(code: number): Script {
  return always(statusAct(code));
}

function statusAct(code: number, fields: Readonly<Record<string, string>> = {}): Act {
  return (exchange) => answer(exchange, { status: code, fields });
}

function waiting(code: number, retryAfter: string): Act {
  return statusAct(code, { 'retry-after': retryAfter });
}

function movedTo(code: number, location: string): Act {
  return statusAct(code, { location });
}

/** The start of the head of an answer in HTTP/1.1, with JSON. */
function head(statusLine: string): string {
  return `HTTP/1.1 ${statusLine}\r\ncontent-type: application/json\r\n`;
}

function writesOn(text: string): Script {
  return always(({ socket }) => void socket.write(text));
}

/** Writes this and closes the connection. */
function writes(text: string): Script {
  return always(({ socket }) => void socket.end(text));
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

function resetFirst(): Script {
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
  const watched = await misbehave(mode.accept);
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

/** A scene whose watched server is asked for nothing. */
function unasked(baseUrl: string, env: Readonly<Record<string, string>> = {}): () => Promise<Scene> {
  return async () => ({ baseUrl, env, watched: await misbehave({}) });
}

/** A server that redirects everything. */
function redirector(location: string): Promise<MisbehavingServer> {
  return misbehave(always(movedTo(302, location)));
}

async function redirectElsewhere(): Promise<Scene> {
  const watched = await misbehave(always(mode.wellBehaved));
  const from = await redirector(`${watched.url}/x`);
  return { baseUrl: from.url, watched, others: [from] };
}

function strangeHeaders({ socket }: Exchange): void {
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
  socket.write(`${head('200 OK')}${strange.join('\r\n')}\r\ncontent-length: 2\r\n\r\n[]`, 'latin1');
}

interface Security {
  /** True if the program trusts it. */
  readonly trusted?: true;
  readonly days?: number;
  readonly host?: string;
  readonly client?: 'shown' | 'missing';
}

function secure({ trusted, days = 30, host, client }: Security): () => Promise<Scene> {
  return async () => {
    const { cert, key } = await makeCertificate(days, host);
    const own = await makeCertificate(30, 'client.example');
    const asking = client ? { requestCert: true, rejectUnauthorized: true, ca: own.cert } : {};
    const watched = await misbehave(always(mode.wellBehaved), { cert, key, ...asking });
    const caCert = trusted && { caCert: cert };
    return { baseUrl: watched.url, watched, ...caCert, ...(client === 'shown' && { clientCert: own }) };
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
  const watched = await misbehave(always(mode.wellBehaved), { cert, key });
  const proxy = await misbehave(always((exchange) => tunnel(exchange, watched.port)));
  const env = { HTTPS_PROXY: proxy.url };
  return { baseUrl: 'https://pets.invalid', watched, others: [proxy], env, caCert: cert };
}

async function secureProxy(): Promise<Scene> {
  const { cert, key } = await makeCertificate(30);
  const watched = await misbehave(always(mode.wellBehaved), { cert, key });
  return { baseUrl: 'http://pets.invalid', watched, env: { HTTP_PROXY: watched.url }, caCert: cert };
}

/** Only two proxies know the name: there http and https have their default ports. */
async function redirectToTls(): Promise<Scene> {
  const scene = await tunnelled();
  const from = await redirector('https://pets.invalid/store/inventory');
  const env = { ...scene.env, HTTP_PROXY: from.url };
  return { ...scene, baseUrl: 'http://pets.invalid', others: [...(scene.others ?? []), from], env };
}

async function loopbackProxy(): Promise<Scene> {
  const service = await misbehave(always(mode.wellBehaved));
  const watched = await misbehave(always((exchange) => tunnel(exchange, service.port)));
  const env = { HTTP_PROXY: watched.url, http_proxy: watched.url };
  return { baseUrl: service.url, watched, others: [service], env };
}

async function exemptProxy(): Promise<Scene> {
  const watched = await misbehave(always(mode.wellBehaved));
  const env = { HTTP_PROXY: watched.url, NO_PROXY: 'example.com, .shop.invalid' };
  return { baseUrl: 'http://pets.shop.invalid', watched, env };
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
