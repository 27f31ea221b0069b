import { type Contract, requireOperation } from '../api/contract.ts';
import { type NamedNoun, type Noun, referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { Client } from '../client/client.ts';
import type { ClientPurpose, Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { Output } from '../output/printer.ts';
import { Names } from './names.ts';
import { createView, type NamedRecord, shownReference, withoutAmbiguous } from './record-fields.ts';

/** Access of a verb to the records of a noun. */
export interface RecordAccess {
  readonly context: Context;
  readonly client: Client;
  readonly noun: Noun;
  readonly names: Names;
  readonly operation: Operation;
}

type RecordVerb = keyof Noun['operations'];

/** Opens the access of a verb. @throws UsageError if the service does not offer its operation. */
export async function openAccess(
  context: Context,
  noun: Noun,
  verb: RecordVerb,
  purpose?: ClientPurpose,
): Promise<RecordAccess> {
  const operation = requireOperationFor(await context.contract(), noun, verb);
  const client = await context.client(purpose);
  return { context, client, noun, operation, names: new Names(context, client) };
}

/**
 * Returns the columns of the records that a verb prints. A table on a terminal shows the names of other records even without
 * `--fields`.
 *
 * @throws UsageError if the service does not offer the operation of the verb.
 */
export async function recordView(context: Context, noun: Noun, verb: RecordVerb): Promise<View<NamedRecord>> {
  const showsNames = context.printer.content === 'text' && context.io.stdout.isTerminal;
  return createView(noun, requireOperationFor(await context.contract(), noun, verb), showsNames);
}

/** Returns the operation of a verb. A service may have only the list, which then also gets single records. */
function requireOperationFor(contract: Contract, { operations }: Noun, verb: RecordVerb): Operation {
  const hasListOnly = !contract.operations.has(operations.get) && contract.operations.has(operations.list);
  return requireOperation(contract, operations[verb === 'get' && hasListOnly ? 'list' : verb]);
}

/** Returns the noun whose names are printed, such as pets in a list of orders. Returns undefined if no names are. */
function nounOfNames({ context, noun, operation }: RecordAccess): NamedNoun | undefined {
  const { field = '', column = '' } = shownReference(noun, operation) ?? {};
  return context.printer.shows(column) ? referenceFields[field] : undefined;
}

/** Begins to read the names that a view shows, at the same time as its records. */
export function beginNames(access: RecordAccess): void {
  const noun = nounOfNames(access);
  if (noun) void access.names.readList(noun);
}

/** Reads the names that a view shows, by id. Returns none if the view shows none. Never rejects. */
export async function readNames(access: RecordAccess): Promise<ReadonlyMap<bigint, string>> {
  const nameNoun = nounOfNames(access);
  if (!nameNoun) return new Map();
  const nameById = await access.names.readNamesById(nameNoun);
  const isCells = access.context.printer.content === 'cells';
  return nameNoun === 'categories' && isCells ? withoutAmbiguous(nameById) : nameById;
}

/** Adds to records the names of the records that they refer to. */
export function withNames(
  { noun }: RecordAccess,
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

/**
 * Returns the output of a command that names its records, with the names that they show.
 *
 * @param count how many it names; one is not a list.
 */
export async function recordsOutput(
  access: RecordAccess,
  records: readonly ServiceRecord[],
  count: number,
): Promise<Output> {
  const namedRecords = withNames(access, records, await readNames(access));
  const [record] = namedRecords;
  return record && count === 1 ? { kind: 'record', record } : { kind: 'list', pages: [namedRecords] };
}
