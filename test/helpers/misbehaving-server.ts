import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { listenHere } from './listen.ts';

/** A request as it came in, byte for byte what the program sent. */
interface SeenRequest {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** 1 for the first connection. */
  readonly connection: number;
  readonly atMs: number;
}

/** One request that waits for what the script does to it. */
export interface Exchange {
  readonly request: SeenRequest;
  readonly socket: Socket;
  /** 1 for the first request of all. */
  readonly number: number;
  /** 1 for the first request on its connection. */
  readonly numberOnConnection: number;
}

/** How a server misbehaves. */
export interface Script {
  /** At each connection, before a byte is read; true to leave it at that. */
  onConnection?(socket: Socket): boolean;
  onRequest?(exchange: Exchange): void;
}

export interface MisbehavingServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: SeenRequest[];
  /** Connections that were accepted. */
  readonly connections: number;
  /** Most connections that were open at one time. */
  readonly mostOpen: number;
}

/** A server on a free port of this machine that does to every request what the script says, and keeps what it saw. */
export async function misbehave(script: Script, tls?: TlsOptions): Promise<MisbehavingServer> {
  const requests: SeenRequest[] = [];
  const open = new Set<Socket>();
  const counts = { connections: 0, mostOpen: 0 };
  const onSocket = (socket: Socket) => {
    counts.connections += 1;
    const connection = counts.connections;
    socket.on('error', () => {});
    if (script.onConnection?.(socket)) return;
    let numberOnConnection = 0;
    readRequests(socket, (request) => {
      const seen = { ...request, connection, atMs: performance.now() };
      requests.push(seen);
      numberOnConnection += 1;
      script.onRequest?.({ request: seen, socket, number: requests.length, numberOnConnection });
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

/** A whole answer, as a well-behaved server gives it. */
export function answer({ socket }: Exchange, { status = 200, headers = {}, body = '' }: Answer): void {
  const head = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`HTTP/1.1 ${status} Whatever\r\n${lines}\r\n`, 'latin1');
  socket.write(body);
}

/** A whole answer with a JSON body, which may be given as text. */
export function answerJson(exchange: Exchange, body: unknown, more: Answer = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  answer(exchange, { ...more, body: text, headers: { 'content-type': 'application/json', ...more.headers } });
}

/** Does what a proxy does for CONNECT: passes bytes on, whatever the host's name, to a port of this machine. */
export function tunnel({ socket }: Exchange, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.removeAllListeners('data');
    socket.pipe(upstream).pipe(socket);
  });
  upstream.on('error', () => socket.destroy());
}

/** Reads requests with a Content-Length off a socket, one after the other. */
function readRequests(
  socket: Socket,
  onRequest: (request: Omit<SeenRequest, 'connection' | 'atMs'>) => void,
): void {
  let read = '';
  socket.on('data', (chunk) => {
    read += chunk.toString('latin1');
    for (let end = read.indexOf('\r\n\r\n'); end !== -1; end = read.indexOf('\r\n\r\n')) {
      const [line = '', ...rest] = read.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        rest.map((each) => {
          const colon = each.indexOf(':');
          return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
        }),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (read.length < end + 4 + length) return;
      const body = Buffer.from(read.slice(end + 4, end + 4 + length), 'latin1').toString('utf8');
      read = read.slice(end + 4 + length);
      const [method = '', target = ''] = line.split(' ');
      onRequest({ method, target, headers, body });
    }
  });
}

async function closeAll(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}
