import type { HttpFields, HttpResponse, SendOptions } from '../../api/http.ts';
import { UnavailableError } from '../../errors.ts';
import { describeBytes } from '../response.ts';

/** Gathers an answer as a transport reads it, no longer than it may be. */
export class Collector {
  readonly status: number;
  private readonly fields: HttpFields;
  private readonly maxBytes: number;
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  constructor(status: number, fields: HttpFields, options: SendOptions) {
    this.status = status;
    this.fields = fields;
    this.maxBytes = options.maxBytes(status);
  }

  get isError(): boolean {
    return this.status >= 400;
  }

  /** False once the answer holds all that it may: the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    this.length += chunk.length;
    if (this.length <= this.maxBytes) {
      this.chunks.push(chunk);
      return true;
    }
    const kept = chunk.length - (this.length - this.maxBytes);
    if (kept > 0) this.chunks.push(chunk.subarray(0, kept));
    return false;
  }

  /** The answer as far as it came. */
  response(): HttpResponse {
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    return { status: this.status, fields: this.fields, body };
  }

  tooLong(): UnavailableError {
    return new UnavailableError(`the answer is longer than ${describeBytes(this.maxBytes)}`, {
      reason: 'invalid-response',
      sent: true,
      status: this.status,
    });
  }
}

/** Fields by lower-case name from the names and values in turn; a name that came more than once has a list. */
export function toFields(raw: readonly string[]): HttpFields {
  const fields = noFields();
  for (let at = 0; at + 1 < raw.length; at += 2)
    addField(fields, (raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '');
  return fields;
}

/**
 * Reads the fields of one answer after the other. Most are those of the last, whose texts serve again: to compare bytes
 * takes a third of the time of decoding them, which is a call of native code for each.
 */
export class FieldReader {
  /** Names and values of the last answer in turn, as they came; and the names in lower case, at the same places. */
  private readonly texts: string[] = [];
  private readonly names: string[] = [];

  /** @param raw names and values in turn. */
  read(raw: readonly Buffer[]): HttpFields {
    const fields = noFields();
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (this.renew(raw, at)) this.names[at] = (this.texts[at] ?? '').toLowerCase();
      this.renew(raw, at + 1);
      addField(fields, this.names[at] ?? '', this.texts[at + 1] ?? '');
    }
    return fields;
  }

  /** Brings the text at a place up to date; false if it was. */
  private renew(raw: readonly Buffer[], at: number): boolean {
    const bytes = raw[at];
    if (!bytes || isText(bytes, this.texts[at])) return false;
    this.texts[at] = bytes.toString('latin1');
    return true;
  }
}

type Fields = Record<string, string | string[]>;

/** Makes an object that has no name before one is set, as `Object.create(null)` does, but none that V8 keeps as a slow dictionary. */
function FieldMap() {}
FieldMap.prototype = Object.create(null);

function noFields(): Fields {
  return new (FieldMap as unknown as new () => Fields)();
}

function addField(fields: Fields, name: string, value: string): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (typeof before === 'string') fields[name] = [before, value];
  else before.push(value);
}

function isText(bytes: Buffer, text: string | undefined): boolean {
  if (text?.length !== bytes.length) return false;
  for (let at = 0; at < bytes.length; at += 1) if (text.charCodeAt(at) !== bytes[at]) return false;
  return true;
}
