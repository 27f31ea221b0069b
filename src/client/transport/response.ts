import { type HttpHeaders, type HttpResponse, headerValue } from '../../api/http.ts';
import { bytesText } from '../../process/text.ts';
import { invalidResponse, transportError } from './transport-error.ts';

/** The largest body in bytes: 32 MiB (for a list, of one page), or 64 KiB of an error. */
function maxBytesOf(status: number): number {
  return status >= 200 && status < 300 ? 32 * 1024 * 1024 : 64 * 1024;
}

/** Collects the response to a request while a transport reads it, up to a maximum length. */
export class ResponseCollector {
  readonly response: Promise<HttpResponse>;
  private resolve!: (response: HttpResponse) => void;
  private reject!: (error: Error) => void;
  private head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  constructor() {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @param rawHeaders alternating names and values, as texts or in Latin-1. */
  begin(status: number, rawHeaders: readonly (string | Buffer)[]): void {
    this.head = { status, headers: readHeaders(rawHeaders) };
  }

  /** Adds a part of the body. @returns false if the response is now longer than allowed: the promise is settled, and the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    const { status = 0 } = this.head ?? {};
    const maxBytes = maxBytesOf(status);
    const room = maxBytes - this.length;
    this.length += chunk.length;
    this.chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk);
    if (chunk.length <= room) return true;
    this.fail(invalidResponse(`the answer is longer than ${bytesText(maxBytes)}`, { status }));
    return false;
  }

  /** Settles the promise by the response that has been read. An error whose body is compressed keeps its status and loses its body. */
  end(): void {
    if (!this.head) return;
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    const { status, headers } = this.head;
    const encoding = encodingOf(headers);
    if (encoding === undefined || body.length === 0) this.resolve({ status, headers, body });
    else if (status >= 300) this.resolve({ status, headers, body: new Uint8Array() });
    else this.fail(invalidResponse(`the body is encoded as ${encoding}, and none was asked for`, { status }));
  }

  /** Rejects the promise. A response with an error status fulfils it: a part of its body is enough for its message. */
  fail(error: Error): void {
    if (this.head && this.head.status >= 400) this.end();
    else this.reject(transportError(error, this.head?.status));
  }
}

/** Returns the content encoding of a body. Undefined if the body is plain. */
export function encodingOf(headers: HttpHeaders): string | undefined {
  const encoding = headerValue(headers, 'content-encoding')?.trim().toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}

/** Returns headers by lower-case name, from alternating names and values. A repeated name has a list of values. */
function readHeaders(raw: readonly (string | Buffer)[]): HttpHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = latin1(raw[index]).toLowerCase();
    const value = latin1(raw[index + 1]);
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

function latin1(text: string | Buffer = ''): string {
  return typeof text === 'string' ? text : text.toString('latin1');
}
