import { InputError, ManyError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { Position } from './record.ts';

/** Why a record cannot be used. */
export interface Problem {
  /** Names column and value if one of them is wrong; a clause without a full stop. */
  readonly message: string;
  /** The index of the column that is wrong. */
  readonly index?: number | undefined;
  /** The flag that would let the row pass. */
  readonly remedy?: string | undefined;
  readonly hint?: string | undefined;
  /** The columns that the command reads, as they are written, if they are there. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** A problem and the position of its record. */
export interface Issue extends Position, Omit<Problem, 'index'> {
  /** The position of the value that is wrong, if it is not the whole record. */
  readonly at?: Position | undefined;
  /** True if the row contradicts another row of the same record. */
  readonly isConflict?: true | undefined;
}

/** `pets.csv:3:7: status must be …`. */
export function issueText(name: string, { line, column, at = { line, column }, message }: Issue): string {
  return `${name}:${at.line}:${at.column}: ${message}`;
}

/** All that is wrong with an input. */
export class Issues {
  readonly all: Issue[] = [];

  add(issue: Issue): void {
    this.all.push(issue);
  }

  /** The first issue of each kind, with the number of others of that kind; conflicts first. */
  examples(): Issue[] {
    const kinds = new Map<string, Issue[]>();
    for (const issue of this.all) {
      const kind = issueKind(issue);
      const issues = kinds.get(kind);
      if (issues) issues.push(issue);
      else kinds.set(kind, [issue]);
    }
    const examples = [...kinds.values()].flatMap(([first, ...others]) => {
      if (!first) return [];
      const more = others.length === 0 ? '' : ` (and ${others.length} more like this)`;
      return [{ ...first, message: first.message + more }];
    });
    return examples.sort((a, b) => Number(b.isConflict ?? false) - Number(a.isConflict ?? false));
  }
}

interface InputExtent {
  /** The rows of the input. */
  readonly total: number;
  /** Whether the command has --skip-invalid. */
  readonly canSkip: boolean;
}

/** What the messages of a kind share: all but their quoted texts and numbers. */
function issueKind({ message }: Issue): string {
  return message.replace(/"(?:\\.|[^"\\])*"|'[^']*'|\d+/g, '');
}

/**
 * The error for an input with invalid rows. People read an example of each kind and the numbers, programs every issue.
 */
export function invalidInput(name: string, issues: Issues, extent: InputExtent): InputError | ManyError {
  const [first, ...others] = issues.all;
  const conflicts = issues.all.filter((issue) => issue.isConflict).length;
  const invalid = issues.all.length - conflicts;
  const what = [
    ...(conflicts > 0
      ? [`${counted(conflicts, 'row conflicts', 'rows conflict')} with another row of the same record`]
      : []),
    ...(invalid > 0 ? [`${counted(invalid, 'row is', 'rows are')} invalid`] : []),
  ];
  const message = `${name}: ${what.join(' and ')}; nothing was sent`;
  const toError = (issue: Issue) => new InputError(issueText(name, issue), issue.hint, issue.line);
  const hint = hintFor(issues.all, conflicts, extent);
  if (first && others.length === 0)
    return new InputError(issueText(name, first), first.hint ?? hint, first.line);
  const { details } = new InputError(message, hint);
  return new ManyError(message, issues.all.map(toError), 0, {
    ...details,
    examples: [...issues.examples().map(toError), new InputError(message, hint)],
  });
}

/** The flag that lets most of the rows pass. Leaving rows out is only right if few are wrong. */
function hintFor(
  issues: readonly Issue[],
  conflicts: number,
  { total, canSkip }: InputExtent,
): string | undefined {
  const remedies = new Map<string, number>();
  for (const { remedy } of issues)
    if (remedy !== undefined) remedies.set(remedy, (remedies.get(remedy) ?? 0) + 1);
  const [best] = [...remedies].sort(([, a], [, b]) => b - a);
  if (best && best[1] * 2 > issues.length) return best[0];
  if (conflicts > 0) return 'remove all but one row of each record';
  return canSkip && issues.length * 20 <= total ? '--skip-invalid applies the other rows' : undefined;
}
