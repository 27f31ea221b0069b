/** The candidate that differs from a word by at most two letters, the nearest first; for "did you mean". */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distanceBetween(word.toLowerCase(), candidate) }))
    .sort((one, other) => one.distance - other.distance);
  return ranked[0] !== undefined && ranked[0].distance <= 2 ? ranked[0].candidate : undefined;
}

/** Levenshtein's distance: letters to insert, drop or replace. */
function distanceBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let line = 1; line <= from.length; line += 1) {
    const above = row;
    row = [line];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (above[at - 1] ?? 0) + (from[line - 1] === to[at - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[at] ?? 0) + 1, (row[at - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}
