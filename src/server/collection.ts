import { printJson } from '../json.ts';
import { SortedList } from './sorted-list.ts';

type FilterValue = bigint | string | boolean;

/** Values to filter by; a filter that is undefined lets every record through. */
type Filters<Name extends string> = {
  readonly [N in Name]?: FilterValue | undefined;
};

/** A record in its collection. */
export interface Entry<Record> {
  readonly id: bigint;
  readonly record: Record;
  /** Its JSON text, once it has been printed: most of the time that a response takes goes into printing its records. */
  text: string | undefined;
}

export interface Page<Record> {
  readonly entries: readonly Entry<Record>[];
  /** The last id of this page, if there are records after it. */
  readonly after: bigint | undefined;
}

interface PageRequest<Name extends string> {
  readonly filters: Filters<Name>;
  readonly limit: number;
  readonly after: bigint | undefined;
}

type ValuesOf<Record, Name extends string> = {
  readonly [N in Name]: (record: Record) => FilterValue;
};

interface ChangingEntry<Record> extends Entry<Record> {
  record: Record;
}

/** The JSON text of a record, which is printed once. */
export function textOf(entry: Entry<object>): string {
  if (entry.text === undefined) {
    entry.text = printJson(entry.record);
    // V8 joins a concatenated text when it is first read: done here, it happens once and not for every list.
    entry.text.charCodeAt(0);
  }
  return entry.text;
}

/**
 * Records by id, in the order of their ids, with an index for every combination of filters: a page costs the same
 * wherever it begins and however few records the filters let through.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
export class Collection<Record extends object, Name extends string = never> {
  private readonly entries = new Map<number | bigint, ChangingEntry<Record>>();
  private readonly sorted = new SortedList<ChangingEntry<Record>>();
  private readonly valuesOf: ValuesOf<Record, Name>;
  private readonly names: readonly Name[];
  /** By the names of their filters. */
  private readonly indexes: ReadonlyMap<string, FilterIndex<ChangingEntry<Record>, Name>>;
  private readonly onChange: () => void;

  constructor(valuesOf: ValuesOf<Record, Name>, onChange: () => void) {
    this.valuesOf = valuesOf;
    this.names = Object.keys(valuesOf) as Name[];
    this.indexes = new Map(combinationsOf(this.names).map((names) => [names.join(), new FilterIndex(names)]));
    this.onChange = onChange;
  }

  get size(): number {
    return this.entries.size;
  }

  get(id: bigint): Record | undefined {
    return this.entries.get(mapKey(id))?.record;
  }

  entry(id: bigint): Entry<Record> | undefined {
    return this.entries.get(mapKey(id));
  }

  has(id: bigint): boolean {
    return this.entries.has(mapKey(id));
  }

  put(id: bigint, record: Record): void {
    const key = mapKey(id);
    const entry = this.entries.get(key);
    if (entry) this.replace(entry, record);
    else {
      const added = { id, record, text: undefined };
      this.entries.set(key, added);
      this.sorted.add(added);
      for (const index of this.indexes.values()) index.add(added, this.look(record));
    }
    this.onChange();
  }

  delete(id: bigint): void {
    const key = mapKey(id);
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.sorted.remove(id);
    for (const index of this.indexes.values()) index.remove(id, this.look(entry.record));
    this.onChange();
  }

  page({ filters, limit, after }: PageRequest<Name>): Page<Record> {
    const entries = this.listFor(filters)?.page(limit + 1, after) ?? [];
    if (entries.length <= limit) return { entries, after: undefined };
    entries.pop();
    return { entries, after: entries.at(-1)?.id };
  }

  some(filters: Filters<Name>): boolean {
    return this.listFor(filters)?.isEmpty === false;
  }

  /** Every record, in the order of the ids. */
  *all(): Iterable<Entry<Record>> {
    let after: bigint | undefined;
    do {
      const page = this.page({ filters: {}, limit: 1000, after });
      yield* page.entries;
      after = page.after;
    } while (after !== undefined);
  }

  private replace(entry: ChangingEntry<Record>, record: Record): void {
    const before = this.look(entry.record);
    const after = this.look(record);
    entry.record = record;
    entry.text = undefined;
    if (this.names.every((name) => before(name) === after(name))) return;
    for (const index of this.indexes.values()) {
      index.remove(entry.id, before);
      index.add(entry, after);
    }
  }

  private listFor(filters: Filters<Name>): SortedList<ChangingEntry<Record>> | undefined {
    const given = this.names.filter((name) => filters[name] !== undefined);
    if (given.length === 0) return this.sorted;
    return this.indexes.get(given.join())?.list((name) => filters[name] ?? '');
  }

  private look(record: Record): (name: Name) => FilterValue {
    return (name) => this.valuesOf[name](record);
  }
}

/** Every choice of at least one name, each in the order given. */
function combinationsOf<Name>(names: readonly Name[]): [Name, ...Name[]][] {
  const chosen: [Name, ...Name[]][] = [];
  for (const name of names)
    chosen.push(...chosen.map(([first, ...others]): [Name, ...Name[]] => [first, ...others, name]), [name]);
  return chosen;
}

type Key = number | bigint | string | boolean;

/** The items that have certain values in certain fields, each such list in the order of the ids. */
class FilterIndex<Item extends { readonly id: bigint }, Name extends string> {
  private readonly first: Name;
  private readonly others: readonly Name[];
  private readonly lists = new Map<Key, SortedList<Item>>();

  /** @param names of the fields. */
  constructor([first, ...others]: readonly [Name, ...Name[]]) {
    this.first = first;
    this.others = others;
  }

  /** Undefined if no item has these values. */
  list(look: (name: Name) => FilterValue): SortedList<Item> | undefined {
    return this.lists.get(this.keyOf(look));
  }

  add(item: Item, look: (name: Name) => FilterValue): void {
    const key = this.keyOf(look);
    let list = this.lists.get(key);
    if (!list) {
      list = new SortedList();
      this.lists.set(key, list);
    }
    list.add(item);
  }

  remove(id: bigint, look: (name: Name) => FilterValue): void {
    const key = this.keyOf(look);
    const list = this.lists.get(key);
    list?.remove(id);
    if (list?.isEmpty) this.lists.delete(key);
  }

  private keyOf(look: (name: Name) => FilterValue): Key {
    const value = look(this.first);
    if (this.others.length === 0) return typeof value === 'bigint' ? mapKey(value) : value;
    let key = `${value}`;
    for (const name of this.others) key += `&${look(name)}`;
    return key;
  }
}

/** An id as the key of a Map: a number if it is exact, because a Map takes ten times as long to find a bigint. */
function mapKey(id: bigint): number | bigint {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : id;
}
