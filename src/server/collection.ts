import { SortedIds } from './sorted-ids.ts';

/** Values to filter by; a filter that is undefined lets every record through. */
export type Filters<Name extends string> = {
  readonly [N in Name]?: bigint | string | boolean | undefined;
};

export interface Page<Record> {
  readonly records: readonly Record[];
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

/**
 * Records by id, in the order of their ids, with an index for every combination of filters: a page costs the same
 * wherever it begins and however few records the filters let through.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
export class Collection<Record, Name extends string = never> {
  readonly #records = new Map<bigint, Record>();
  readonly #ids = new SortedIds();
  readonly #indexes = new Map<string, SortedIds>();
  readonly #valuesOf: ValuesOf<Record, Name>;
  readonly #combinations: readonly (readonly Name[])[];
  /** Counts the changes, so that a keeper of the store sees whether there is something to save. */
  revision = 0;

  constructor(valuesOf: ValuesOf<Record, Name>) {
    this.#valuesOf = valuesOf;
    this.#combinations = combinationsOf(Object.keys(valuesOf) as Name[]);
  }

  get size(): number {
    return this.#records.size;
  }

  get(id: bigint): Record | undefined {
    return this.#records.get(id);
  }

  has(id: bigint): boolean {
    return this.#records.has(id);
  }

  put(id: bigint, record: Record): void {
    const before = this.#records.get(id);
    this.#records.set(id, record);
    this.revision += 1;
    if (before === undefined) this.#ids.add(id);
    for (const names of this.#combinations) {
      const key = this.#keyOf(names, record);
      const old = before === undefined ? undefined : this.#keyOf(names, before);
      if (old === key) continue;
      if (old !== undefined) this.#dropFromIndex(old, id);
      this.#index(key).add(id);
    }
  }

  delete(id: bigint): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#records.delete(id);
    this.revision += 1;
    this.#ids.remove(id);
    for (const names of this.#combinations) this.#dropFromIndex(this.#keyOf(names, record), id);
  }

  page({ filters, limit, after }: PageRequest<Name>): Page<Record> {
    const ids = this.#idsFor(filters)?.page(limit + 1, after) ?? [];
    const isLast = ids.length <= limit;
    if (!isLast) ids.pop();
    const records = ids.map((id) => this.#records.get(id) as Record);
    return { records, after: isLast ? undefined : ids.at(-1) };
  }

  some(filters: Filters<Name>): boolean {
    return this.#idsFor(filters)?.isEmpty === false;
  }

  /** Every record, in the order of the ids. */
  *all(): Iterable<Record> {
    let after: bigint | undefined;
    do {
      const page = this.page({ filters: {}, limit: 1000, after });
      yield* page.records;
      after = page.after;
    } while (after !== undefined);
  }

  #idsFor(filters: Filters<Name>): SortedIds | undefined {
    const given = (Object.keys(this.#valuesOf) as Name[]).filter((name) => filters[name] !== undefined);
    if (given.length === 0) return this.#ids;
    return this.#indexes.get(given.map((name) => `${name}=${filters[name]}`).join('&'));
  }

  #keyOf(names: readonly Name[], record: Record): string {
    let key = '';
    for (const name of names) key += `${key && '&'}${name}=${this.#valuesOf[name](record)}`;
    return key;
  }

  #index(key: string): SortedIds {
    const found = this.#indexes.get(key);
    if (found) return found;
    const made = new SortedIds();
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
