import { printJson } from '../process/exact-json.ts';

/** A record in its collection. */
export interface StoredRecord<Value> {
  readonly id: bigint;
  record: Value;
  /** Its JSON text, once `textOf` has printed it. */
  text: string | undefined;
}

export interface RecordPage<Value> {
  readonly stored: readonly StoredRecord<Value>[];
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
export function textOf(stored: StoredRecord<object>): string {
  if (stored.text === undefined) {
    stored.text = printJson(stored.record);
    // V8 joins a concatenated text when it is first read: done here, it happens once and not for every list.
    stored.text.charCodeAt(0);
  }
  return stored.text;
}

/**
 * Records by id, in the order of their ids. A filtered page looks through the records after its beginning: with 100,000 of
 * them that takes a few milliseconds at worst, for a filter that lets hardly any through.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
export class Collection<Value extends object, Field extends keyof Value & string = never> {
  /** The name of one record in messages. */
  readonly noun: string;
  /** How often a record was added, replaced or removed. */
  changes = 0;
  private readonly fields: readonly Field[];
  private readonly byId = new Map<number | bigint, StoredRecord<Value>>();
  /** In ascending order of the ids. */
  private readonly ordered: StoredRecord<Value>[] = [];

  /** @param fields to filter by; one that a record lacks counts as false. */
  constructor(noun: string, fields: readonly Field[]) {
    this.noun = noun;
    this.fields = fields;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: bigint): StoredRecord<Value> | undefined {
    return this.byId.get(mapKey(id));
  }

  has(id: bigint): boolean {
    return this.byId.has(mapKey(id));
  }

  put(id: bigint, record: Value): StoredRecord<Value> {
    this.changes += 1;
    const stored = this.byId.get(mapKey(id));
    if (!stored) {
      const added = { id, record, text: undefined };
      this.byId.set(mapKey(id), added);
      this.ordered.splice(this.placeOf(id), 0, added);
      return added;
    }
    stored.record = record;
    stored.text = undefined;
    return stored;
  }

  delete(id: bigint): void {
    if (!this.byId.delete(mapKey(id))) return;
    this.changes += 1;
    this.ordered.splice(this.placeOf(id), 1);
  }

  page(query: PageQuery<Value, Field>): RecordPage<Value> {
    const { limit = defaultLimit, after = -1n } = query;
    const filtered = this.fields.filter((field) => query[field] !== undefined);
    const from = this.placeOf(after + 1n);
    const stored: StoredRecord<Value>[] =
      filtered.length === 0 ? this.ordered.slice(from, from + limit + 1) : [];
    for (let at = from; filtered.length > 0 && at < this.ordered.length && stored.length <= limit; at += 1) {
      const each = this.ordered[at];
      if (each && filtered.every((field) => (each.record[field] ?? false) === query[field]))
        stored.push(each);
    }
    if (stored.length <= limit) return { stored, after: undefined };
    stored.pop();
    return { stored, after: stored.at(-1)?.id };
  }

  some(filters: Filters<Value, Field>): boolean {
    return this.page({ ...filters, limit: 1 }).stored.length > 0;
  }

  /** Every record, in the order of the ids. */
  all(): readonly StoredRecord<Value>[] {
    return this.ordered;
  }

  /** How many records have an id below this one, by binary search; most are added at the end. */
  private placeOf(id: bigint): number {
    let low = 0;
    let high = this.ordered.length;
    if ((this.ordered[high - 1]?.id ?? -1n) < id) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ordered[middle]?.id ?? id) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** An id as the key of a Map: a number if it is exact, because a Map takes ten times as long to find a bigint. */
function mapKey(id: bigint): number | bigint {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : id;
}
