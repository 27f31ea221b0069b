import type { HttpFields } from '../../api/http.ts';

/** Fields by lower-case name from alternating names and values; a repeated name gets a list. */
export function readFields(raw: readonly string[]): HttpFields {
  const fields = noFields();
  for (let at = 0; at + 1 < raw.length; at += 2)
    addField(fields, (raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '');
  return fields;
}

/**
 * Reads the fields of successive answers. Most fields equal those of the previous answer, and their strings are reused:
 * comparing bytes takes a third of the time of decoding, which is a native call for each string.
 */
export class FieldReader {
  /** Alternating names and values of the last answer, and the names in lower case at the same indexes. */
  private readonly texts: string[] = [];
  private readonly names: string[] = [];

  /** @param raw alternating names and values. */
  read(raw: readonly Buffer[]): HttpFields {
    const fields = noFields();
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (this.renew(raw, at)) this.names[at] = (this.texts[at] ?? '').toLowerCase();
      this.renew(raw, at + 1);
      addField(fields, this.names[at] ?? '', this.texts[at + 1] ?? '');
    }
    return fields;
  }

  /** Updates the text at an index; returns false if it was up to date. */
  private renew(raw: readonly Buffer[], at: number): boolean {
    const bytes = raw[at];
    if (!bytes || isText(bytes, this.texts[at])) return false;
    this.texts[at] = bytes.toString('latin1');
    return true;
  }
}

type Fields = Record<string, string | string[]>;

/** Creates an object without a prototype, like `Object.create(null)`, but not in V8's slow dictionary mode. */
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
