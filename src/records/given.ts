import type { Operation } from '../api/operations.ts';
import { type CategoryReference, categoryFields, offersField, takesCategoryObject } from '../api/shapes.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { resolveReferences } from './names.ts';
import type { Body, EditableNoun } from './noun.ts';
import { jsonOrText } from './values.ts';

/**
 * The fields of `--field name=value`; the value is JSON if it parses, else text.
 *
 * @throws UsageError for a field that has a flag of its own.
 */
export function readExtraFields<Row>(noun: EditableNoun<Row>, given: readonly string[] = []): Body {
  const fields: Record<string, unknown> = {};
  for (const text of given) {
    const at = text.indexOf('=');
    const name = text.slice(0, at).trim();
    if (at < 1 || name === '') throw new UsageError(`--field '${text}': must be name=value`);
    const own = noun.fields.find((field) => field.name === name || field.column === name);
    if (own) throw new UsageError(`--field '${text}': ${name} has a flag of its own`, `give ${own.flag}`);
    if (name === 'id') throw new UsageError(`--field '${text}': the id of a record cannot be given`);
    fields[name] = jsonOrText(text.slice(at + 1));
  }
  return fields;
}

/** @throws UsageError for a field that the body of an operation does not have. */
export function refuseForeignFields<Row>(operation: Operation, noun: EditableNoun<Row>, given: Body): void {
  for (const name of Object.keys(given)) {
    const isBound = operation.source === 'bound';
    if (isBound ? offersField(operation, name) : Object.hasOwn(noun.schema.entries, name)) continue;
    const flag = noun.fields.find((field) => field.name === name)?.flag ?? `--field ${name}`;
    throw new UsageError(
      `${flag}: ${operation.id} of the service has no field ${name}`,
      'see `petstore api operations`',
    );
  }
}

/** Says which fields of a file are sent although neither the program nor the description knows them. */
export async function noteUnknownFields<Row>(
  context: Context,
  { schema, many }: EditableNoun<Row>,
  { body }: Operation,
  names: ReadonlySet<string>,
): Promise<void> {
  const { bounds = {}, required = [], fields = {} } = body ?? {};
  const isKnown = (name: string) =>
    [schema.entries, bounds, fields].some((known) => Object.hasOwn(known, name)) || required.includes(name);
  const unknown = [...names].filter((name) => !isKnown(name));
  if (unknown.length > 0)
    await context.note(`note: ${many} have no such fields, they are sent as they are: ${unknown.join(', ')}`);
}

/** The fields without those whose flags were not given. */
export function withoutAbsent(fields: Body): Body {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * The fields in the form that the operation expects: names replaced by ids, and a category as an object if the bound
 * service has it so. If the service has no list of categories, it gets the name.
 */
export async function toBodyFields(
  context: Context,
  client: Client,
  operation: Operation,
  given: Body,
): Promise<Body> {
  const isUnlisted = takesCategoryObject(operation) && !client.contract.operations.has('listCategories');
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(await resolveReferences(context, client, given, isUnlisted))) {
    const category = name !== 'categoryId' ? {} : typeof value === 'string' ? { name: value } : { id: value };
    if (name === 'categoryId')
      Object.assign(fields, categoryFields(operation, category as CategoryReference));
    else fields[name] = value;
  }
  return fields;
}
