import { InputError, ManyError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { Position, Problem } from './record.ts';

/** A problem and the position of its record. */
export interface Issue extends Position, Omit<Problem, 'columnName'> {
  /** The position of the wrong value. Undefined if the whole record is wrong. */
  readonly at?: Position | undefined;
}

/** The kind of a row that contradicts another row of the same record. */
export const conflict = 'conflict';

/** `pets.csv:3:7: status must be …`. */
export function issueText(name: string, { line, column, at = { line, column }, message }: Issue): string {
  return `${name}:${at.line}:${at.column}: ${message}`;
}

/** Returns the first issue of each kind, with the number of further issues of the kind. Conflicts come first. */
export function examplesOf(issues: readonly Issue[]): Issue[] {
  const groups = new Map<string, { readonly first: Issue; count: number }>();
  for (const issue of issues) {
    const { kind = issue.message } = issue;
    const group = groups.get(kind);
    if (group) group.count += 1;
    else groups.set(kind, { first: issue, count: 1 });
  }
  const examples = Array.from(groups.values(), ({ first, count }) => {
    const more = count === 1 ? '' : ` (and ${count - 1} more like this)`;
    return { ...first, message: first.message + more };
  });
  return examples.sort((a, b) => Number(b.kind === conflict) - Number(a.kind === conflict));
}

/**
 * Returns the error for an input with invalid rows. On a terminal it shows an example of each kind and the numbers; in JSON
 * it has every issue.
 *
 * @param extent the number of rows in the input, and whether the command has --skip-invalid.
 */
export function invalidInputError(
  name: string,
  issues: readonly Issue[],
  extent: { readonly total: number; readonly canSkip: boolean },
): InputError | ManyError {
  const [first, ...others] = issues;
  const conflicts = issues.filter(({ kind }) => kind === conflict).length;
  const invalid = issues.length - conflicts;
  const clauses: string[] = [];
  if (conflicts > 0)
    clauses.push(
      `${counted(conflicts, 'row conflicts', 'rows conflict')} with another row of the same record`,
    );
  if (invalid > 0) clauses.push(`${counted(invalid, 'row is', 'rows are')} invalid`);
  const message = `${name}: ${clauses.join(' and ')}; nothing was sent`;
  const toError = (issue: Issue) => new InputError(issueText(name, issue), issue.hint, issue.line);
  const hint = hintFor(issues, conflicts, extent);
  if (first && others.length === 0)
    return new InputError(issueText(name, first), first.hint ?? hint, first.line);
  const summary = new InputError(message, hint);
  const examples = [...examplesOf(issues).map(toError), summary];
  return new ManyError(message, issues.map(toError), 0, { ...summary.details, examples });
}

/** Returns a hint: the flag with which most of the rows are valid, or `--skip-invalid` if few rows are wrong. */
function hintFor(
  issues: readonly Issue[],
  conflicts: number,
  { total, canSkip }: { readonly total: number; readonly canSkip: boolean },
): string | undefined {
  const countByRemedy = new Map<string, number>();
  for (const { remedy } of issues)
    if (remedy !== undefined) countByRemedy.set(remedy, (countByRemedy.get(remedy) ?? 0) + 1);
  const [best] = [...countByRemedy].sort(([, a], [, b]) => b - a);
  if (best && best[1] * 2 > issues.length) return best[0];
  if (conflicts > 0) return 'remove all but one row of each record';
  return canSkip && issues.length * 20 <= total ? '--skip-invalid applies the other rows' : undefined;
}
