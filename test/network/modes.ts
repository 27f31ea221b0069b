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

type Act = (exchange: Exchange) => void;

export function wellBehaved(exchange: Exchange, more: Answer = {}): void {
  const { method, target } = exchange.request;
  const [path = ''] = target.replace(/^https?:\/\/[^/]+/, '').split('?');
  if (method === 'DELETE') answer(exchange, { ...more, status: 204 });
  else if (path === '/store/inventory') answerJson(exchange, [item], more);
  else if (path === '/categories' && method === 'POST')
    answerJson(exchange, category, { status: 201, ...more });
  else answerJson(exchange, item, more);
}

const item = { petId: 1, quantity: 5, status: 'available' };
const category = { id: 7, name: 'Dogs' };

/** Answers every request this way. */
export function always(act: Act): Script {
  return { onRequest: act };
}

/** Misbehaves for the first `count` requests, then behaves. */
export function first(count: number, act: Act): Script {
  return { onRequest: (exchange) => (exchange.number <= count ? act(exchange) : wellBehaved(exchange)) };
}

export const accept: Script = { onConnection: () => true };

/** Reads the request and never answers. */
export function silence(): void {}

export function reset({ socket }: Exchange): void {
  socket.resetAndDestroy();
}

/** Closes the connection normally, but before an answer. */
export function hangUp({ socket }: Exchange): void {
  socket.end();
}

/** Sends a byte of the answer's head every 200 ms, without end. */
export function dripHead({ socket }: Exchange): void {
  drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ');
}

/** Sends the whole head, then a byte of the body every 200 ms, without end. */
export function dripBody({ socket }: Exchange): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n[');
  drip(socket, '');
}

/** The command reads the count before it writes. */
export function dripPut(exchange: Exchange): void {
  if (exchange.request.method === 'GET') answerJson(exchange, { ...item, quantity: 3 });
  else dripBody(exchange);
}

function drip(socket: Exchange['socket'], head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(' '), 200);
  socket.on('close', () => clearInterval(timer));
}

