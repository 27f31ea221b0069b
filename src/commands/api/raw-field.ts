import type { Operation } from '../../api/contract.ts';
import { fieldTypes } from '../../api/schemas.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../json.ts';

/** One `-f`. */
export interface RawField {
  readonly key: string;
  readonly text: string;
  /** Written with `:=`: the text is JSON. */
  readonly isJson: boolean;
}

/** @throws UsageError for what is neither `key=value` nor `key:=json`. */
export function readField(written: string): RawField {
  const [, key, colon, text] = /^([^=]*?)(:?)=(.*)$/s.exec(written) ?? [];
  if (key === undefined || key === '' || text === undefined)
    throw new UsageError(`-f ${written}: must be key=value, or key:=json`);
  return { key, text, isJson: colon === ':' };
}

/**
 * The fields as one JSON object, each of the type that the operation gives it.
 *
 * @throws UsageError for JSON that does not parse, or a value that is not of that type.
 */
export function toBody(fields: readonly RawField[], operation: Operation | undefined): JsonObject {
  const types = operation?.body ? fieldTypes(operation.body.name) : new Map<string, string>();
  const bounds = operation?.body?.bounds ?? {};
  return Object.fromEntries(
    fields.map((field) => [field.key, toValue(field, types.get(field.key) ?? bounds[field.key]?.type)]),
  );
}

function toValue(field: RawField, type: string | undefined): JsonValue {
  const { text, isJson } = field;
  if (isJson) return parse(field);
  if (type === 'string') return text;
  if (/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(text)) return parse(field);
  return text;
}

function parse({ key, text, isJson }: RawField): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UsageError(`-f ${key}${isJson ? ':=' : '='}${text}: ${messageOf(error)}`);
  }
}
