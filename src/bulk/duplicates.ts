import { IdIndex } from './id-index.ts';
import { mostIssues, RowIssues } from './row-issues.ts';
import type { Rows } from './rows.ts';

/** Which of several rows for one pet counts, where they differ. */
export const duplicateRules = ['error', 'first', 'last'] as const;
export type DuplicateRule = (typeof duplicateRules)[number];

export interface Duplicates {
  readonly index: IdIndex;
  /** Rows that say what another row says already. */
  readonly same: number;
  /** Rows that lost to another one, by the rule. */
  readonly overruled: number;
  /** Rows that differ, where the rule chooses none: nobody can tell which one is meant. */
  readonly conflicts: RowIssues;
}

/** Leaves one row for each pet, and skips the others. */
export function resolveDuplicates(rows: Rows, rule: DuplicateRule): Duplicates {
  const index = new IdIndex(rows);
  const conflicts = new RowIssues(mostIssues);
  let [same, overruled] = [0, 0];
  for (const row of rows.inState('unprocessed')) {
    const before = index.put(row);
    if (before === undefined) continue;
    const isSame =
      rows.quantity(row) === rows.quantity(before) && rows.expected(row) === rows.expected(before);
    if (isSame) same += 1;
    else overruled += 1;
    const loser = isSame || rule !== 'last' ? row : before;
    if (loser === row) index.put(before);
    if (isSame || rule !== 'error') rows.setState(loser, 'skipped');
    else {
      rows.setState(row, 'invalid');
      conflicts.add({ line: rows.line(row), column: 1, message: describe(rows, row, before) });
    }
  }
  return { index, same, overruled, conflicts };
}

function describe(rows: Rows, row: number, before: number): string {
  const [here, there] = [row, before].map((each) => {
    const expected = rows.expected(each);
    return `${rows.quantity(each)}${expected === undefined ? '' : ` (expected ${expected})`}`;
  });
  return `pet ${rows.id(row)} is ${here} here and ${there} on line ${rows.line(before)}`;
}
