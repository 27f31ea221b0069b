import { offeredOperation } from '../api/contract.ts';
import { type NamedNoun, type Noun, type OperationId, referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { PreparedCommand } from '../output/printer.ts';
import { eachAtOnce } from '../process/deadline.ts';
import { CliError, InterruptedError, ManyError, UsageError } from '../process/errors.ts';
import { caseless, countCaseless } from '../process/text.ts';
import { Names } from './names.ts';
import { isIdText } from './parse-values.ts';
import { viewOf } from './record-fields.ts';

/** Access of a verb to the records of a noun. */
export interface Access {
  readonly context: Context;
  readonly client: Client;
  readonly noun: Noun;
  readonly names: Names;
  readonly operation: Operation;
  /** The columns in which the verb prints records. */
  readonly view: View<ServiceRecord>;
  /** The names of other records that the view shows. `addNames` adds them. */
  readonly nameById: Map<bigint, string>;
}

/**
 * Prepares a command that prints the records of an operation. A table on a terminal shows the names of other records even without
 * `--fields`.
 *
 * @throws UsageError if the service does not offer the operation.
 */
export async function prepareRecords(
  context: Context,
  noun: Noun,
  operationId: OperationId,
  work: (access: Access) => ReturnType<PreparedCommand['run']>,
  use: ClientUse = 'records',
): Promise<PreparedCommand & { readonly view: View<ServiceRecord> }> {
  const operation = offeredOperation(await context.contract(), operationId);
  const nameById = new Map<bigint, string>();
  const isOnTerminal = context.printer().content === 'text' && context.io.stdout.isTerminal;
  const view = viewOf(noun, operation, nameById, isOnTerminal);
  const run = async () => {
    const client = await context.client(use);
    return work({ context, client, noun, names: new Names(context, client), operation, view, nameById });
  };
  return { view, run };
}

/** Returns the noun whose names the view shows beside or in place of its own fields. Undefined if it shows none. */
function nounOfNames({ context, noun, view }: Access): NamedNoun | undefined {
  const { field = '', column = '' } = noun.reference ?? {};
  return context.printer().shows(view, column) ? referenceFields[field] : undefined;
}

/** Begins to read the names that a view shows, at the same time as its records. The names of a few pets are read after them. */
export function beginNames(access: Access, { isList }: { readonly isList: boolean }): void {
  const noun = nounOfNames(access);
  if (noun && (isList || noun === 'categories')) access.names.beginReading(noun);
}

/** Adds the names that a view shows: those for the records, or all. It never rejects. */
export async function addNames(access: Access, records?: readonly ServiceRecord[]): Promise<void> {
  const { context, names, noun, nameById } = access;
  const nameNoun = nounOfNames(access);
  // The list of categories is short, and no request reads only some of them.
  if (nameNoun === 'pets' && records) {
    for (const { fields } of records) {
      const id = fields[noun.reference?.field ?? ''];
      const name = typeof id === 'bigint' && !nameById.has(id) && (await names.nameOfPet(id));
      if (name) nameById.set(id as bigint, name);
    }
  } else if (nameNoun) {
    for (const [id, name] of await names.namesOf(nameNoun)) nameById.set(id, name);
    if (nameNoun === 'categories' && context.printer().content === 'cells') dropAmbiguous(nameById);
  }
}

/** Drops the names with which `--from` could not find the record: those of several records, and those that look like an id. */
function dropAmbiguous(nameById: Map<bigint, string>): void {
  const counts = countCaseless(nameById.values());
  for (const [id, name] of nameById)
    if (isIdText(name) || (counts.get(caseless(name)) ?? 0) > 1) nameById.delete(id);
}

/**
 * Reads items, several at a time, even if some fail. It leaves out undefined values.
 *
 * @param unit the plural of the items.
 * @returns the values, and the error, which is undefined if all items were read.
 */
export async function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value | undefined>,
  { unit, atOnce }: { readonly unit: string; readonly atOnce: number },
): Promise<{ readonly values: readonly Value[]; readonly error: CliError | undefined }> {
  const results: (Value | CliError | undefined)[] = [];
  await eachAtOnce(atOnce, items.entries(), async ([index, item]) => {
    results[index] = await read(item).catch((error: unknown) => {
      if (!(error instanceof CliError) || error instanceof InterruptedError || error instanceof UsageError)
        throw error;
      return error;
    });
  });
  const errors = results.filter((result) => result instanceof CliError);
  const values = results.filter((result) => result !== undefined && !(result instanceof CliError));
  return { values: values as Value[], error: joinErrors(errors, items.length, unit) };
}

/** Joins the errors of several items. The error of a single item stays as it is. Undefined if there are none. */
export function joinErrors(errors: readonly CliError[], total: number, unit: string): CliError | undefined {
  const [first] = errors;
  if (first === undefined || total === 1) return first;
  return new ManyError(`${errors.length} of ${total} ${unit} failed`, errors, total - errors.length);
}
