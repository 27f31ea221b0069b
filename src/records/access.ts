import { offeredOperation } from '../api/contract.ts';
import { type NamedNoun, type Noun, type OperationId, referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { PreparedCommand } from '../output/printer.ts';
import { forEachConcurrently } from '../process/deadline.ts';
import { CliError, InterruptedError, ManyError, UsageError } from '../process/errors.ts';
import { caseless, countCaseless } from '../process/text.ts';
import { Names } from './names.ts';
import { createView, isIdText, type NamedRecord } from './record-fields.ts';

/** Access of a verb to the records of a noun. */
export interface Access {
  readonly context: Context;
  readonly client: Client;
  readonly noun: Noun;
  readonly names: Names;
  readonly operation: Operation;
}

/** Access of a verb that prints records. */
export interface PrintAccess extends Access {
  readonly view: View<NamedRecord>;
}

/** Opens the client for the operation of a verb. */
export async function openAccess(
  context: Context,
  noun: Noun,
  operation: Operation,
  use: ClientUse,
): Promise<Access> {
  const client = await context.client(use);
  return { context, client, noun, operation, names: new Names(context, client) };
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
  work: (access: PrintAccess) => ReturnType<PreparedCommand['run']>,
): Promise<PreparedCommand & { readonly view: View<NamedRecord> }> {
  const operation = offeredOperation(await context.contract(), operationId);
  const showsNames = context.printer().content === 'text' && context.io.stdout.isTerminal;
  const view = createView(noun, operation, showsNames);
  const run = async () => work({ ...(await openAccess(context, noun, operation, 'records')), view });
  return { view, run };
}

/** Returns the noun whose names the view shows beside or in place of its own fields, if it shows any. */
function nounOfNames({ context, noun, view }: PrintAccess): NamedNoun | undefined {
  const { field = '', column = '' } = noun.reference ?? {};
  return context.printer().shows(view, column) ? referenceFields[field] : undefined;
}

/** Begins to read the names that a view shows, at the same time as its records. The names of a few pets are read after them. */
export function beginNames(access: PrintAccess, { isList }: { readonly isList: boolean }): void {
  const noun = nounOfNames(access);
  if (noun && (isList || noun === 'categories')) access.names.beginReading(noun);
}

/** Reads the names that a view shows, by id: those for the records, or all. Returns none if the view shows none. It never rejects. */
export async function readNames(
  access: PrintAccess,
  records?: readonly ServiceRecord[],
): Promise<ReadonlyMap<bigint, string>> {
  const { context, names, noun } = access;
  const nameNoun = nounOfNames(access);
  if (!nameNoun) return new Map();
  // The list of categories is short, and no request reads only some of them.
  if (nameNoun === 'categories' || !records) {
    const all = await names.readNamesById(nameNoun);
    return nameNoun === 'categories' && context.printer().content === 'cells' ? withoutAmbiguous(all) : all;
  }
  const nameById = new Map<bigint, string>();
  for (const { fields } of records) {
    const id = fields[noun.reference?.field ?? ''];
    const name = typeof id === 'bigint' && !nameById.has(id) && (await names.readPetName(id));
    if (name) nameById.set(id as bigint, name);
  }
  return nameById;
}

/** Adds to records the names of the records that they refer to. */
export function withNames(
  { noun }: Access,
  records: readonly ServiceRecord[],
  nameById: ReadonlyMap<bigint, string>,
): readonly NamedRecord[] {
  if (nameById.size === 0) return records;
  const field = noun.reference?.field ?? '';
  return records.map(({ fields, original }) => ({
    fields,
    original,
    referenceName: nameById.get(fields[field] as bigint),
  }));
}

/** Leaves out the names with which `--from` could not find the record: a name of several records, or one that looks like an id. */
function withoutAmbiguous(nameById: ReadonlyMap<bigint, string>): ReadonlyMap<bigint, string> {
  const counts = countCaseless(nameById.values());
  return new Map([...nameById].filter(([, name]) => !isIdText(name) && counts.get(caseless(name)) === 1));
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
  { unit, concurrency }: { readonly unit: string; readonly concurrency: number },
): Promise<{ readonly values: readonly Value[]; readonly error: CliError | undefined }> {
  const results: (Value | CliError | undefined)[] = [];
  await forEachConcurrently(concurrency, items.entries(), async ([index, item]) => {
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

/** Joins the errors of several items. The error of a single item stays as it is. Returns undefined if there are none. */
export function joinErrors(errors: readonly CliError[], total: number, unit: string): CliError | undefined {
  const [first] = errors;
  if (first === undefined || total === 1) return first;
  return new ManyError(`${errors.length} of ${total} ${unit} failed`, errors, total - errors.length);
}
