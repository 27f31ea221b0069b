import { gzipSync } from 'node:zlib';
import type { Script } from '../helpers/misbehaving-server.ts';
import * as mode from './modes.ts';
import { always } from './modes.ts';
import {
  answers,
  answersBytes,
  answersJson,
  exemptProxy,
  head,
  linkElsewhere,
  linkToItself,
  loopbackProxy,
  movedTo,
  once,
  openOne,
  plainForTls,
  proxied,
  redirectElsewhere,
  redirectOnAndOn,
  redirectToTls,
  resetFirst,
  type Scene,
  secure,
  secureProxy,
  sendTooMuch,
  status,
  statusAct,
  strangeHeaders,
  tlsStall,
  tunnelled,
  unasked,
  waiting,
  waitUntilDate,
  writes,
  writesOn,
} from './scenes.ts';

/** The request that the program sends: a list, a PUT, a POST or a DELETE. */
export type Ask = 'list' | 'set' | 'create' | 'delete';

interface Details {
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** The least time that the call takes, without the start of the process. */
  readonly minMs?: number;
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

const late: Ending = { timeoutMs: 1000, minMs: 900, spoilsProcess: true };
const unseen: Ending = { requests: 0 };
const twice: Ending = { requests: 2 };
const refused: Ending = { exit: 1 };
const again: Ending = { requests: 2, retries: 1 };
const unsent: Ending = { requests: 0, retries: 1 };
const unknownCa: Ending = { requests: 0, spoilsProcess: true };
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

/** Bodies of errors that are not those of the contract. */
const oddRefusals: readonly (readonly [
  number,
  exit: number,
  type: string,
  body: string | Buffer,
  says: RegExp,
])[] = [
  [
    422,
    1,
    'application/problem+json',
    '{"title":"Bad","detail":"quantity is odd"}',
    /quantity is odd \(PUT \S+: 422\)/,
  ],
  [
    409,
    1,
    'application/vnd.x+json',
    '{"errors":[{"message":"it is\\n taken"}]}',
    /it is taken \(PUT \S+: 409\)/,
  ],
  [403, 4, 'text/plain', 'Not\nyou\u001b[31m', /Not you\\x1b\[31m \(PUT \S+: 403\)/],
  [400, 1, 'application/json', Buffer.from([0xff, 0xfe, 0x00, 0x7b]), /answered 400 with application\/json/],
];

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
  row(
    'list',
    'listens on no port',
    unasked(closed),
    /error: 127\.0\.0\.1:\d+: connection refused \(GET http:/,
    unsent,
  ),
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
    /answered 429, with no reason given \(POST \S+: 429\)$/m,
  ),
  ...[408, 425, 502, 504].map((code) =>
    row('create', `answers ${code} to a POST with Retry-After`, always(waiting(code, '0')), /error: /),
  ),
  row('list', 'asks to wait a second', once(waiting(429, '1')), undefined, { requests: 2, minMs: 1000 }),
  row('list', 'asks to wait until a date', once(waitUntilDate), undefined, twice),
  row(
    'list',
    'asks to wait longer than the deadline allows',
    always(waiting(429, '3600')),
    /asks to wait 3600 s, longer than what is left of the deadline of 30 s/,
  ),
  row('list', 'sends an invalid Retry-After', once(waiting(503, 'soon')), undefined, twice),
  row(
    'list',
    'answers 503 after all retries',
    answersJson({ code: 'busy', message: 'too many pets', status: 503 }, { status: 503 }),
    /too many pets; after 3 attempts \(GET \S+: 503 busy\)/,
    { retries: 2, requests: 3 },
  ),

  // Error answers with any body.
  ...Object.entries(refusals).map(([code, exit]) => {
    const says = new RegExp(`^error: never on a Sunday \\(PUT \\S+/store/inventory/1: ${code} no\\)$`, 'm');
    return row('set', `refuses with ${code}`, answersJson(no, { status: Number(code) }), says, { exit });
  }),
  ...oddRefusals.map(([code, exit, type, body, says]) => {
    const answered = answers({ status: code, body, fields: { 'content-type': type } });
    return row('set', `refuses with ${type} of its own`, answered, says, { exit });
  }),
  row('set', 'refuses with nothing', status(404), /answered 404, with no reason given/, { exit: 5 }),
  row('set', 'refuses with an endless body', always(mode.endless(404)), /404/, { exit: 5 }),
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
  row('list', 'answers without end', always(mode.endless(200)), /longer than 32 MiB/, {
    spoilsProcess: true,
    timeoutMs: 20_000,
  }),
  row('list', 'answers compressed, unasked', answersBytes(gzip, gzipSync('[]'))),
  row('list', 'answers a gzip bomb', always(mode.gzipBomb), /longer than 32 MiB/, { timeoutMs: 20_000 }),
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
    { retries: 0, timeoutMs: 10_000 },
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
  row('list', 'redirects without end', always(redirectOnAndOn), /more than 5 times/, {
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
    'redirects a PUT',
    always(movedTo(308, '/x')),
    /\d\/x; a write is never redirected \(PUT \S+: 308\)$/m,
    refused,
  ),
  row(
    'create',
    'redirects a POST',
    always(movedTo(303, '/x')),
    /\d\/x; a write is never redirected; the request may or may not have been applied \(POST \S+: 303\)$/m,
    refused,
  ),
  row('list', 'redirects to nowhere', status(302), /names no target/, refused),
  row('list', 'links to itself as the next page', always(linkToItself), /next page repeats/),
  row('list', 'links to another origin', always(linkElsewhere), /another origin: http:\/\/127\.0\.0\.2:9\//),

  // TLS.
  row('list', 'shows a certificate that is trusted by ca-cert', secure({ trusted: true })),
  row(
    'list',
    'shows a self-signed certificate',
    secure({}),
    /TLS: .*self-signed[\s\S]*PETSTORE_CA_CERT/,
    unknownCa,
  ),
  row('list', 'shows an expired certificate', secure({ trusted: true, days: -1 }), /TLS: .*expired/, unseen),
  row(
    'list',
    'shows the certificate of another',
    secure({ trusted: true, host: 'a.example' }),
    /certificate is not for 127.0.0.1, but for a.example/,
    unseen,
  ),
  row('list', 'wants a client certificate, and gets it', secure({ trusted: true, client: 'shown' })),
  row(
    'list',
    'wants a client certificate, gets none',
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
    /closed the connection; after 2 attempts \(POST \S+\)$/m,
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
    /the proxy .* \(HTTPS_PROXY\) cannot be reached: \S+:\d+: connection refused/,
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
type Play = (scene: Scene, testCase: Case) => Promise<Pick<Result, 'exit' | 'text' | 'ms'>>;

/** Runs all cases, `atATime` of them together, because most of them wait. */
export async function runCases(
  cases: readonly Case[],
  atATime: number,
  play: Play,
): Promise<ReadonlyMap<Case, Result>> {
  const results = new Map<Case, Result>();
  const left = [...cases];
  const work = async () => {
    for (let testCase = left.shift(); testCase; testCase = left.shift())
      results.set(testCase, await runCase(testCase, play));
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}

async function runCase(testCase: Case, play: Play): Promise<Result> {
  const scene = await testCase.open();
  const { watched, others = [] } = scene;
  try {
    const outcome = await play(scene, testCase);
    return { ...outcome, requests: watched.requests.length };
  } finally {
    for (const server of [watched, ...others]) await server[Symbol.asyncDispose]();
  }
}
