/** The candidate that differs from a word by at most two letters, and half of it, the nearest first; for "did you mean". */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distanceBetween(word.toLowerCase(), candidate) }))
    .sort((one, other) => one.distance - other.distance);
  // Of a word of one letter any other is two letters away.
  const most = Math.min(2, Math.floor(word.length / 2));
  return ranked[0] !== undefined && ranked[0].distance <= most ? ranked[0].candidate : undefined;
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
