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
  /** The rows that this session planned. */
  readonly planned: readonly Row[];
  /** True if an earlier session was at work on the run. */
  readonly isResumed: boolean;
  /** The four figures are of this session. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows written per second of writing. */
  readonly rowsPerSecond: number;
  readonly stop: StopReason | undefined;
  /** The file of rejected rows, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the rejects or the end of the journal could not be written. */
  readonly problem: CliError | undefined;
}

/** Failures of one kind. */
export interface FailureKind {
  /** Such as `404 no_entry` or `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  readonly count: number;
  /** True if each of them may succeed later. */
  readonly retryable: boolean;
  /** The first of them. */
  readonly example: {
    readonly line: number;
    readonly id: bigint;
    readonly message: string;
    readonly requestId?: string | undefined;
  };
}

/** The failures of rows by kind, the most frequent first. */
export function failuresOf(rows: readonly Row[]): FailureKind[] {
  const kinds = new Map<string, FailureKind & { count: number; retryable: boolean }>();
  for (const row of rows) {
    const { outcome, line, id } = row;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') continue;
    const { state } = outcome;
    const { status, code, message, requestId } = outcome.reason ?? { code: state, message: state };
    const kind = status === undefined || code === String(status) ? code : `${status} ${code}`;
    const retryable = isOpen(row);
    const failures = kinds.get(`${state} ${kind}`);
    if (failures) {
      failures.count += 1;
      failures.retryable &&= retryable;
    } else {
      const example = { line, id, message, requestId };
      kinds.set(`${state} ${kind}`, { kind, state, count: 1, retryable, example });
    }
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

/** The command that settles a row, if all rows that are open wait for other runs. */
export function settlingCommand(rows: readonly Row[]): readonly string[] | undefined {
  const commands = rows.filter(isOpen).map(({ outcome }) => outcome?.reason?.settledBy);
  return commands.every((command) => command !== undefined) ? commands[0] : undefined;
}

/**
 * The error that ends a session; undefined if every row is as the file says.
 *
 * @param retryable whether trying again may help without anybody's action.
 */
export function errorOf(
  header: RunHeader,
  counts: StateCounts,
  retryable: boolean,
  { stop, hint }: { readonly stop?: StopReason | undefined; readonly hint?: string | undefined } = {},
): CliError | undefined {
  const { failed, unknown, invalid, unprocessed, applied, unchanged } = counts;
  const isUndo = header.kind === 'undo';
  const wrong: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed, unprocessed === 1 ? 'is not processed' : 'are not processed'],
  ];
  const facts = wrong
    .filter(([count]) => count > 0)
    .map(([count, verb], at) => {
      const all = at === 0 ? ` of ${counted(header.rows, 'row', 'rows')}` : '';
      return `${groupDigits(count)}${all} ${verb}`;
    })
    .join(', ');
  if (!stop && facts === '') return undefined;
  // An undo that left every row alone has done what it is for.
  const kind: ErrorKind = isUndo || applied + unchanged > 0 ? 'partial' : 'failed';
  const what = isUndo ? `undo ${header.undoes}` : header.name;
  return new CliError(
    stop && stop.kind !== 'partial' ? stop.kind : kind,
    [`${what}: ${stop ? `stopped: ${stop.message}` : facts}`, ...(stop && facts ? [facts] : [])].join('; '),
    {
      hint,
      // A delivery is not applied again, but resumed.
      retryable: retryable && !header.flags.relative,
      applied: unknown > 0 ? 'unknown' : undefined,
    },
  );
}
