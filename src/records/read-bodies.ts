import * as v from 'valibot';
import { messageOf, UsageError } from '../errors.ts';
import type { InputRecord } from '../input/record.ts';
import type { Source } from '../input/source.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json.ts';
import type { BodySchema } from './noun.ts';

/** A record of a file, valid. */
export interface FileRecord {
  readonly fields: JsonObject;
  /** `pets.jsonl:3`, for errors. */
  readonly place: string;
  /** Whether it is part of a list, even of one, and no lone object. */
  readonly isListed: boolean;
}

/**
 * The records of a JSON object, a JSON array or JSON lines, one by one.
 *
 * @throws UsageError that names file, line and field, when it comes to a record that is not valid.
 */
export async function* readBodies(source: Source, schema: BodySchema): AsyncGenerator<FileRecord> {
  const { readRecords } = await import('../input/records.ts');
  const { bytes, startsWith } = sniff(source.bytes());
  const { batches } = await readRecords(bytes, { name: source.name, format: 'json' });
  let count = 0;
  for await (const batch of batches)
    for (const record of batch) {
      count += 1;
      const number = count === record.line ? '' : ` (record ${count})`;
      const place = `${source.name}:${record.line}${number}`;
      yield { fields: toFields(record, place, schema), place, isListed: count > 1 || startsWith('[') };
    }
}

function toFields({ text, problem }: InputRecord, place: string, schema: BodySchema): JsonObject {
  if (text === undefined) throw new UsageError(`${place}: ${problem ?? 'no record'}`);
  const fields = parse(text, place);
  const { output, issues } = v.safeParse(schema, fields);
  const problems = issues ? issues.map(problemOf) : negativeIds(output);
  if (problems.length > 0) throw new UsageError(`${place}: ${problems.join('; ')}`);
  // The schema drops fields that the program does not know; the service may know them.
  return { ...fields, ...(output as JsonObject) };
}

function parse(text: string, place: string): JsonObject {
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new UsageError(`${place}: not valid JSON: ${messageOf(error)}`);
  }
  throw new UsageError(`${place}: not a JSON object`);
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue) ?? 'record';
  return issue.input === undefined ? `${field} is required` : `${field} ${issue.message}`;
}

/** An answer may hold any int64 as an id, but what is sent may not. */
function negativeIds(output: Readonly<Record<string, unknown>>): string[] {
  const negative = Object.entries(output).filter(([, value]) => typeof value === 'bigint' && value < 0n);
  return negative.map(([field]) => `${field} must be an integer from 0 to 9223372036854775807`);
}

/** The bytes, and afterwards whether the first that is no space was this character. */
function sniff(bytes: AsyncIterable<Uint8Array>) {
  let head = '';
  async function* pass() {
    for await (const chunk of bytes) {
      if (head === '')
        head = Buffer.from(chunk)
          .toString('utf8')
          .replace(/^[\ufeff\s]+/, '')
          .slice(0, 1);
      yield chunk;
    }
  }
  return { bytes: pass(), startsWith: (character: string) => head === character };
}
