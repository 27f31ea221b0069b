import type { NewCategory, NewOrder, NewPet, PetStatus } from '../api/schemas.ts';
import { Collection } from './collection.ts';

export interface StoredPet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

export interface StoredCategory {
  readonly id: bigint;
  readonly name: string;
  readonly description?: string;
}

export interface StoredOrder {
  readonly id: bigint;
  readonly petId?: bigint;
  readonly quantity?: number;
  readonly shipDate?: string;
  readonly complete?: boolean;
}

export interface StoredItem {
  readonly petId: bigint;
  readonly quantity: number;
  /** Always that of the pet. */
  readonly status: PetStatus;
}

export function toPet(id: bigint, { name, categoryId, status = 'available' }: NewPet): StoredPet {
  return { id, name, categoryId, status };
}

export function toCategory(id: bigint, { name, description }: NewCategory): StoredCategory {
  return description === undefined ? { id, name } : { id, name, description };
}

/** The order's fields in the document's order; missing fields stay missing. */
export function toOrder(id: bigint, { petId, quantity, shipDate, complete }: NewOrder): StoredOrder {
  return {
    id,
    ...(petId !== undefined && { petId }),
    ...(quantity !== undefined && { quantity }),
    ...(shipDate !== undefined && { shipDate }),
    ...(complete !== undefined && { complete }),
  };
}

/** The source of copied records. */
export interface Pulled {
  /** The base URL of the service. */
  readonly from: string;
  /** RFC 3339. */
  readonly at: string;
  /** Of the records when they were copied, to detect later changes. */
  readonly digest: string;
}

/** The shop in memory: four collections and their id counters. The handlers enforce the rules. */
export class Store {
  /** Counts the changes of all collections. */
  revision = 0;
  pulled: Pulled | undefined;

  readonly categories = new Collection<StoredCategory>({}, () => this.count());
  readonly pets = new Collection<StoredPet, 'status' | 'categoryId'>(
    { status: (pet) => pet.status, categoryId: (pet) => pet.categoryId },
    () => this.count(),
  );
  readonly orders = new Collection<StoredOrder, 'petId' | 'complete'>(
    { petId: (order) => order.petId ?? 'none', complete: isComplete },
    () => this.count(),
  );
  /** Inventory entries by the id of their pet. */
  readonly inventory = new Collection<StoredItem, 'status'>({ status: (item) => item.status }, () =>
    this.count(),
  );

  readonly categoryIds = new IdCounter((id) => this.categories.has(id));
  readonly petIds = new IdCounter((id) => this.pets.has(id));
  readonly orderIds = new IdCounter((id) => this.orders.has(id));

  private count(): void {
    this.revision += 1;
  }
}

/** An order is open unless it says that it is complete. */
export function isComplete(order: StoredOrder): boolean {
  return order.complete === true;
}

interface IdCounterState {
  readonly next: bigint;
  readonly retired: readonly bigint[];
}

/**
 * Assigns ids that count up from 1, each once. An id that a client chose is skipped, and remembered after its record is
 * gone, so that it is never assigned again.
 */
export class IdCounter {
  private next = 1n;
  /** Used ids from `next` on; all ids below it were used or never will be. */
  private retired = new Set<bigint>();
  private readonly isTaken: (id: bigint) => boolean;

  constructor(isTaken: (id: bigint) => boolean) {
    this.isTaken = isTaken;
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
    return id >= this.next && !this.retired.has(id) && !this.isTaken(id);
  }

  /** To be called when the record of this id is deleted. */
  retire(id: bigint): void {
    if (id >= this.next) this.retired.add(id);
  }

  private skip(): void {
    while (this.isTaken(this.next) || this.retired.delete(this.next)) this.next += 1n;
  }
}
