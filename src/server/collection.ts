import { printJson } from '../process/exact-json.ts';
import { SortedList } from './sorted-list.ts';

/** A record in its collection. */
export interface Stored<Value> {
  readonly id: bigint;
  record: Value;
  /** Its JSON text, once `textOf` has printed it. */
  text: string | undefined;
}

export interface Page<Value> {
  readonly stored: readonly Stored<Value>[];
  /** The last id of this page, if there are records after it. */
  readonly after: bigint | undefined;
}

/** Asks for the records after an id that have certain values in certain fields. */
type PageQuery<Value, Field extends keyof Value> = Filters<Value, Field> & {
  readonly limit?: number | undefined;
  readonly after?: bigint | undefined;
};

/** A filter that is undefined lets every record through. */
type Filters<Value, Field extends keyof Value> = { readonly [F in Field]?: Value[F] | undefined };

const defaultLimit = 100;

/** The JSON text of a record, which is printed once: printing the records takes most of the time of a list. */
export function textOf(stored: Stored<object>): string {
  if (stored.text === undefined) {
    stored.text = printJson(stored.record);
    // V8 joins a concatenated text when it is first read: done here, it happens once and not for every list.
    stored.text.charCodeAt(0);
  }
  return stored.text;
}

/**
 * Records by id, in the order of their ids, with a list for every combination of filters: a page costs the same wherever
 * it begins and however few records the filters let through.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
export class Collection<Value extends object, Field extends keyof Value & string = never> {
  /** The name of one record in messages. */
  readonly noun: string;
  /** How often a record was added, replaced or removed. */
  changes = 0;
  private readonly fields: readonly Field[];
  private readonly byId = new Map<number | bigint, Stored<Value>>();
  /** By the key of their filters. A list stays when its last record goes. */
  private readonly lists = new Map<string, SortedList<Stored<Value>>>();
  /** By the key of a record's own values: to look its lists up one by one makes loading a shop a quarter slower. */
  private readonly listsOfValues = new Map<string, readonly SortedList<Stored<Value>>[]>();

  /** @param fields to filter by; one that a record lacks counts as false. */
  constructor(noun: string, fields: readonly Field[]) {
    this.noun = noun;
    this.fields = fields;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: bigint): Stored<Value> | undefined {
    return this.byId.get(mapKey(id));
  }

  has(id: bigint): boolean {
    return this.byId.has(mapKey(id));
  }

  put(id: bigint, record: Value): Stored<Value> {
    this.changes += 1;
    const stored = this.byId.get(mapKey(id));
    if (!stored) {
      const added = { id, record, text: undefined };
      this.byId.set(mapKey(id), added);
      for (const list of this.listsOf(record)) list.add(added);
      return added;
    }
    const isMoved = this.fields.some((field) => stored.record[field] !== record[field]);
    if (isMoved) {
      for (const list of this.listsOf(stored.record)) list.remove(id);
      for (const list of this.listsOf(record)) list.add(stored);
    }
    stored.record = record;
    stored.text = undefined;
    return stored;
  }

  delete(id: bigint): void {
    const stored = this.byId.get(mapKey(id));
    if (!stored) return;
    this.changes += 1;
    this.byId.delete(mapKey(id));
    for (const list of this.listsOf(stored.record)) list.remove(id);
  }

  page(query: PageQuery<Value, Field>): Page<Value> {
    const { limit = defaultLimit, after } = query;
    const stored = this.lists.get(this.keyOf(query))?.page(limit + 1, after) ?? [];
    if (stored.length <= limit) return { stored, after: undefined };
    stored.pop();
    return { stored, after: stored.at(-1)?.id };
  }

  some(filters: Filters<Value, Field>): boolean {
    return this.lists.get(this.keyOf(filters))?.isEmpty === false;
  }

  /** Every record, in the order of the ids. */
  all(): Stored<Value>[] {
    return this.lists.get(this.keyOf({}))?.all() ?? [];
  }

  /** The lists that a record is in: one for each subset of its fields. */
  private listsOf(record: Value): readonly SortedList<Stored<Value>>[] {
    const key = this.keyOf(record);
    let lists = this.listsOfValues.get(key);
    if (!lists) {
      lists = this.keysOf(record).map((each) => this.listAt(each));
      this.listsOfValues.set(key, lists);
    }
    return lists;
  }

  private listAt(key: string): SortedList<Stored<Value>> {
    const list = this.lists.get(key) ?? new SortedList();
    this.lists.set(key, list);
    return list;
  }

  /** The key of the list for these filters: `sold;3;`, `sold;;`, or `;;` for all records. */
  private keyOf(filters: Filters<Value, Field>): string {
    let key = '';
    for (const field of this.fields) key += `${filters[field] ?? ''};`;
    return key;
  }

  private keysOf(record: Value): string[] {
    let keys = [''];
    for (const field of this.fields)
      keys = keys.flatMap((key) => [`${key};`, `${key}${record[field] ?? false};`]);
    return keys;
  }
}

/** An id as the key of a Map: a number if it is exact, because a Map takes ten times as long to find a bigint. */
function mapKey(id: bigint): number | bigint {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : id;
}
