import { offeredOperation } from '../api/contract.ts';
import type { NamedNoun } from '../api/nouns.ts';
import type { ListId, Operation, OperationId } from '../api/operations.ts';
import type { bodySchemas } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import type { Prompt } from '../input/question.ts';
import type { Column, View } from '../output/columns.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { Names } from './names.ts';

// How the files of this folder fit together: a noun is data in a file of its own (`pets.ts`, `categories.ts`, `orders.ts`,
// `inventory.ts`), and a verb is a file that works for every noun (`list.ts`, `get.ts`, `create.ts`, `update.ts`,
// `edit-record.ts`, `delete.ts`). Flags become fields in `parse-values.ts` and `body-fields.ts`, records of a file in
// `record-layout.ts` and `from-file.ts`; `names.ts` finds the ids of names. `send-write.ts` sends one write and reads back
// what it did, `work.ts` does something for every item of a list, and `write.ts` joins them. `print-records.ts` adds the
// names of other records and prints. `watch.ts` and `overview.ts` show what they read again and again, or on one screen.

/** An operation on one record. */
export type RecordOperation = Exclude<OperationId, ListId>;

/** One noun as data, for the verbs that all nouns share. */
export interface RecordNoun<Entity> {
  /** The word for one record, such as `pet`. */
  readonly singular: string;
  /** The word for several records, such as `pets`. */
  readonly plural: string;
  readonly operations: {
    readonly list: ListId;
    readonly get: RecordOperation;
    readonly delete: RecordOperation;
  };
  /** The noun whose names can stand for its ids; undefined if only ids are accepted. */
  readonly named?: NamedNoun;
  /**
   * Makes the columns of its records, the id first.
   *
   * @param names the names that its `lookup` found, by id.
   */
  columns(names: ReadonlyMap<bigint, string>): readonly Column<Entity>[];
  readonly lookup?: Lookup<Entity>;
  /** Names what is deleted together with a record: `its inventory entry (3 in stock)`. */
  goesWith?(client: Client, id: bigint): Promise<string | undefined>;
  /** The words of the command that shows what prevents a record's deletion. */
  holders?(id: bigint): readonly string[];
  /** How people recognise a record, in addition to its id. */
  title(record: Entity): string;
}

/** The column that shows the names of other records. A table on a terminal has it even if the column is `extra`. */
interface Lookup<Entity> {
  readonly column: string;
  /** The noun of those records. */
  readonly noun: NamedNoun;
  idOf(record: Entity): bigint | null | undefined;
}

/** A noun whose records are created and changed with a body. */
export interface EditableNoun<Entity> extends RecordNoun<Entity> {
  readonly operations: RecordNoun<Entity>['operations'] & {
    readonly create: RecordOperation;
    readonly update: RecordOperation;
  };
  readonly schema: (typeof bodySchemas)['NewPet' | 'NewCategory' | 'Order'];
  readonly fields: readonly Field[];
}

/** The fields of a record in a request, by their names in the body. */
export type Body = Readonly<Record<string, unknown>>;

/** A field of a body, and its names and parsers for the user. */
export interface Field {
  /** The name in the body of a request. */
  readonly name: string;
  /** Its name as a column and a flag, if that is another one: `category` for `categoryId`. */
  readonly column?: string;
  /** It identifies one record: several records cannot have the same value. */
  readonly isUnique?: true;
  /** A person is asked for it although the service does not require it: a record without it makes no sense. */
  readonly isWanted?: true;
  /** Parses the text of a CSV cell; undefined if the text is the value. @throws UsageError that begins with `what`. */
  parse?(text: string, what: string): unknown;
  /** Asks the user for the value in a new record; undefined if they leave it out. A field without it is not asked for. */
  ask?(prompt: Prompt, names: Names): Promise<unknown>;
}

/** The field with this name, in the body or as a column. */
export function findField<Entity>({ fields }: EditableNoun<Entity>, name: string): Field | undefined {
  return fields.find((field) => field.name === name || field.column === name);
}

export function columnOf({ column, name }: Field): string {
  return column ?? name;
}

/** `--ship-date` for `shipDate`. */
export function flagOf(field: Field): string {
  return `--${columnOf(field).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * The view of a noun. Further fields of a bound service are columns that only `--fields` shows.
 *
 * @param operation whose records are shown; undefined for our fields alone.
 * @param names as for `columns`.
 */
export function viewOf<Entity>(
  { plural, columns }: RecordNoun<Entity>,
  operation?: Operation,
  names: ReadonlyMap<bigint, string> = new Map(),
): View<Entity> {
  const nounColumns = columns(names);
  const isFurther = (name: string) => nounColumns.every((column) => column.name !== name);
  const further = (operation?.records.furtherFields ?? []).filter(isFurther).map(
    (name): Column<Entity> => ({
      name,
      value: (record) => (record as JsonObject)[name],
      extra: true,
    }),
  );
  return { noun: plural, columns: [...nounColumns, ...further] };
}

const maxNamed = 20;

/** `pet 3 (Rex)`, or `2 pets: 3 (Rex), 4 (Mia)`. */
export function nameAll<Entity>(
  { singular, plural }: RecordNoun<Entity>,
  ids: readonly bigint[],
  titleOf: (id: bigint) => string | undefined = () => undefined,
): string {
  const names = ids.slice(0, maxNamed).map((id) => {
    const title = titleOf(id);
    return title === undefined ? `${id}` : `${id} (${title})`;
  });
  if (ids.length === 1) return `${singular} ${names[0]}`;
  const more = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : '';
  return `${ids.length} ${plural}: ${names.join(', ')}${more}`;
}

/** The records of one noun at one service, for one verb. */
export interface Access<Entity, Kind extends RecordNoun<Entity> = RecordNoun<Entity>> {
  readonly context: Context;
  readonly client: Client;
  readonly noun: Kind;
  /** The names of the service that the client calls. */
  readonly names: Names;
  /** The operation that the verb is about. */
  readonly operation: Operation;
}

/** Access for a create or an update. */
export type EditAccess<Entity> = Access<Entity, EditableNoun<Entity>>;

/**
 * Checks everything that can be wrong before the first request, and opens the client.
 *
 * @throws UsageError for a field to print that the noun lacks, or an operation that the service does not offer.
 */
export async function openAccess<Entity, Kind extends RecordNoun<Entity>>(
  context: Context,
  noun: Kind & RecordNoun<Entity>,
  operationId: OperationId,
  use: ClientUse = 'records',
): Promise<Access<Entity, Kind>> {
  const operation = offeredOperation(await context.contract(), operationId);
  await (await context.printer()).check(viewOf(noun, operation));
  const client = await context.client(use);
  return { context, client, noun, names: new Names(context, client), operation };
}
