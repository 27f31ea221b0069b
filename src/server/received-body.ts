import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxBodyBytes, payloadTooLarge } from './refusal.ts';

/** Most milliseconds that a client gets to send the rest of a body that is refused, so that it can read why. */
const lingerMs = 1000;

export function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  );
}

interface BodyReader {
  whole(body: Uint8Array): void;
  tooLarge(): void;
}

/** Collects the body of a request, as far as it may go. */
export function receiveBody(request: IncomingMessage, { whole, tooLarge }: BodyReader): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
    tooLarge();
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const onEnd = () => whole(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBodyBytes) return;
    request.off('data', onData).off('end', onEnd);
    tooLarge();
  };
  request.on('data', onData).on('end', onEnd);
}

/**
 * Refuses a body while it is still coming. Ending the connection at once would reset it, and the client might never see
 * the answer: so the whole answer goes out, and what still comes is thrown away for a moment before the end.
 */
export function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  const { status, fields, body } = payloadTooLarge().toResponse();
  response.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  response.write(body);
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', end).once('close', end).resume();
}
