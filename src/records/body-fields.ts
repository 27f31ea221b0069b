import * as v from 'valibot';
import { type Contract, fieldBounds, takesField } from '../api/contract.ts';
import { type NounName, type Operation, operations } from '../api/operations.ts';
import { type Bounds, bodySchemas } from '../api/schemas.ts';
import { idRequirement } from '../api/values.ts';
import { ValueError, wrongValueError } from '../config/setting-values.ts';
import { FieldError, messageOf, UsageError } from '../process/errors.ts';
import { parseJson } from '../process/exact-json.ts';
import type { Access } from './access.ts';
import { inForm, parseTyped, wordOf } from './parse-values.ts';
import { type Body, columnOf, findField, flagOf, type RecordNoun } from './record-nouns.ts';

/** The input of a create or an update: the values of flags, or a file of records. */
export interface RecordFlags {
  /** The texts of `--field`: `name=value`. */
  readonly fieldTexts?: readonly string[] | undefined;
  /** The values of the flags of fields, by column. Undefined for a flag that is not given. A name may stand for an id. */
  readonly values: Body;
}

/** Returns the fields whose flags are given. */
export function flagFields({ fields }: RecordNoun, values: Body): Body {
  const entries = fields.map((field) => [field.name, values[columnOf(field)]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Returns the fields of `--field name=value`, each as the description has it, and of `--field name:=value`, which is JSON.
 *
 * @throws UsageError for a field that has a flag, and for a value of another type.
 */
export function extraFields(
  { noun, operation }: Pick<Access, 'noun' | 'operation'>,
  texts: RecordFlags['fieldTexts'] = [],
): Body {
  const fields: Record<string, unknown> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const isJson = text[at - 1] === ':';
    const name = text.slice(0, isJson ? at - 1 : at).trim();
    if (at < 1 || name === '') throw new UsageError(`--field '${text}': must be name=value`);
    const field = findField(noun, name);
    if (field) throw new UsageError(`--field '${text}': ${name} has its own flag`, `give ${flagOf(field)}`);
    const value = text.slice(at + 1);
    try {
      fields[name] = isJson ? parseJson(value) : parseTyped(value, typeOfField(operation, name));
    } catch (error) {
      const why = error instanceof ValueError ? error.message : `must be JSON (${messageOf(error)})`;
      throw new UsageError(`--field '${text}': ${name} ${why}`);
    }
  }
  return fields;
}

/**
 * Checks fields of flags.
 *
 * @throws UsageError for a field that the body does not have, and for an id that it does not take.
 */
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

/** Returns the type that the description gives to a field of a body. Undefined if it states none. */
export function typeOfField({ body }: Operation, name: string): Bounds['type'] {
  return body && Object.hasOwn(body.fields, name) ? body.fields[name]?.bounds?.type : undefined;
}

/** Returns the schemas of the fields in the body of a new record. The words of a status and dates are the description's. */
export function fieldSchemas({ operations: { create }, fields }: RecordNoun): v.ObjectEntries {
  const { body } = operations[create] as Operation;
  const texts = fields.filter(({ kind }) => kind === 'status' || kind === 'date');
  const textSchemas = Object.fromEntries(texts.map(({ name }) => [name, v.string('must be a string')]));
  return body ? { ...bodySchemas[body.name].entries, ...textSchemas } : {};
}

/**
 * Checks fields against their schemas, and returns them with ids as bigints.
 *
 * @param missingNames the names of the required fields that are missing.
 * @throws FieldError that names each field that is missing or wrong.
 */
export function checkFields(
  { noun, client }: Pick<Access, 'noun' | 'client'>,
  fields: Body,
  missingNames: readonly string[],
): Body {
  const entries = fieldSchemas(noun);
  const { output, issues = [] } = v.safeParse(v.partial(v.object(entries)), fields);
  const problems = new Map(missingNames.map((name) => [name, `${name} is required`]));
  for (const issue of issues) {
    const path = v.getDotPath(issue) ?? 'record';
    problems.set(path, `${path} ${issue.message}`);
  }
  const values = issues.length > 0 ? {} : (output as Body);
  // The schema is that of answers, in which an id may be negative. In a request it may not.
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'bigint' && value < 0n) problems.set(name, `${name} ${idRequirement}`);
  if (problems.size > 0) {
    const names = [...new Set(['id', ...Object.keys(entries), ...problems.keys()])];
    const wrongNames = names.filter((name) => problems.has(name));
    const message = wrongNames.map((name) => problems.get(name)).join('; ');
    throw new FieldError(message, wrongNames[0] ?? '');
  }
  // The output of the schema lacks the fields that the schema does not have.
  return toServiceValues(client.contract, noun, { ...fields, ...values });
}

// The values of a field are the description's: the words of its enumeration, and a day or an instant.

/** Returns the words of a status in the order of the service. Undefined if the service lists none: then any word is one. */
export function statusWords(contract: Contract, noun: NounName): readonly string[] | undefined {
  return fieldBounds(contract, noun, 'status')?.enum;
}

/** Returns the service's spelling of words that people typed. @throws UsageError for a word that the service does not have. */
export function toStatusWords<Words extends readonly string[] | undefined>(
  contract: Contract,
  noun: NounName,
  words: Words,
): Words {
  const choices = statusWords(contract, noun);
  return words?.map((word) => {
    const { value = word, problem } = wordOf(word, choices);
    if (problem !== undefined) throw wrongValueError('--status', word, problem);
    return value;
  }) as Words;
}

/**
 * Writes the values of our fields as the service has them.
 *
 * @param isFlags whether the values are those of flags, which the error then names.
 * @throws UsageError, or FieldError for the fields of a file: a word or a date that the service does not have.
 */
export function toServiceValues(contract: Contract, noun: RecordNoun, body: Body, isFlags = false): Body {
  const values: Record<string, unknown> = { ...body };
  for (const field of noun.fields) {
    const { name, kind } = field;
    const text = values[name];
    if (typeof text !== 'string' || (kind !== 'status' && kind !== 'date')) continue;
    const bounds = fieldBounds(contract, noun.name, name);
    const { value = text, problem } = kind === 'status' ? wordOf(text, bounds?.enum) : inForm(text, bounds);
    if (problem === undefined) values[name] = value;
    else if (isFlags) throw wrongValueError(flagOf(field), text, problem);
    else throw new FieldError(`${name} ${problem}`, name);
  }
  return values;
}
