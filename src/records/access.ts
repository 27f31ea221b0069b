import { offeredOperation } from '../api/contract.ts';
import { referenceFields } from '../api/nouns.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { caseless, countCaseless } from '../process/text.ts';
import { Names } from './names.ts';
import { isIdText } from './parse-values.ts';
import { type RecordNoun, viewOf } from './record-nouns.ts';

/** The access of one verb to the records of one noun at one service. */
export interface Access {
  readonly context: Context;
  readonly client: Client;
  readonly noun: RecordNoun;
  readonly names: Names;
  readonly operation: Operation;
}

/**
 * Opens the client.
 *
 * @throws UsageError if the service does not offer the operation.
 */
export async function openAccess(
  context: Context,
  noun: RecordNoun,
  operationId: OperationId,
  use: ClientUse = 'records',
): Promise<Access> {
  const operation = offeredOperation(await context.contract(), operationId);
  const client = await context.client(use);
  return { context, client, noun, names: new Names(context, client), operation };
}

/** A view whose columns may show the names of other records. */
interface NamedView {
  readonly view: View<JsonObject>;
  /** Waits for the name that a record shows, or without a record for all names. Never rejects. */
  readNames(record?: JsonObject): Promise<void>;
}

/**
 * Opens the view of a noun. A table on a terminal has the column of names even if the column is hidden elsewhere.
 *
 * @param isList whether all records are printed. If so, all names are read, and the reading begins at once.
 */
export async function openView(
  { context, names, noun, operation }: Access,
  isList: boolean,
): Promise<NamedView> {
  const nameById = new Map<bigint, string>();
  const { plural, columns } = viewOf(noun, operation, nameById);
  const printer = await context.printer();
  const { field = '', column: nameColumn = '' } = noun.reference ?? {};
  const isOnTerminal = printer.content === 'text' && context.io.stdout.isTerminal;
  const isShown = (name: string) => isOnTerminal && name === nameColumn;
  const shownColumns = columns.map(({ isHidden, ...column }) =>
    isHidden && !isShown(column.name) ? { ...column, isHidden } : column,
  );
  const view = { plural, columns: shownColumns };
  const referenceNoun = referenceFields[field];
  if (referenceNoun === undefined || !printer.shows(view, nameColumn))
    return { view, readNames: async () => {} };
  const readAll = async () => {
    for (const [id, name] of await names.namesOf(referenceNoun)) nameById.set(id, name);
    if (referenceNoun === 'categories' && printer.content === 'cells') dropAmbiguous(nameById);
  };
  // A service has few categories, and there is no request for some of them.
  if (isList || referenceNoun === 'categories') {
    const reading = readAll();
    return { view, readNames: () => reading };
  }
  return {
    view,
    async readNames({ [field]: id = null } = {}) {
      const name = typeof id === 'bigint' && !nameById.has(id) && (await names.nameOfPet(id));
      if (name) nameById.set(id as bigint, name);
    },
  };
}

/** Drops the names by which `--from` could not find the record: names of several records, and names that look like an id. */
function dropAmbiguous(nameById: Map<bigint, string>): void {
  const counts = countCaseless(nameById.values());
  for (const [id, name] of nameById)
    if (isIdText(name) || (counts.get(caseless(name)) ?? 0) > 1) nameById.delete(id);
}
