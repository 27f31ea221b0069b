import { UsageError } from '../process/errors.ts';
import { type Check, groupOf } from './check.ts';
import { type CheckSubject, createReadChecks, listCheckIds } from './check-table.ts';
import type { Condition } from './condition.ts';
import { createWriteChecks } from './write-checks.ts';

/** What the user has chosen. */
interface Selection {
  /** Patterns of the ids to run; an empty list selects all checks. */
  readonly only: readonly string[];
  /** Patterns of the ids to leave out. */
  readonly skip: readonly string[];
  readonly write: boolean;
}

export interface SelectedChecks {
  /** Checks that only read, in the order of the reports. */
  readonly reads: readonly Check[];
  /** Checks that write, in the order of the reports. */
  readonly writes: readonly Check[];
  /** Deletes the test records that the write checks have left. */
  readonly cleanUp: Check;
}

/**
 * Makes the checks of a service, without those that `--only` and `--skip` leave out. The group reach always runs.
 *
 * @throws UsageError for a pattern that no check of any service matches.
 */
export function selectChecks(subject: CheckSubject, selection: Selection): SelectedChecks {
  const { expect, contract } = subject;
  requireKnown('--only', selection.only, expect);
  requireKnown('--skip', selection.skip, expect);
  const { checks: writes, cleanUp } = createWriteChecks(contract);
  const isChosen = ({ id }: Check) => isSelected(id, selection);
  return {
    reads: createReadChecks(subject).filter((check) => groupOf(check.id) === 'reach' || isChosen(check)),
    writes: selection.write ? writes.filter(isChosen) : [],
    cleanUp,
  };
}

/** @throws UsageError for a pattern that matches no check. A check that this run does not have is no mistake. */
function requireKnown(flag: string, patterns: readonly string[], expect: readonly Condition[]): void {
  for (const pattern of patterns) {
    const ids = listCheckIds(expect);
    if (ids.some((id) => matches(id, pattern))) continue;
    // The last one is not of this run: it makes the group known.
    const known = ids.filter((id) => id !== `expect/${expect.length + 1}`).join(', ');
    throw new UsageError(`${flag} '${pattern}': no check has this id`, `the checks are ${known}`);
  }
}

/** Returns true if a check is selected. `--only` does not leave out the checks of `--expect`. */
function isSelected(id: string, { only, skip: skipped }: Selection): boolean {
  const isIncluded =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => matches(id, pattern));
  return isIncluded && !skipped.some((pattern) => matches(id, pattern));
}

/** In a pattern, `*` is any text, and `?` one character. A pattern without a slash selects groups. */
function matches(id: string, pattern: string): boolean {
  const expression = (pattern.includes('/') ? pattern : `${pattern}/*`)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^${expression}$`).test(id);
}
