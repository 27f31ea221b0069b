import { SortedList } from './sorted-list.ts';

/** Values to filter by; a filter that is undefined lets every record through. */
export type Filters<Name extends string> = {
  readonly [N in Name]?: bigint | string | boolean | undefined;
};

/** A record in its collection. */
export interface Entry<Record> {
  readonly id: bigint;
  readonly record: Record;
  /** Its JSON text, once somebody has printed it: most of what a list costs is the printing of its records. */
  text: string | undefined;
}

export interface Page<Record> {
  readonly entries: readonly Entry<Record>[];
  /** The last id of this page, where there are records after it. */
  readonly after: bigint | undefined;
}

export interface PageRequest<Name extends string> {
  readonly filters: Filters<Name>;
  readonly limit: number;
  readonly after: bigint | undefined;
}

type ValuesOf<Record, Name extends string> = {
  readonly [N in Name]: (record: Record) => bigint | string | boolean;
};

interface ChangingEntry<Record> extends Entry<Record> {
  record: Record;
}

/**
 * Records by id, in the order of their ids, with an index for every combination of filters: a page costs the same
 * wherever it begins and however few records the filters let through.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
export class Collection<Record, Name extends string = never> {
  readonly #entries = new Map<bigint, ChangingEntry<Record>>();
  readonly #sorted = new SortedList<ChangingEntry<Record>>();
  readonly #indexes = new Map<string, SortedList<ChangingEntry<Record>>>();
  readonly #valuesOf: ValuesOf<Record, Name>;
  readonly #names: readonly Name[];
  readonly #combinations: readonly (readonly Name[])[];
  readonly #onChange: () => void;

  constructor(valuesOf: ValuesOf<Record, Name>, onChange: () => void) {
    this.#valuesOf = valuesOf;
    this.#names = Object.keys(valuesOf) as Name[];
    this.#combinations = combinationsOf(this.#names);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: bigint): Record | undefined {
    return this.#entries.get(id)?.record;
  }

  has(id: bigint): boolean {
    return this.#entries.has(id);
  }

  put(id: bigint, record: Record): void {
    const entry = this.#entries.get(id);
    if (entry) this.#replace(entry, record);
    else this.#add({ id, record, text: undefined });
    this.#onChange();
  }

  delete(id: bigint): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#sorted.remove(id);
    for (const names of this.#combinations) this.#dropFromIndex(this.#keyOf(names, entry.record), id);
    this.#onChange();
  }

  page({ filters, limit, after }: PageRequest<Name>): Page<Record> {
    const entries = this.#listFor(filters)?.page(limit + 1, after) ?? [];
    if (entries.length <= limit) return { entries, after: undefined };
    entries.pop();
    return { entries, after: entries.at(-1)?.id };
  }

  some(filters: Filters<Name>): boolean {
    return this.#listFor(filters)?.isEmpty === false;
  }

  /** Every record, in the order of the ids. */
  *all(): Iterable<Record> {
    let after: bigint | undefined;
    do {
      const page = this.page({ filters: {}, limit: 1000, after });
      for (const { record } of page.entries) yield record;
      after = page.after;
    } while (after !== undefined);
  }

  #add(entry: ChangingEntry<Record>): void {
    this.#entries.set(entry.id, entry);
    this.#sorted.add(entry);
    for (const names of this.#combinations) this.#index(this.#keyOf(names, entry.record)).add(entry);
  }

  #replace(entry: ChangingEntry<Record>, record: Record): void {
    const before = entry.record;
    entry.record = record;
    entry.text = undefined;
    const changed = this.#names.filter(
      (name) => this.#valuesOf[name](before) !== this.#valuesOf[name](record),
    );
    if (changed.length === 0) return;
    for (const names of this.#combinations) {
      if (!names.some((name) => changed.includes(name))) continue;
      this.#dropFromIndex(this.#keyOf(names, before), entry.id);
      this.#index(this.#keyOf(names, record)).add(entry);
    }
  }

  #listFor(filters: Filters<Name>): SortedList<ChangingEntry<Record>> | undefined {
    const given = this.#names.filter((name) => filters[name] !== undefined);
    if (given.length === 0) return this.#sorted;
    return this.#indexes.get(given.map((name) => `${name}=${filters[name]}`).join('&'));
  }

  #keyOf(names: readonly Name[], record: Record): string {
    let key = '';
    for (const name of names) key += `${key && '&'}${name}=${this.#valuesOf[name](record)}`;
    return key;
  }

  #index(key: string): SortedList<ChangingEntry<Record>> {
    const found = this.#indexes.get(key);
    if (found) return found;
    const made = new SortedList<ChangingEntry<Record>>();
    this.#indexes.set(key, made);
    return made;
  }

  #dropFromIndex(key: string, id: bigint): void {
    const index = this.#indexes.get(key);
    index?.remove(id);
    if (index?.isEmpty) this.#indexes.delete(key);
  }
}

/** Every choice of at least one name, each in the order given. */
function combinationsOf<Name>(names: readonly Name[]): Name[][] {
  const chosen: Name[][] = [];
  for (const name of names) chosen.push(...chosen.map((before) => [...before, name]), [name]);
  return chosen;
}
