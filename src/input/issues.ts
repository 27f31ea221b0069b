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

/** Returns the first issue of each kind, with the number of further issues of the kind. */
export function examplesOf(issues: readonly Issue[]): Issue[] {
  const groups = new Map<string, Issue[]>();
  const conflicts = new Set<string>();
  for (const issue of issues) {
    const { kind = issue.message } = issue;
    const group = groups.get(kind) ?? [];
    groups.set(kind, group);
    // The two rows of a conflict share its message.
    if (kind === conflict && conflicts.has(issue.message)) continue;
    if (kind === conflict) conflicts.add(issue.message);
    group.push(issue);
  }
  return Array.from(groups.values(), ([first, ...others]) => {
    const more = others.length === 0 ? '' : ` (and ${others.length} more like this)`;
    return { ...(first as Issue), message: `${first?.message}${more}` };
  });
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
  const message = `${name}: ${counted(issues.length, 'row is', 'rows are')} invalid; nothing was sent`;
  const toError = (issue: Issue) => new InputError(issueText(input, issue), issue.hint, issue.line);
  if (first && others.length === 0)
    return new InputError(issueText(input, first), first.hint ?? hint, first.line);
  const summary = new InputError(message, hint);
  const examples = [...examplesOf(issues).map(toError), summary];
  return new ManyError(message, issues.map(toError), 0, { ...summary.details, examples });
}
