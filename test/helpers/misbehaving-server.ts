import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { listenHere } from './listen.ts';

/** A request, byte for byte as the program sent it. */
interface RawRequest {
  readonly method: string;
  /** The target of the request line. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request for which the script decides. */
export interface Exchange {
  readonly request: RawRequest;
  readonly socket: Socket;
  readonly number: number;
  /** 1 for the first request on its connection. */
  readonly numberOnConnection: number;
}

/** How a server misbehaves. */
export interface Script {
  /** Called at each connection, before a byte is read. If it returns true, the server reads nothing. */
  onConnection?(socket: Socket): boolean;
  onRequest?(exchange: Exchange): void;
}

export interface MisbehavingServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: RawRequest[];
  readonly connections: number;
  /** The most connections that were open at one time. */
  readonly mostOpen: number;
}

/** Starts a server on a free port that runs the script for every request, and keeps the requests. */
export async function misbehave(script: Script, tls?: TlsOptions): Promise<MisbehavingServer> {
  const requests: RawRequest[] = [];
  const open = new Set<Socket>();
  const counts = { connections: 0, mostOpen: 0 };
  const onSocket = (socket: Socket) => {
    counts.connections += 1;
    socket.on('error', () => {});
    if (script.onConnection?.(socket)) return;
    let numberOnConnection = 0;
    readRequests(socket, (request) => {
      requests.push(request);
      numberOnConnection += 1;
      script.onRequest?.({ request, socket, number: requests.length, numberOnConnection });
    });
  };
  const server = tls ? createTlsServer(tls, onSocket) : createServer(onSocket);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    counts.mostOpen = Math.max(counts.mostOpen, open.size);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => {});
  const port = await listenHere(server);
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return counts.connections;
    },
    get mostOpen() {
      return counts.mostOpen;
    },
    [Symbol.asyncDispose]: () => closeAll(server, open),
  };
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Sends a whole answer, as a well-behaved server does. */
export function answer({ socket }: Exchange, { status = 200, headers = {}, body = '' }: Answer): void {
  const head = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`HTTP/1.1 ${status} Whatever\r\n${lines}\r\n`, 'latin1');
  socket.write(body);
}

/** Sends a whole answer with a JSON body. A text is sent as it is. */
export function answerJson(exchange: Exchange, body: unknown, more: Answer = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  answer(exchange, { ...more, body: text, headers: { 'content-type': 'application/json', ...more.headers } });
}

/** Answers CONNECT as a proxy does, and passes the bytes on to a port of this machine, whatever the host is. */
export function tunnel({ socket }: Exchange, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.removeAllListeners('data');
    socket.pipe(upstream).pipe(socket);
  });
  upstream.on('error', () => socket.destroy());
}

/** Reads requests with a Content-Length off a socket, one after the other. */
function readRequests(socket: Socket, onRequest: (request: RawRequest) => void): void {
  let unread = '';
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1');
    for (let end = unread.indexOf('\r\n\r\n'); end !== -1; end = unread.indexOf('\r\n\r\n')) {
      const [line = '', ...rest] = unread.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        rest.map((each) => {
          const colon = each.indexOf(':');
          return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
        }),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (unread.length < end + 4 + length) return;
      const body = Buffer.from(unread.slice(end + 4, end + 4 + length), 'latin1').toString('utf8');
      unread = unread.slice(end + 4 + length);
      const [method = '', target = ''] = line.split(' ');
      onRequest({ method, target, headers, body });
    }
  });
}

async function closeAll(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}
