import { InputError, ManyError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { Problem } from './record.ts';
import { type InputFormat, recordPlace } from './split-input.ts';

/** A problem and the line of its record. In a JSON document it is the number of the record. */
export interface Issue extends Problem {
  readonly line: number;
  /** The text of the record, for a reject of another session. */
  readonly text: string;
}

/** The kind of a row that contradicts another row of the same record. */
export const conflict = 'conflict';

/** The input in messages. */
interface NamedInput {
  readonly name: string;
  readonly format: InputFormat;
}

/** `pets.csv:3: status must be …`. */
export function issueText({ name, format }: NamedInput, { line, message }: Issue): string {
  return `${recordPlace(name, format, line)}: ${message}`;
}

/** Returns the first issue of each kind, with the number of further issues of the kind. Conflicts come first. */
export function examplesOf(issues: readonly Issue[]): Issue[] {
  const groups = new Map<string, { readonly first: Issue; readonly places: Set<string | number> }>();
  for (const issue of issues) {
    const { kind = issue.message, line, message } = issue;
    const group = groups.get(kind) ?? { first: issue, places: new Set() };
    // The rows of a conflict share its message.
    group.places.add(kind === conflict ? message : line);
    groups.set(kind, group);
  }
  const examples = Array.from(groups.values(), ({ first, places }) => {
    const more = places.size === 1 ? '' : ` (and ${places.size - 1} more like this)`;
    return { ...first, message: first.message + more };
  });
  return examples.sort((a, b) => Number(b.kind === conflict) - Number(a.kind === conflict));
}

/**
 * Returns the error for an input with invalid rows. On a terminal it shows an example of each kind and the numbers; in JSON
 * it has every issue.
 */
export function invalidInputError(
  input: NamedInput,
  issues: readonly Issue[],
  hint: string | undefined,
): InputError | ManyError {
  const { name } = input;
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
  const toError = (issue: Issue) => new InputError(issueText(input, issue), issue.hint, issue.line);
  if (first && others.length === 0)
    return new InputError(issueText(input, first), first.hint ?? hint, first.line);
  const summary = new InputError(message, hint);
  const examples = [...examplesOf(issues).map(toError), summary];
  return new ManyError(message, issues.map(toError), 0, { ...summary.details, examples });
}
