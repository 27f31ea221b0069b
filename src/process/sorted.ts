/** Finds the index of the first item that does not come before a place in a sorted list, by binary search. The length if there is none. */
export function findFirstIndex<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds the index of the first item with this id or a higher one, in items that are ordered by id. Most ids come at the end. */
export function indexOfId(items: readonly { readonly id?: bigint | undefined }[], id: bigint): number {
  if ((items.at(-1)?.id ?? -1n) < id) return items.length;
  return findFirstIndex(items, (item) => (item.id ?? id) < id);
}
