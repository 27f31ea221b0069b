import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { whileKillable } from '../process/io.ts';
import { secondsText } from '../process/text.ts';
import { runWithinTime } from '../process/within-time.ts';

// Limits, because the documents may be hostile.

/** The limit for parsing a document, and for resolving its references. */
const readingLimitMs = 10_000;
/** The limit for the size of one document. The largest public descriptions have a fraction of this size. */
export const maxBytes = 64 * 1024 * 1024;

/** Decodes the bytes of a document. @throws InputError if the bytes are too many, or are not UTF-8. */
export function decodeText(bytes: Uint8Array, label: string): string {
  if (bytes.length > maxBytes)
    throw new InputError(`description ${label}: is larger than ${maxBytes / 1024 / 1024} MiB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`description ${label}: is not UTF-8 text`);
  }
}

/**
 * Parses a JSON or YAML text that holds an object.
 *
 * @throws InputError for any other text, or if parsing takes too long.
 */
export async function parseDocument(text: string, label: string): Promise<JsonObject> {
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const parse = isJson ? parseJson : (await loadYaml()).parse;
  const value = readWithin(label, () => runParser(label, () => parse(text)));
  if (!isJsonObject(value)) throw new InputError(`description ${label}: is not an OpenAPI document`);
  return value;
}

/** Runs a parser and returns its value. @throws InputError if the parser rejects the document. */
export function runParser<Value>(label: string, work: () => Value): Value {
  try {
    return work();
  } catch (thrown) {
    const hint = thrown instanceof InputError ? thrown.details.hint : undefined;
    throw new InputError(`description ${label}: ${parserReason(thrown)}`, hint);
  }
}

function parserReason(thrown: unknown): string {
  if (thrown instanceof RangeError || /call stack/.test(messageOf(thrown)))
    return 'is nested too deeply, or refers to itself without end';
  return messageOf(thrown).split('\n')[0] ?? '';
}

/**
 * Runs synchronous work on a description, which may be hostile, and returns its value.
 *
 * @throws InputError if the work takes more than 10 s.
 * @throws InterruptedError on Ctrl-C.
 */
export function readWithin<Value>(label: string, work: () => Value): Value {
  const fail = () => {
    throw new InputError(
      `description ${label}: takes longer than ${secondsText(readingLimitMs)} to read`,
      'remove unrelated paths, or convert it to JSON',
    );
  };
  return whileKillable(() => runWithinTime(readingLimitMs, work, fail, { endsOnCtrlC: true }));
}
