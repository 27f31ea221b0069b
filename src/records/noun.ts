import type { HttpRequest } from '../api/http.ts';
import type { Input, ListId, OperationId, Result } from '../api/operations.ts';
import type { bodySchemas } from '../api/schemas.ts';
import type { Answer, CallOptions, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import type { Prompt } from '../input/prompt.ts';
import type { View } from '../output/columns.ts';

/** What the verbs that all nouns share know of one noun. */
export interface Noun<Row> {
  /** As in `pet 3`. */
  readonly one: string;
  /** As in `3 pets`. */
  readonly many: string;
  /** What may be shown of its records. */
  readonly view: View<Row>;
  /** The same, when what its columns show has been fetched; never rejects. */
  fillView(context: Context, client: Client): Promise<FilledView<Row>>;
  /** Operations that a read needs, or instead of the first the second. */
  readonly reading: readonly [OperationId, ...OperationId[]];
  read(context: Context, client: Client, id: bigint): Promise<Answer<Row>>;
  readonly removal: OperationId;
  /** The words of the command that shows what may keep a record from being deleted. */
  holders?(id: bigint): readonly string[];
  remove(id: bigint): Write<undefined>;
  /** What a person knows a record by, beside its id. */
  title(row: Row): string;
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

export interface FilledView<Row> {
  readonly view: View<Row>;
  /** What a person should know of it, when it is shown. */
  readonly note?: string | undefined;
}

/** A noun whose records are made and changed by a body. */
export interface EditableNoun<Row, Body extends object> extends Noun<Row> {
  readonly schema: BodySchema;
  readonly fields: readonly Field<Body>[];
  readonly creation: OperationId;
  readonly replacement: OperationId;
  create(body: Body): Write<Row>;
  replace(id: bigint, body: Body, options: CallOptions): Write<Row>;
}

export type BodySchema = (typeof bodySchemas)['NewPet' | 'NewCategory' | 'Order'];

/**
 * A record as the body that would make it: without its id where the service gives that, without nulls where a field may be
 * left out; what the program does not know stays as it came.
 */
export function toBody<Body>({ entries }: BodySchema, record: object): Body {
  const isSent = ([name, value]: [string, unknown]) =>
    Object.hasOwn(entries, name) ? value !== null : name !== 'id';
  return Object.fromEntries(Object.entries(record).filter(isSent)) as Body;
}

/** A field of a body: the flag that gives it, and how a person is asked for it. */
export interface Field<Body> {
  readonly name: keyof Body & string;
  readonly flag: string;
  /** Nothing where the person leaves it out. */
  ask(prompt: Prompt, client: Client): Promise<Partial<Body>>;
}

/** The fields that flags gave; the service may have to be asked for what they mean. */
export interface Given<Body> {
  readonly names: readonly string[];
  values(client: Client): Promise<Partial<Body>>;
}

export function given<Body extends object>(
  flags: {
    readonly [Name in keyof Body]?: Body[Name] | undefined;
  },
): Given<Body> {
  const named = Object.entries(flags).filter(([, value]) => value !== undefined);
  return {
    names: named.map(([name]) => name),
    values: async () => Object.fromEntries(named) as Partial<Body>,
  };
}

/** A write that is ready to be sent, or to be shown. */
export interface Write<Value> {
  /** The record that came back, if one did. */
  send(client: Client): Promise<Value | undefined>;
  toRequest(client: Client): HttpRequest;
}

export function toWrite<K extends Exclude<OperationId, ListId>>(
  id: K,
  input: Input<K>,
  options?: CallOptions,
): Write<Result<K>> {
  return {
    send: async (client) => (await client.call(id, input, options)).value,
    toRequest: (client) => client.toRequest(id, input, options),
  };
}
