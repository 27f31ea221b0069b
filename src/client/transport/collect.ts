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
export function toFields(raw: readonly string[]): HttpFields {
  const fields = new (FieldMap as unknown as new () => Record<string, string | string[]>)();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1] ?? '';
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (typeof before === 'string') fields[name] = [before, value];
    else before.push(value);
  }
  return fields;
}

/** Makes an object that has no name before one is set, as `Object.create(null)` does, but none that V8 keeps as a slow dictionary. */
function FieldMap() {}
FieldMap.prototype = Object.create(null);

/** Reads the fields of one answer after the other: most are those of the last, and are not decoded again. */
export class FieldReader {
  #raw: readonly Uint8Array[] = [];
  #texts: readonly string[] = [];

  read(raw: readonly Buffer[]): HttpFields {
    const texts = raw.map((bytes, at) => {
      const before = this.#raw[at];
      return before && bytes.equals(before) ? (this.#texts[at] ?? '') : bytes.toString('latin1');
    });
    this.#raw = raw;
    this.#texts = texts;
    return toFields(texts);
  }
}
