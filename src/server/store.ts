import type { NewCategory, NewOrder, NewPet, PetStatus } from '../api/schemas.ts';
import { Collection } from './collection.ts';

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
  /** Of the records when they were copied, to detect later changes. */
  readonly digest: string;
}

/** The shop in memory: four collections and their id counters. The handlers enforce the rules. */
export class Store {
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
  /** Used ids from `next` on; all ids below it were used or never will be. */
  private retired = new Set<bigint>();
  private readonly records: { has(id: bigint): boolean };

  /** @param records that exist, whoever chose their ids. */
  constructor(records: { has(id: bigint): boolean }) {
    this.records = records;
  }

  /** The next id, and the ids from there on that must not be assigned again. */
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
    return id >= this.next && !this.retired.has(id) && !this.records.has(id);
  }

  /** Remembers the id of a record that is deleted. */
  retire(id: bigint): void {
    if (id >= this.next) this.retired.add(id);
  }

  private skip(): void {
    while (this.records.has(this.next) || this.retired.delete(this.next)) this.next += 1n;
  }
}
