import { InputError, ManyError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { Position, Problem } from './record.ts';

/** A problem and the position of its record. */
export interface Issue extends Position, Omit<Problem, 'columnName'> {
  /** The position of the value that is wrong, if it is not the whole record. */
  readonly at?: Position | undefined;
}

/** The kind of a row that contradicts another row of the same record. */
export const conflict = 'conflict';

/** `pets.csv:3:7: status must be …`. */
export function issueText(name: string, { line, column, at = { line, column }, message }: Issue): string {
  return `${name}:${at.line}:${at.column}: ${message}`;
}

/** The first issue of each kind, with the number of others of that kind; conflicts first. */
export function examplesOf(issues: readonly Issue[]): Issue[] {
  const kinds = new Map<string, { readonly first: Issue; count: number }>();
  for (const issue of issues) {
    const { kind = issue.message } = issue;
    const alike = kinds.get(kind);
    if (alike) alike.count += 1;
    else kinds.set(kind, { first: issue, count: 1 });
  }
  const examples = Array.from(kinds.values(), ({ first, count }) => {
    const more = count === 1 ? '' : ` (and ${count - 1} more like this)`;
    return { ...first, message: first.message + more };
  });
  return examples.sort((a, b) => Number(b.kind === conflict) - Number(a.kind === conflict));
}

/**
 * The error for an input with invalid rows. People read an example of each kind and the numbers, programs every issue.
 *
 * @param extent the rows of the input, and whether the command has --skip-invalid.
 */
export function invalidInput(
  name: string,
  issues: readonly Issue[],
  extent: { readonly total: number; readonly canSkip: boolean },
): InputError | ManyError {
  const [first, ...others] = issues;
  const conflicts = issues.filter(({ kind }) => kind === conflict).length;
  const invalid = issues.length - conflicts;
  const conflicting = `${counted(conflicts, 'row conflicts', 'rows conflict')} with another row of the same record`;
  const what = [
    ...(conflicts > 0 ? [conflicting] : []),
    ...(invalid > 0 ? [`${counted(invalid, 'row is', 'rows are')} invalid`] : []),
  ];
  const message = `${name}: ${what.join(' and ')}; nothing was sent`;
  const toError = (issue: Issue) => new InputError(issueText(name, issue), issue.hint, issue.line);
  const hint = hintFor(issues, conflicts, extent);
  if (first && others.length === 0)
    return new InputError(issueText(name, first), first.hint ?? hint, first.line);
  const summary = new InputError(message, hint);
  const examples = [...examplesOf(issues).map(toError), summary];
  return new ManyError(message, issues.map(toError), 0, { ...summary.details, examples });
}

/** The flag that lets most of the rows pass. `--skip-invalid` is offered only if few rows are wrong. */
function hintFor(
  issues: readonly Issue[],
  conflicts: number,
  { total, canSkip }: { readonly total: number; readonly canSkip: boolean },
): string | undefined {
  const remedies = new Map<string, number>();
  for (const { remedy } of issues)
    if (remedy !== undefined) remedies.set(remedy, (remedies.get(remedy) ?? 0) + 1);
  const [best] = [...remedies].sort(([, a], [, b]) => b - a);
  if (best && best[1] * 2 > issues.length) return best[0];
  if (conflicts > 0) return 'remove all but one row of each record';
  return canSkip && issues.length * 20 <= total ? '--skip-invalid applies the other rows' : undefined;
}