export function shortBody({ socket }: Exchange): void {
  socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[{"petId":1');
}

/** Sends valid JSON without the last chunk, so there may be more. */
export function shortChunks({ socket }: Exchange): void {
  socket.end(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n',
  );
}

/** Sends a body that never ends. */
export function endless(status: number) {
  return ({ socket }: Exchange): void => {
    socket.write(`HTTP/1.1 ${status} Whatever\r\ncontent-type: application/json\r\n\r\n[`);
    const chunk = Buffer.alloc(1 << 20, ' ');
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  };
}

export function html(status: number) {
  return (exchange: Exchange): void =>
    answer(exchange, {
      status,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: `<html><head><title>Sign in</title></head>\n<body>\u001b[31mPlease sign in to the Wi-Fi${'.'.repeat(500)}</body></html>`,
    });
}

/** The servers and the settings of a case. */
export interface Setup {
  readonly baseUrl: string;
  /** The server whose log the case checks. */
  readonly watched: MisbehavingServer;
  readonly others?: readonly MisbehavingServer[];
  readonly env?: Readonly<Record<string, string>>;
  /** PEM, for the setting ca-cert. */
  readonly caCert?: string;
  readonly clientCert?: { readonly cert: string; readonly key: string };
}

export async function openOne(script: Script): Promise<Setup> {
  const watched = await misbehave(script);
  return { baseUrl: watched.url, watched };
}

/** Misbehaves for the first request, then behaves. */
export function once(act: Act): Script {
  return first(1, act);
}

export function answers(all: Answer): Script {
  return always((exchange) => answer(exchange, all));
}

export function answersJson(body: unknown, more: Answer = {}): Script {
  return always((exchange) => answerJson(exchange, body, more));
}

export function status(code: number): Script {
  return always(statusAct(code));
}

export function statusAct(code: number, headers: Readonly<Record<string, string>> = {}): Act {
  return (exchange) => answer(exchange, { status: code, headers });
}

export function waiting(code: number, retryAfter: string): Act {
  return statusAct(code, { 'retry-after': retryAfter });
}

export function movedTo(code: number, location: string): Act {
  return statusAct(code, { location });
}

/** The start of the head of an answer in HTTP/1.1, with JSON. */
export function head(statusLine: string): string {
  return `HTTP/1.1 ${statusLine}\r\ncontent-type: application/json\r\n`;
}

export function writesOn(text: string): Script {
  return always(({ socket }) => void socket.write(text));
}

/** Writes this and closes the connection. */
export function writes(text: string): Script {
  return always(({ socket }) => void socket.end(text));
}

export function redirectOnAndOn(exchange: Exchange): void {
  answer(exchange, { status: 302, headers: { location: `/store/inventory?${exchange.number}` } });
}

export function sendTooMuch(exchange: Exchange): void {
  answerJson(exchange, []);
  exchange.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nextra');
}

export function resetFirst(): Script {
  let connections = 0;
  return {
    onConnection(socket) {
      connections += 1;
      if (connections === 1) socket.resetAndDestroy();
      return connections === 1;
    },
    onRequest: wellBehaved,
  };
}

export async function tlsStall(): Promise<Setup> {
  const watched = await misbehave(accept);
  return { baseUrl: `https://127.0.0.1:${watched.port}`, watched };
}

export async function plainForTls(): Promise<Setup> {
  const watched = await misbehave({
    onConnection(socket) {
      socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return true;
    },
  });
  return { baseUrl: `https://127.0.0.1:${watched.port}`, watched };
}

/** A setup whose watched server is asked for nothing. */
export function unasked(baseUrl: string, env: Readonly<Record<string, string>> = {}): () => Promise<Setup> {
  return async () => ({ baseUrl, env, watched: await misbehave({}) });
}

export async function redirectElsewhere(): Promise<Setup> {
  const watched = await misbehave(always(wellBehaved));
  const from = await misbehave(always(movedTo(302, `${watched.url}/x`)));
  return { baseUrl: from.url, watched, others: [from] };
}

export function strangeHeaders({ socket }: Exchange): void {
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
  /** Whether the program trusts it. */
  readonly trusted?: true;
  readonly days?: number;
  readonly host?: string;
  readonly client?: true;
}

export function secure({ trusted, days = 30, host, client }: Security): () => Promise<Setup> {
  return async () => {
    const { cert, key } = await makeCertificate(days, host);
    const clientCert = await makeCertificate(30, 'client.example');
    const asking = client ? { requestCert: true, rejectUnauthorized: true, ca: clientCert.cert } : {};
    const watched = await misbehave(always(wellBehaved), { cert, key, ...asking });
    const caCert = trusted && { caCert: cert };
    return { baseUrl: watched.url, watched, ...caCert, ...(client && { clientCert }) };
  };
}

/** A service that can be reached only through a proxy. */
export function proxied(scheme: 'http' | 'https', script: Script): () => Promise<Setup> {
  return async () => {
    const watched = await misbehave(script);
    const env = { [`${scheme.toUpperCase()}_PROXY`]: `http://user:s3cret-word@127.0.0.1:${watched.port}` };
    return { baseUrl: `${scheme}://pets.invalid`, watched, env };
  };
}

/** A TLS service under a name that only the proxy knows. */
export async function tunnelled(): Promise<Setup> {
  const { cert, key } = await makeCertificate(30, 'pets.invalid');
  const watched = await misbehave(always(wellBehaved), { cert, key });
  const proxy = await misbehave(always((exchange) => tunnel(exchange, watched.port)));
  const env = { HTTPS_PROXY: proxy.url };
  return { baseUrl: 'https://pets.invalid', watched, others: [proxy], env, caCert: cert };
}

/** A proxy that speaks TLS itself leads to http by a tunnel too. */
export async function secureProxy(): Promise<Setup> {
  const { cert, key } = await makeCertificate(30);
  const watched = await misbehave(always(wellBehaved));
  const proxy = await misbehave(
    always((exchange) => tunnel(exchange, watched.port)),
    { cert, key },
  );
  const env = { HTTP_PROXY: proxy.url };
  return { baseUrl: 'http://pets.invalid', watched, others: [proxy], env, caCert: cert };
}
