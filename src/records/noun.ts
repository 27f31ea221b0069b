import type { Input, ListId, OperationId, Result } from '../api/operations.ts';
import type { bodySchemas } from '../api/schemas.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import type { Prompt } from '../input/prompt.ts';
import type { View } from '../output/columns.ts';
import type { Named } from './names.ts';

/** One noun, as the verbs that all nouns share see it. */
export interface Noun<Row> {
  /** Such as `pet`, for `pet 3`. */
  readonly one: string;
  /** Such as `pets`, for `3 pets`. */
  readonly many: string;
  readonly list: ListId;
  /** The noun whose names can stand for its ids; undefined if only ids are accepted. */
  readonly named?: Named | undefined;
  /** The columns of its records. */
  readonly view: View<Row>;
  /** The view, with the data that its columns need from the service. Never rejects. */
  fillView(context: Context, client: Client, extent: 'list' | 'few'): Promise<FilledView<Row>>;
  /** The operations that can read a record; one of them suffices. */
  readonly reading: readonly [OperationId, ...OperationId[]];
  read(context: Context, client: Client, id: bigint, options?: CallOptions): Promise<Answer<Row>>;
  remove(id: bigint): Write<undefined>;
  /** The companion that is deleted together with a record, as a clause: `its inventory entry (3 in stock)`. */
  goesWith?(client: Client, id: bigint): Promise<string | undefined>;
  /** The words of the command that shows what prevents a record's deletion. */
  holders?(id: bigint): readonly string[];
  /** How people recognise a record, in addition to its id. */
  title(row: Row): string;
}

export interface FilledView<Row> {
  readonly view: View<Row>;
  /** A note for the user about the shown records. */
  readonly note?: string | undefined;
  /** Fetches the data that rows need before they are shown; returns a note as above. Never rejects. */
  prepare?(rows: readonly Row[]): Promise<string | undefined>;
}

/** A noun whose records are created and changed with a body. */
export interface EditableNoun<Row> extends Noun<Row> {
  readonly schema: BodySchema;
  readonly fields: readonly Field[];
  create(body: Body): Write<Row>;
  replace(id: bigint, body: Body, options?: CallOptions): Write<Row>;
}

export type BodySchema = (typeof bodySchemas)['NewPet' | 'NewCategory' | 'Order'];

/** The fields of a record in a request. */
export type Body = Readonly<Record<string, unknown>>;

/** A field of a body, and its names and parsers for the user. */
export interface Field {
  /** In the body. */
  readonly name: string;
  /** The column that shows it, if it has another name: `category` for `categoryId`. */
  readonly column?: string;
  readonly flag: string;
  /** It identifies one record: several records cannot get the same value. */
  readonly own?: true;
  /** Parses the text of a flag. @throws UsageError that begins with `what`. */
  parse(text: string, what: string): unknown;
  /** Asks the user; undefined if they leave it out. */
  ask(prompt: Prompt, client: Client): Promise<unknown>;
}

/** A request for one record as data; it can be sent or shown. */
export interface Write<Value> {
  readonly operationId: Exclude<OperationId, ListId>;
  readonly input: object;
  readonly options?: CallOptions | undefined;
  /** Exists only as a type: the content of the answer. */
  readonly answer?: Value;
}

export function toWrite<K extends Exclude<OperationId, ListId>>(
  operationId: K,
  input: Input<K>,
  options?: CallOptions,
): Write<Result<K>> {
  return { operationId, input, options };
}

const mostNamed = 20;

/** `pet 3 (Rex)`, or `2 pets: 3 (Rex), 4 (Mia)`. */
export function nameAll<Row>(
  { one, many }: Noun<Row>,
  ids: readonly bigint[],
  titles: ReadonlyMap<bigint, string> = new Map(),
): string {
  const names = ids.slice(0, mostNamed).map((id) => (titles.has(id) ? `${id} (${titles.get(id)})` : `${id}`));
  if (ids.length === 1) return `${one} ${names[0]}`;
  const more = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : '';
  return `${ids.length} ${many}: ${names.join(', ')}${more}`;
}
