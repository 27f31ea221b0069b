import type { NounName } from '../api/nouns.ts';
import { defaultStatus, pageSizes } from '../api/record-values.ts';
import type { NewRecord, PetStatus } from '../api/schemas.ts';
import { printJson } from '../process/exact-json.ts';
import { indexOfId } from '../process/sorted.ts';
import { hashOf } from '../process/text.ts';

/** A record of a collection. It never changes: an update puts another object in its place. */
export class StoredRecord<Value extends object = object> {
  readonly id: bigint;
  readonly record: Value;
  private printed: string | undefined;
  private cachedEtag: string | undefined;

  constructor(id: bigint, record: Value) {
    this.id = id;
    this.record = record;
  }

  /** The record as JSON. It is printed only once, because printing takes most of the time of a list. */
  get text(): string {
    this.printed ??= printJson(this.record);
    return this.printed;
  }

  /** The strong entity tag of the record: two hashes of its text. @see RFC 9110, 8.8.3 */
  get etag(): string {
    this.cachedEtag ??= `"${hashOf(this.text)}-${hashOf(this.text, 0x01234567)}"`;
    return this.cachedEtag;
  }
}

/** A query for a part of a list. The other members are the values that fields of a record must have. */
export interface PageQuery {
  readonly limit?: number | undefined;
  readonly after?: bigint | undefined;
  readonly [field: string]: string | number | bigint | boolean | undefined;
}

export interface RecordPage<Value extends object = object> {
  readonly records: readonly StoredRecord<Value>[];
  /** The last id of this page, if there are records after it. */
  readonly after: bigint | undefined;
}

/** The records of one noun in the order of their ids. */
export class Collection<Value extends object = object> {
  /** The search for the next free id begins here. Ids below it are never assigned again. */
  nextId = 1n;
  private readonly ordered: StoredRecord<Value>[] = [];

  get all(): readonly StoredRecord<Value>[] {
    return this.ordered;
  }

  get(id: bigint): StoredRecord<Value> | undefined {
    const stored = this.ordered[indexOfId(this.ordered, id)];
    return stored?.id === id ? stored : undefined;
  }

  put(id: bigint, record: Value): StoredRecord<Value> {
    const stored = new StoredRecord(id, record);
    const at = indexOfId(this.ordered, id);
    if (this.ordered[at]?.id === id) this.ordered[at] = stored;
    else this.ordered.splice(at, 0, stored);
    return stored;
  }

  delete(id: bigint): void {
    if (this.get(id)) this.ordered.splice(indexOfId(this.ordered, id), 1);
  }

  page({ limit = pageSizes.default, after = -1n, ...filters }: PageQuery): RecordPage<Value> {
    const conditions = Object.entries(filters) as [keyof Value, unknown][];
    const records: StoredRecord<Value>[] = [];
    for (
      let at = indexOfId(this.ordered, after + 1n);
      at < this.ordered.length && records.length <= limit;
      at += 1
    ) {
      const stored = this.ordered[at] as StoredRecord<Value>;
      if (conditions.every(([field, value]) => stored.record[field] === value)) records.push(stored);
    }
    if (records.length <= limit) return { records, after: undefined };
    records.pop();
    return { records, after: records.at(-1)?.id };
  }

  some(filters: PageQuery): boolean {
    return this.page({ ...filters, limit: 1 }).records.length > 0;
  }

  takeId(): bigint {
    while (this.get(this.nextId)) this.nextId += 1n;
    const id = this.nextId;
    this.nextId += 1n;
    return id;
  }
}

/** A record as the file of a store has it. */
export type RecordWithId<N extends NounName> = NewRecord<N> & { readonly id: bigint };
type StoredPet = RecordWithId<'pets'> & { readonly status: PetStatus };
/** An inventory entry. Its status is the status of the pet. */
type StoredItem = NewRecord<'inventory'> & { readonly petId: bigint };

type StoredOrder = RecordWithId<'orders'> & { readonly complete: boolean };

export function toPet(id: bigint, { status = defaultStatus, ...fields }: NewRecord<'pets'>): StoredPet {
  return { id, ...fields, status };
}

/** @param order its own id, if it has one, is not taken. */
export function toOrder(
  id: bigint,
  { id: _, complete = false, ...fields }: NewRecord<'orders'> & { readonly id?: unknown },
): StoredOrder {
  return { id, ...fields, complete };
}

/** A pet store in memory. The handlers keep to its rules. */
export class Store {
  /** Identifies the embedded store. A store that replaces it has another identifier. */
  id: string | undefined;
  readonly categories = new Collection<RecordWithId<'categories'>>();
  readonly pets = new Collection<StoredPet>();
  readonly orders = new Collection<StoredOrder>();
  /** Inventory entries by the id of their pet. */
  readonly inventory = new Collection<StoredItem>();
}
