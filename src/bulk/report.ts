import type { StopReason } from '../client/pace.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import { counted, groupDigits } from '../process/text.ts';
import type { Row } from './decide.ts';
import { isOpen, type StateCounts } from './rows.ts';
import type { RunHeader } from './run-header.ts';

/** The result of a session. */
export interface Report {
  /** The id of the run. */
  readonly id: string;
  readonly header: RunHeader;
  /** All rows of the run. */
  readonly rows: readonly Row[];
  /** The rows that this session looked at. */
  readonly planned: readonly Row[];
  /** Whether the run had an earlier session. */
  readonly isResumed: boolean;
  /** This and the next three figures count this session alone. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows that were written per second, without the time for the plan. */
  readonly rowsPerSecond: number;
  readonly stop: StopReason | undefined;
  /** The path of the file of rejects, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the rejects or the end of the journal could not be written. */
  readonly problem: CliError | undefined;
}

/** The rows that failed, or are unknown, for the same reason. */
export interface FailureGroup {
  /** Status and code, such as `404 no_entry`, or a code alone, such as `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  readonly count: number;
  /** Whether `resume` processes all of the rows again. */
  readonly retryable: boolean;
  /** The first of the rows. */
  readonly example: {
    readonly line: number;
    readonly id: bigint;
    readonly message: string;
    readonly requestId?: string | undefined;
  };
}

/** Groups the rows that failed or are unknown by reason, the largest group first. */
export function groupFailures(rows: readonly Row[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup & { count: number; retryable: boolean }>();
  for (const row of rows) {
    const { outcome, line, id } = row;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') continue;
    const { state } = outcome;
    const { status, code, message, requestId } = outcome.reason ?? { code: state, message: state };
    const kind = status === undefined || code === String(status) ? code : `${status} ${code}`;
    const retryable = isOpen(row);
    const group = groups.get(`${state} ${kind}`);
    if (group) {
      group.count += 1;
      group.retryable &&= retryable;
    } else {
      const example = { line, id, message, requestId };
      groups.set(`${state} ${kind}`, { kind, state, count: 1, retryable, example });
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** Finds the command that settles the first open row, if every open row waits for another run. */
export function findSettlingCommand(rows: readonly Row[]): readonly string[] | undefined {
  const commands = rows.filter(isOpen).map(({ outcome }) => outcome?.reason?.settledBy);
  return commands.every((command) => command !== undefined) ? commands[0] : undefined;
}

/**
 * Makes the error that ends a session. Undefined if every row is as the file says.
 *
 * @param retryable whether the same command may succeed later although nobody has changed anything.
 */
export function toRunError(
  header: RunHeader,
  counts: StateCounts,
  retryable: boolean,
  { stop, hint }: { readonly stop?: StopReason | undefined; readonly hint?: string | undefined } = {},
): CliError | undefined {
  const { failed, unknown, invalid, unprocessed, applied, unchanged } = counts;
  const isUndo = header.kind === 'undo';
  const failures: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed, unprocessed === 1 ? 'is not processed' : 'are not processed'],
  ];
  const facts = failures
    .filter(([count]) => count > 0)
    .map(([count, verb], index) => {
      const all = index === 0 ? ` of ${counted(header.rows, 'row', 'rows')}` : '';
      return `${groupDigits(count)}${all} ${verb}`;
    })
    .join(', ');
  if (!stop && facts === '') return undefined;
  // An undo that leaves every row alone has done its work.
  const kind: ErrorKind = isUndo || applied + unchanged > 0 ? 'partial' : 'failed';
  const subject = isUndo ? `undo ${header.undoes}` : header.name;
  return new CliError(
    stop && stop.kind !== 'partial' ? stop.kind : kind,
    [`${subject}: ${stop ? `stopped: ${stop.message}` : facts}`, ...(stop && facts ? [facts] : [])].join(
      '; ',
    ),
    {
      hint,
      // A delivery must be resumed: the same command again would book its rows twice.
      retryable: retryable && !header.flags.relative,
      applied: unknown > 0 ? 'unknown' : undefined,
    },
  );
}
