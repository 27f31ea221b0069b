import type { NewCategory, NewOrder, NewPet, PetStatus } from '../api/schemas.ts';
import { printJson } from '../process/exact-json.ts';

/** A record in its collection. */
export interface StoredRecord<Value> {
  readonly id: bigint;
  record: Value;
  /** Its JSON text, once `recordText` has printed it. */
  text: string | undefined;
}

export interface RecordPage<Value> {
  readonly stored: readonly StoredRecord<Value>[];
  /** The last id of this page, if there are records after it. */
  readonly after: bigint | undefined;
}

/** A query for the records after an id with certain values in certain fields. */
type PageQuery<Value, Field extends keyof Value> = Filters<Value, Field> & {
  readonly limit?: number | undefined;
  readonly after?: bigint | undefined;
};

/** A filter that is undefined lets every record through. */
type Filters<Value, Field extends keyof Value> = { readonly [F in Field]?: Value[F] | undefined };

const defaultLimit = 100;

/** The JSON text of a record, which is printed once: printing the records takes most of the time of a list. */
export function recordText(stored: StoredRecord<object>): string {
  if (stored.text === undefined) {
    stored.text = printJson(stored.record);
    // V8 joins a concatenated text when it is first read. Reading it here does that once and not for every list.
    stored.text.charCodeAt(0);
  }
  return stored.text;
}

/**
 * Records by id, in the order of their ids. A filtered page looks through all records after its beginning.
 *
 * Records are never changed in place: a changed one replaces the one before.
 */
class Collection<Value extends object, Field extends keyof Value & string = never> {
  /** The name of one record in messages. */
  readonly noun: string;
  /** How often a record was added, replaced or removed. */
  changes = 0;
  private readonly fields: readonly Field[];
  private readonly byId = new Map<number | bigint, StoredRecord<Value>>();
  /** The records in ascending order of their ids. */
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
      this.ordered.splice(this.indexOf(id), 0, added);
      return added;
    }
    stored.record = record;
    stored.text = undefined;
    return stored;
  }

  delete(id: bigint): void {
    if (!this.byId.delete(mapKey(id))) return;
    this.changes += 1;
    this.ordered.splice(this.indexOf(id), 1);
  }

  page(query: PageQuery<Value, Field>): RecordPage<Value> {
    const { limit = defaultLimit, after = -1n } = query;
    const filtered = this.fields.filter((field) => query[field] !== undefined);
    const from = this.indexOf(after + 1n);
    const stored: StoredRecord<Value>[] =
      filtered.length === 0 ? this.ordered.slice(from, from + limit + 1) : [];
    for (let at = from; filtered.length > 0 && at < this.ordered.length && stored.length <= limit; at += 1) {
      const candidate = this.ordered[at];
      if (candidate && filtered.every((field) => (candidate.record[field] ?? false) === query[field]))
        stored.push(candidate);
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
  private indexOf(id: bigint): number {
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

/** An id as the key of a Map: a number if it is exact, because a Map finds numbers faster than bigints. */
function mapKey(id: bigint): number | bigint {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : id;
}

export interface StoredPet extends NewPet {
  readonly id: bigint;
  readonly status: PetStatus;
}

interface StoredCategory extends NewCategory {
  readonly id: bigint;
}

/** An order is open unless it says that it is complete. */
interface StoredOrder extends NewOrder {
  readonly id: bigint;
}

interface StoredItem {
  readonly petId: bigint;
  readonly quantity: number;
  /** Always that of the pet. */
  readonly status: PetStatus;
}

export function toPet(id: bigint, { name, categoryId, status = 'available' }: NewPet): StoredPet {
  return { id, name, categoryId, status };
}

/** The source of copied records. */
interface Pulled {
  /** The base URL of the service. */
  readonly from: string;
  /** RFC 3339. */
  readonly at: string;
  /** A digest of the records when they were copied, to detect later changes. */
  readonly digest: string;
}

/** The shop in memory: four collections and their id counters. The handlers enforce the rules. */
export class Store {
  /** Names the shop of the embedded store; a store that replaces it has another one. */
  id: string | undefined;
  pulled: Pulled | undefined;
  readonly categories = new Collection<StoredCategory>('category', []);
  readonly pets = new Collection<StoredPet, 'status' | 'categoryId'>('pet', ['status', 'categoryId']);
  readonly orders = new Collection<StoredOrder, 'petId' | 'complete'>('order', ['petId', 'complete']);
  /** Inventory entries by the id of their pet. */
  readonly inventory = new Collection<StoredItem, 'status'>('the inventory entry of pet', ['status']);
  readonly ids = {
    categories: new IdCounter(this.categories),
    pets: new IdCounter(this.pets),
    orders: new IdCounter(this.orders),
  };

  /** Counts the changes of all collections. */
  get revision(): number {
    return this.categories.changes + this.pets.changes + this.orders.changes + this.inventory.changes;
  }

  /** Deletes a record, whose id is never assigned again. */
  remove(noun: 'categories' | 'pets' | 'orders', id: bigint): void {
    this[noun].delete(id);
    this.ids[noun].retire(id);
  }
}

interface IdCounterState {
  readonly next: bigint;
  readonly retired: readonly bigint[];
}

/**
 * Assigns ids that count up from 1, each once. An id that a client chose is skipped, and remembered after its record is
 * gone, so that it is never assigned again.
 */
class IdCounter {
  private next = 1n;
  /** Ids from `next` on that were used. An id below `next` is never assigned again. */
  private retired = new Set<bigint>();
  private readonly records: { has(id: bigint): boolean };

  /** @param records those that exist, whether the counter or a client chose their ids. */
  constructor(records: { has(id: bigint): boolean }) {
    this.records = records;
  }

  /** The next id, and the ids above it that must not be assigned again. */
  get state(): IdCounterState {
    this.skip();
    return { next: this.next, retired: [...this.retired] };
  }

  set state({ next, retired }: IdCounterState) {
    this.next = next;
    this.retired = new Set(retired);
  }

  take(): bigint {
    this.skip();
    const id = this.next;
    this.next += 1n;
    return id;
  }

  /** Whether a record with this id may be created: none exists or ever existed. */
  isFree(id: bigint): boolean {
    return this.isAhead(id) && !this.retired.has(id) && !this.records.has(id);
  }

  /** Remembers the id of a record that is deleted. */
  retire(id: bigint): void {
    if (this.isAhead(id)) this.retired.add(id);
  }

  /** Whether an id is not used up by counting. Counting begins at 1, so that it never gives 0. */
  private isAhead(id: bigint): boolean {
    return id >= this.next || id === 0n;
  }

  private skip(): void {
    while (this.records.has(this.next) || this.retired.delete(this.next)) this.next += 1n;
  }
}
