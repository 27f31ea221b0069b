import * as v from 'valibot';
import { takesField } from '../api/contract.ts';
import { type Operation, operations } from '../api/operations.ts';
import { bodySchemas } from '../api/schemas.ts';
import { idRequirement } from '../api/values.ts';
import { FieldError, UsageError } from '../process/errors.ts';
import type { Access } from './access.ts';
import { jsonOrText } from './parse-values.ts';
import { type Body, columnOf, findField, flagOf, type RecordNoun } from './record-nouns.ts';

/** The input of a create or an update: fields by their flags, or a file of records. */
export interface RecordFlags {
  readonly from?: string | undefined;
  /** `--field name=value`. */
  readonly field?: readonly string[] | undefined;
  /** The values of the flags, by the column of the field; undefined for a missing flag. A name may stand for an id. */
  readonly values: Body;
}

/** The fields that the flags give. */
export function flagFields({ fields }: RecordNoun, values: Body): Body {
  const named = fields.map((field) => [field.name, values[columnOf(field)]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/**
 * The fields of `--field name=value`; the value is JSON if it parses, else text.
 *
 * @throws UsageError for a field that has its own flag.
 */
export function extraFields(noun: RecordNoun, texts: RecordFlags['field'] = []): Body {
  const fields: Record<string, unknown> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = text.slice(0, at).trim();
    if (at < 1 || name === '') throw new UsageError(`--field '${text}': must be name=value`);
    const field = findField(noun, name);
    if (field) throw new UsageError(`--field '${text}': ${name} has its own flag`, `give ${flagOf(field)}`);
    fields[name] = jsonOrText(text.slice(at + 1));
  }
  return fields;
}

/** Checks fields from flags. @throws UsageError for a field that the body does not have, or an id that it does not need. */
export function checkOfferedFields({ operation, noun }: Access, body: Body): void {
  for (const name of Object.keys(body)) {
    if (name === 'id' && !(operation.method === 'POST' && takesField(operation, 'id')))
      throw new UsageError(`--field 'id=${body.id}': the id of a record cannot be given`);
    if (takesField(operation, name)) continue;
    const field = noun.fields.find((candidate) => candidate.name === name);
    throw new UsageError(
      `${field ? flagOf(field) : `--field ${name}`}: ${operation.id} of the service has no field ${name}`,
      'see `petstore api operations`',
    );
  }
}

/** Notes the fields of a file that neither the program nor the description knows. They are sent unchanged. */
export async function noteUnknownFields(
  { context, noun, operation }: Access,
  records: readonly { readonly fields: Body }[],
): Promise<void> {
  const knownNames = new Set([fieldSchemas(noun), operation.body?.fields ?? {}].flatMap(Object.keys));
  const unknown = new Set<string>();
  for (const record of records)
    for (const name of Object.keys(record.fields)) if (!knownNames.has(name)) unknown.add(name);
  if (unknown.size > 0)
    await context.warn(
      `note: ${noun.plural} have no such fields, they are sent as they are: ${[...unknown].join(', ')}`,
    );
}

/** The schemas of the fields in the body of a new record. */
export function fieldSchemas({ operations: { create } }: RecordNoun): v.ObjectEntries {
  const { body } = operations[create] as Operation;
  return body ? bodySchemas[body.name].entries : {};
}

/**
 * The fields with ids as bigints.
 *
 * @param missing the required fields that are missing.
 * @throws FieldError that names each field that is missing or wrong.
 */
export function checkFields(noun: RecordNoun, fields: Body, missing: readonly string[]): Body {
  const entries = fieldSchemas(noun);
  const { output, issues = [] } = v.safeParse(v.partial(v.object(entries)), fields);
  const problems = new Map(missing.map((name) => [name, `${name} is required`]));
  for (const issue of issues) {
    const path = v.getDotPath(issue) ?? 'record';
    problems.set(path, `${path} ${issue.message}`);
  }
  const values = issues.length > 0 ? {} : (output as Body);
  // An answer may hold any int64 as an id, but a request may not.
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'bigint' && value < 0n) problems.set(name, `${name} ${idRequirement}`);
  if (problems.size > 0) {
    const inOrder = [...new Set(['id', ...Object.keys(entries), ...problems.keys()])];
    const [first = ''] = inOrder.filter((name) => problems.has(name));
    throw new FieldError(inOrder.flatMap((name) => problems.get(name) ?? []).join('; '), first);
  }
  // The schema drops unknown fields.
  return { ...fields, ...values };
}
