import { gzipSync } from 'node:zlib';
import {
  type Answer,
  answer,
  answerJson,
  type Exchange,
  type Script,
} from '../helpers/misbehaving-server.ts';

/** Answers the requests of the cases as a well-behaved service does. */
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
export function always(act: (exchange: Exchange) => void): Script {
  return { onRequest: act };
}

/** Misbehaves for the first `count` requests, then behaves. */
export function first(count: number, act: (exchange: Exchange) => void): Script {
  return { onRequest: (exchange) => (exchange.number <= count ? act(exchange) : wellBehaved(exchange)) };
}

/** Accepts a connection and says nothing. */
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

export function gzipBomb(exchange: Exchange): void {
  const fields = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  answer(exchange, { fields, body: bomb() });
}

let compressed: Buffer | undefined;
/** 100 MiB of spaces in 100 KiB. */
function bomb(): Buffer {
  compressed ??= gzipSync(Buffer.alloc(100 << 20, ' '));
  return compressed;
}

export function html(status: number) {
  return (exchange: Exchange): void =>
    answer(exchange, {
      status,
      fields: { 'content-type': 'text/html; charset=utf-8' },
      body: `<html><head><title>Sign in</title></head>\n<body>\u001b[31mPlease sign in to the Wi-Fi${'.'.repeat(500)}</body></html>`,
    });
}
