/** An id as the key of a Map: a number where it is exact, for a Map finds a bigint in ten times as long. */
export function mapKey(id: bigint): number | bigint {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : id;
}
