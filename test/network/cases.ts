import { gzipSync } from 'node:zlib';
import type { Script } from '../helpers/misbehaving-server.ts';
import type { Setup } from './modes.ts';
import * as mode from './modes.ts';

/** The request that the program sends: a list, a PUT, a POST or a DELETE. */
export type Ask = 'list' | 'set' | 'create' | 'delete';

interface Details {
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** The least time that the call takes, without the start of the process. */
  readonly minMs?: number;
  /** Whether the case is also run in a process, which could hang, die, or write to a wrong stream. */
  readonly spoilsProcess?: true;
}

/** What a service does, and how the program ends that asks it. */
export interface Case extends Details {
  readonly ask: Ask;
  readonly name: string;
  readonly open: () => Promise<Setup>;
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

/** Makes the cases of one kind of request. */
function casesOf(ask: Ask) {
  return (
    name: string,
    service: Script | (() => Promise<Setup>),
    says?: RegExp,
    { exit = says ? 6 : 0, requests = 1, ...details }: Ending = {},
  ): Case => {
    const open = typeof service === 'function' ? service : () => mode.openOne(service);
    const [least, most] = typeof requests === 'number' ? [requests, requests] : requests;
    // An empty list is asked for once more, without the size of its pages.
    const range = [least, ask === 'list' && exit === 0 ? most + 1 : most] as const;
    return { ask, name, open, says, exit, requests: range, ...details };
  };
}

const list = casesOf('list');
const set = casesOf('set');
const create = casesOf('create');
const remove = casesOf('delete');

/** On a busy machine the second may be over before the request is sent. */
const timesOut: Ending = { timeoutMs: 1000, minMs: 900, spoilsProcess: true, requests: [0, 1] };
/** No server listens there. A port that was free a moment ago could be another case's by now. */
const closed = 'http://127.0.0.1:1';
const within = /within 1 s/;
const maybe = /may have been applied/;
const cut = /closed before the whole answer came/;
const notHttp = /invalid HTTP response/;
const twice: Ending = { requests: 2, retries: 1 };
const json = { 'content-type': 'application/json' };
const gzip = { ...json, 'content-encoding': 'gzip' };
const no = { code: 'no', message: 'never on a Sunday' };

/** The exit codes of a write that is refused. */
const refusals = { 400: 1, 401: 4, 403: 4, 404: 5, 409: 1, 410: 5, 412: 1, 418: 1, 422: 1, 501: 6 };

/** Bodies that are not lists of inventory entries. */
const invalid: readonly (readonly [what: string, body: string, says: RegExp])[] = [
  ['text that is not JSON', '[{"petId":1', /not valid JSON/],
  ['another shape', '[{"petId":"one","quantity":1,"status":"sold"}]', /\/0\/petId must be a whole number/],
  ['an object in place of a list', '{}', /not a list of InventoryItem/],
  ['nothing', '', /no body/],
];

export const cases: readonly Case[] = [
  // No answer, or one that comes too slowly.
  list('accepts and says nothing', mode.accept, within, { ...timesOut, requests: 0 }),
  list('reads the request and never answers', mode.always(mode.silence), within, timesOut),
  list('drips the head of its answer', mode.always(mode.dripHead), within, timesOut),
  list('drips the body of its answer', mode.always(mode.dripBody), within, timesOut),
  // A timer may end a millisecond early. Then there is time to send one more reading.
  set('drips an answer to a PUT', mode.always(mode.dripPut), maybe, {
    ...timesOut,
    requests: [1, 3],
    timeoutMs: 4000,
    minMs: 3900,
  }),
  list('stalls in TLS', mode.tlsStall, within, { ...timesOut, requests: 0 }),
  list('answers 503 until the deadline', mode.status(503), /the answer is 503|no answer within/, {
    requests: [2, 50],
    timeoutMs: 4000,
    retries: 49,
  }),

  // Connections that break.
  list('resets on accept, once', mode.resetFirst()),
  list('resets after the request, always', mode.always(mode.reset), /answer came; after 2 attempts/, {
    requests: 2,
    retries: 1,
  }),
  set('resets a PUT, once', mode.once(mode.reset), undefined, { requests: 2 }),
  remove('resets a DELETE, once', mode.once(mode.reset), undefined, { requests: 2 }),
  create('resets a POST that it has read', mode.always(mode.reset), maybe, { spoilsProcess: true }),
  list('hangs up before an answer', mode.once(mode.hangUp), undefined, { requests: 2 }),
  list('cuts the body short', mode.always(mode.shortBody), cut, { requests: 2, retries: 1 }),
  list('leaves out the last chunk', mode.always(mode.shortChunks), cut, { requests: 2, retries: 1 }),
  list('cuts an error short', mode.writes(`${mode.head('404 No')}content-length: 100\r\n\r\n{"code"`), /404/),
  list('listens on no port', mode.unasked(closed), /error: connection refused \(GET http:/, {
    requests: 0,
    retries: 1,
  }),
  create('refuses the connection of a POST', mode.unasked(closed), /refused/, { requests: 0, retries: 1 }),
  list(
    'has a name that does not exist',
    mode.unasked('http://nowhere.invalid'),
    /no such host: nowhere\.invalid|looked up/,
    { requests: 0, spoilsProcess: true },
  ),

  // Retries.
  ...[408, 425, 429, 500, 502, 503, 504].map((code) =>
    list(`answers ${code}, then behaves`, mode.once(mode.statusAct(code)), undefined, { requests: 2 }),
  ),
  set('answers 500 to a PUT, then behaves', mode.once(mode.statusAct(500)), undefined, { requests: 2 }),
  remove('answers 503 to a DELETE, then behaves', mode.once(mode.statusAct(503)), undefined, { requests: 2 }),
  create('answers 500 to a POST', mode.status(500), maybe),
  create('answers 503 to a POST', mode.status(503), maybe),
  create('answers 429 to a POST, then behaves', mode.once(mode.statusAct(429)), undefined, { requests: 2 }),
  create('answers 425 to a POST, then behaves', mode.once(mode.statusAct(425)), undefined, { requests: 2 }),
  list('asks to wait a second', mode.once(mode.waiting(429, '1')), undefined, { requests: 2, minMs: 1000 }),
  list(
    'answers 503 after all retries',
    mode.answersJson({ code: 'busy', message: 'too many pets', status: 503 }, { status: 503 }),
    /too many pets; after 3 attempts \(GET \S+: 503 busy\)/,
    { retries: 2, requests: 3 },
  ),

  // Error answers with any body.
  ...Object.entries(refusals).map(([code, exit]) => {
    const says = new RegExp(`^error: never on a Sunday \\(PUT \\S+/store/inventory/1: ${code} no\\)$`, 'm');
    return set(`refuses with ${code}`, mode.answersJson(no, { status: Number(code) }), says, { exit });
  }),
  set(
    'refuses with text of its own',
    mode.answers({ status: 403, body: 'Not\nyou\u001b[31m', headers: { 'content-type': 'text/plain' } }),
    /with text\/plain: Not you\\x1b\[31m; the request may have been .* \(PUT \S+: 403\)/,
  ),
  set(
    'refuses with bytes that are not text',
    mode.answers({ status: 400, body: Buffer.from([0xff, 0xfe, 0x00, 0x7b]), headers: json }),
    /the answer is 400 with application\/json/,
    { exit: 1 },
  ),
  set(
    'refuses with an empty message',
    mode.answersJson({ message: '' }, { status: 400 }),
    /the answer is 400 with application\/json: \{"message":""\} \(/,
    { exit: 1 },
  ),
  set('refuses with nothing', mode.status(404), maybe),
  set('refuses with an endless body', mode.always(mode.endless(404)), maybe),

  // Invalid answers.
  list(
    'answers 200 with a page',
    mode.always(mode.html(200)),
    /the answer is 200 with text\/html, not JSON: Sign in \(/,
  ),
  ...invalid.map(([what, body, says]) => list(`answers ${what}`, mode.answersJson(body), says)),
  list(
    'answers bytes that are not UTF-8',
    mode.answers({ headers: json, body: Buffer.from('["\xff"]', 'latin1') }),
    /not UTF-8/,
  ),
  list('answers without end', mode.always(mode.endless(200)), /longer than 32 MiB/, {
    spoilsProcess: true,
    timeoutMs: 100_000,
  }),
  list(
    'answers compressed, unasked',
    mode.answers({ headers: gzip, body: gzipSync('[]') }),
    /encoded as gzip, although no/,
  ),
  list(
    'answers an error compressed',
    mode.answers({ status: 422, headers: gzip, body: gzipSync('{"message":"x"}') }),
    /the answer is 422, with a body encoded as gzip/,
    { exit: 1 },
  ),
  list('does not speak HTTP', mode.writes('SSH-2.0-OpenSSH_9.2\r\n'), notHttp, twice),
  list(
    'answers with an alert of TLS',
    mode.writes('\x15\x03\x03\0\x02\x02\n'),
    /invalid HTTP response: /,
    twice,
  ),
  list(
    'switches to another protocol',
    mode.writesOn('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    /^error: /,
    { retries: 0, timeoutMs: 10_000 },
  ),
  list('sends more than its content-length', mode.always(mode.sendTooMuch)),
  list('ends its answer by closing, as HTTP/1.0 does', mode.writes(`${mode.head('200 OK')}\r\n[]`)),
  list(
    'gives two lengths',
    mode.writesOn(
      `${mode.head('200 OK')}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`,
    ),
    notHttp,
    twice,
  ),
  list(
    'sends a head without end',
    mode.writesOn(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
    notHttp,
    twice,
  ),
  list('sends early hints and strange headers first', mode.always(mode.strangeHeaders)),

  // Redirects and links.
  list('redirects within its origin', mode.once(mode.movedTo(307, '/store/inventory')), undefined, {
    requests: 2,
  }),
  list('redirects without end', mode.always(mode.redirectOnAndOn), /at most 5 are followed/, {
    exit: 1,
    requests: 6,
  }),
  list(
    'redirects to another origin',
    mode.redirectElsewhere,
    /redirect to http:\/\/127\.0\.0\.1:\d+\/x; only one to the same origin is followed/,
    { exit: 1, requests: 0 },
  ),
  set(
    'redirects a PUT',
    mode.always(mode.movedTo(308, '/x')),
    /\d\/x; only a GET is followed \(PUT \S+: 308\)$/m,
    { exit: 1 },
  ),
  create(
    'redirects a POST',
    mode.always(mode.movedTo(303, '/x')),
    /\d\/x; only a GET is followed; the request may have been applied \(POST \S+: 303\)$/m,
    { exit: 6 },
  ),
  list('redirects to nowhere', mode.status(302), /a redirect to no URL/, { exit: 1 }),

  // TLS.
  list('shows a certificate that is trusted by ca-cert', mode.secure({ trusted: true })),
  list('shows a self-signed certificate', mode.secure({}), /TLS: .*self-signed[\s\S]*PETSTORE_CA_CERT/, {
    requests: 0,
    spoilsProcess: true,
  }),
  list(
    'shows an expired certificate',
    mode.secure({ trusted: true, days: -1 }),
    /TLS: .*expired[\s\S]*\nhint: check the clock of this machine/,
    { requests: 0 },
  ),
  list(
    'shows the certificate of another',
    mode.secure({ trusted: true, host: 'a.example' }),
    /TLS: Hostname\/IP does not match certificate's altnames/,
    { requests: 0 },
  ),
  list('wants a client certificate, and gets it', mode.secure({ trusted: true, client: true })),
  list(
    'speaks plain http where TLS is expected',
    mode.plainForTls,
    /TLS: wrong version number \(GET .*\nhint: check whether the port expects http/,
    { requests: 0 },
  ),

  // Proxies. The services behind them do not exist: only the proxy can answer for them.
  list('is a proxy that forwards http', mode.proxied('http', mode.always(mode.wellBehaved))),
  list('is a proxy that tunnels to TLS', mode.tunnelled, undefined, { spoilsProcess: true }),
  list('is a proxy that speaks TLS itself', mode.secureProxy),
  list('is a proxy that says nothing', mode.proxied('http', mode.always(mode.silence)), within, timesOut),
  list(
    'is a proxy that says nothing to CONNECT',
    mode.proxied('https', mode.always(mode.silence)),
    within,
    timesOut,
  ),
  list(
    'is a proxy that drops CONNECT',
    mode.proxied('https', mode.always(mode.reset)),
    /the proxy http:\/\/\*\*\*@127\.0\.0\.1:\d+ \(HTTPS_PROXY\) /,
    { requests: [1, 2], spoilsProcess: true, retries: 1 },
  ),
  create(
    'is a proxy that drops the CONNECT of a POST',
    mode.proxied('https', mode.first(9, mode.hangUp)),
    /the connection was closed before an answer came \(POST \S+\)$/m,
  ),
  list(
    'is a proxy that has no way to the service',
    mode.proxied('https', mode.status(502)),
    /the proxy http:\/\/\S+ \(HTTPS_PROXY\) answered 502 \(GET /,
  ),
  list(
    'is not a proxy',
    mode.proxied('https', mode.writes('220 mail.example ESMTP\r\n\r\n')),
    /the proxy \S+ \(HTTPS_PROXY\) failed: invalid HTTP response/,
  ),
  list(
    'is behind a proxy that does not listen',
    mode.unasked('https://pets.invalid', { HTTPS_PROXY: closed }),
    /the proxy .* \(HTTPS_PROXY\) failed: connection refused/,
    { requests: 0 },
  ),
];

export interface Result {
  readonly exit: number | null;
  readonly text: string;
  /** The time of the call alone. */
  readonly ms: number;
  readonly requests: number;
}

type Play = (setup: Setup, testCase: Case) => Promise<Pick<Result, 'exit' | 'text' | 'ms'>>;

/** Runs all cases, `atATime` of them together, because most of them wait. */
export async function runCases(
  cases: readonly Case[],
  atATime: number,
  play: Play,
): Promise<ReadonlyMap<Case, Result>> {
  const results = new Map<Case, Result>();
  const queue = [...cases];
  const work = async () => {
    for (let testCase = queue.shift(); testCase; testCase = queue.shift())
      results.set(testCase, await runCase(testCase, play));
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}

async function runCase(testCase: Case, play: Play): Promise<Result> {
  const setup = await testCase.open();
  const { watched, others = [] } = setup;
  try {
    const outcome = await play(setup, testCase);
    return { ...outcome, requests: watched.requests.length };
  } finally {
    for (const server of [watched, ...others]) await server[Symbol.asyncDispose]();
  }
}
