import type { HttpFields, HttpResponse, SendOptions } from '../../api/http.ts';
import { UnavailableError } from '../../errors.ts';
import { describeBytes } from '../body.ts';

/** Gathers an answer as a transport reads it, no longer than it may be. */
export class Collector {
  readonly status: number;
  readonly #fields: HttpFields;
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(status: number, fields: HttpFields, options: SendOptions) {
    this.status = status;
    this.#fields = fields;
    this.#maxBytes = options.maxBytes(status);
  }

  get isError(): boolean {
    return this.status >= 400;
  }

  /** False once the answer holds all that it may: the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    this.#length += chunk.length;
    if (this.#length <= this.#maxBytes) {
      this.#chunks.push(chunk);
      return true;
    }
    const kept = chunk.length - (this.#length - this.#maxBytes);
    if (kept > 0) this.#chunks.push(chunk.subarray(0, kept));
    return false;
  }

  /** The answer as far as it came. */
  response(): HttpResponse {
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    return { status: this.status, fields: this.#fields, body };
  }

  tooLong(): UnavailableError {
    return new UnavailableError(`the answer is longer than ${describeBytes(this.#maxBytes)}`, {
      reason: 'invalid-response',
      sent: true,
      status: this.status,
    });
  }
}

/** Fields by lower-case name from the names and values in turn; a name that came more than once has a list. */
export function toFields(raw: readonly (string | Uint8Array)[]): HttpFields {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = toLatin1(raw[at]).toLowerCase();
    const value = toLatin1(raw[at + 1]);
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (typeof before === 'string') fields[name] = [before, value];
    else before.push(value);
  }
  return fields;
}

function toLatin1(text: string | Uint8Array | undefined): string {
  if (typeof text !== 'object') return text ?? '';
  return (text instanceof Buffer ? text : Buffer.from(text)).toString('latin1');
}
