import { mapKey } from './map-key.ts';
import { SortedList } from './sorted-list.ts';

export type FilterValue = bigint | string | boolean;

type Key = number | bigint | string | boolean;

/** The items that have certain values in certain fields, each such list in the order of the ids. */
export class FilterIndex<Item extends { readonly id: bigint }, Name extends string> {
  private readonly first: Name;
  private readonly others: readonly Name[];
  private readonly lists = new Map<Key, SortedList<Item>>();

  /** @param names of the fields. */
  constructor([first, ...others]: readonly [Name, ...Name[]]) {
    this.first = first;
    this.others = others;
  }

  /** Undefined where no item has these values. */
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
