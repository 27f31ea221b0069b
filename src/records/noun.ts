import type { Input, ListId, OperationId, Result } from '../api/operations.ts';
import type { bodySchemas } from '../api/schemas.ts';
import type { Answer, CallOptions, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import type { Prompt } from '../input/prompt.ts';
import type { View } from '../output/columns.ts';
import type { Named } from './names.ts';

/** What the verbs that all nouns share know of one noun. */
export interface Noun<Row> {
  /** As in `pet 3`. */
  readonly one: string;
  /** As in `3 pets`. */
  readonly many: string;
  readonly list: ListId;
  /** The noun whose names may stand for its ids; undefined if only digits do. */
  readonly named?: Named | undefined;
  /** What may be shown of its records. */
  readonly view: View<Row>;
  /** The same view with what its columns need from the service. Never rejects. */
  fillView(context: Context, client: Client, extent: 'list' | 'few'): Promise<FilledView<Row>>;
  /** Operations that a read needs, or instead of the first the second. */
  readonly reading: readonly [OperationId, ...OperationId[]];
  read(context: Context, client: Client, id: bigint, options?: CallOptions): Promise<Answer<Row>>;
  remove(id: bigint): Write<undefined>;
  /** What is deleted together with a record, as a clause: `its inventory entry (3 in stock)`. */
  goesWith?(client: Client, id: bigint): Promise<string | undefined>;
  /** The words of the command that shows what may keep a record from being deleted. */
  holders?(id: bigint): readonly string[];
  /** What a person knows a record by, beside its id. */
  title(row: Row): string;
}

export interface FilledView<Row> {
  readonly view: View<Row>;
  /** What a person should know about it when it is shown. */
  readonly note?: string | undefined;
  /** Fetches what rows need before they are shown; gives a note as above. Never rejects. */
  prepare?(rows: readonly Row[]): Promise<string | undefined>;
}

/** A noun whose records are made and changed by a body. */
export interface EditableNoun<Row> extends Noun<Row> {
  readonly schema: BodySchema;
  readonly fields: readonly Field[];
  create(body: Body): Write<Row>;
  replace(id: bigint, body: Body, options?: CallOptions): Write<Row>;
}

export type BodySchema = (typeof bodySchemas)['NewPet' | 'NewCategory' | 'Order'];

/** The fields of a record as they are sent. */
export type Body = Readonly<Record<string, unknown>>;

/** A field of a body: what it is called outside, and how it is given. */
export interface Field {
  /** In the body. */
  readonly name: string;
  /** The column that shows it, if it has another name: `category` for `categoryId`. */
  readonly column?: string;
  readonly flag: string;
  /** It belongs to one record: several cannot be given the same. */
  readonly own?: true;
  /** The value of a text. @throws UsageError that begins with `what`. */
  parse(text: string, what: string): unknown;
  /** The answer of a person; undefined if it is left out. */
  ask(prompt: Prompt, client: Client): Promise<unknown>;
}

/** A request of one record as data: it can be sent, or be shown. */
export interface Write<Value> {
  readonly operationId: Exclude<OperationId, ListId>;
  readonly input: object;
  readonly options?: CallOptions | undefined;
  /** Only a type: what the answer holds. */
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
