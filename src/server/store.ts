import type { NewCategory, NewOrder, NewPet, PetStatus } from '../api/schemas.ts';
import { Collection } from './collection.ts';
import { IdCounter } from './id-counter.ts';

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

/** The order's fields in the document's order, those left out left out. */
export function toOrder(id: bigint, { petId, quantity, shipDate, complete }: NewOrder): StoredOrder {
  return {
    id,
    ...(petId !== undefined && { petId }),
    ...(quantity !== undefined && { quantity }),
    ...(shipDate !== undefined && { shipDate }),
    ...(complete !== undefined && { complete }),
  };
}

/** The shop in memory: four collections and the counters of their ids. What may be done to it, the handlers decide. */
export class Store {
  /** Counts the changes of all collections. */
  revision = 0;

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

/** An order is open until it says that it is complete. */
export function isComplete(order: StoredOrder): boolean {
  return order.complete === true;
}
