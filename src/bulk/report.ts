import type { StopReason } from '../client/pace.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import { counted, groupDigits } from '../process/text.ts';
import type { Row } from '../writes/decide.ts';
import { type FateCounts, isForPerson, isLeft, isUnfinished, type Run } from './run.ts';
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
  /** Why each row is not processed that others have changed each time it was planned. */
  readonly deferrals: ReadonlyMap<Row, string>;
  /** Whether the run had an earlier session. */
  readonly isResumed: boolean;
  /** This and the next three figures count this session alone. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows that were settled per second, without the time for the plan. */
  readonly rowsPerSecond: number;
  readonly stop: StopReason | undefined;
  /** The path of the file of rejects, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the rejects or the end of the journal could not be written. */
  readonly problem: CliError | undefined;
}

/** The rows that failed, are unknown or were deferred, for the same reason. */
export interface FailureGroup {
  /** Status and code, such as `404 no_entry`, or a code alone, such as `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown' | 'deferred';
  readonly count: number;
  /** Whether `resume` processes all of the rows again. */
  readonly retryable: boolean;
  /** The first of the rows. */
  readonly example: {
    readonly line: number;
    readonly id?: bigint | undefined;
    readonly message: string;
    readonly requestId?: string | undefined;
  };
}

/** Groups the rows that are not as they should be by reason, the largest group first. */
export function groupFailures(
  rows: Iterable<Row>,
  deferrals: ReadonlyMap<Row, string> = new Map(),
): FailureGroup[] {
  const groups = new Map<string, FailureGroup & { count: number; retryable: boolean }>();
  for (const row of rows) {
    const { state: rowState, line, id } = row;
    const deferral = deferrals.get(row);
    const outcome = rowState.at === 'settled' ? rowState.outcome : undefined;
    const state = outcome?.state ?? (deferral === undefined ? undefined : 'deferred');
    if (state !== 'failed' && state !== 'unknown' && state !== 'deferred') continue;
    const { status, code, message, requestId } = outcome?.reason ?? {
      code: 'changed',
      message: deferral ?? state,
    };
    const kind = status === undefined || code === String(status) ? code : `${status} ${code}`;
    const retryable = isUnfinished(row);
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

/** The command that goes on with a run, as words: `resume`, `r7`. Undefined if the run is finished. */
export function findNextCommand({
  id = '',
  header,
  rows,
}: Pick<Run, 'id' | 'header'> & { readonly rows: readonly Row[] }): readonly string[] | undefined {
  const open = rows.filter((row) => isUnfinished(row) || isForPerson(row));
  const waiting = open.map((row) => (isForPerson(row) ? settleWords(id, row) : settledByOf(row)));
  if (open.length > 0 && waiting.every((words) => words !== undefined)) return waiting[0];
  if (open.length === 0) return undefined;
  return header.undoes === null ? ['resume', id] : ['undo', header.undoes];
}

/** The words with which a person says what happened to a row. */
export function settleWords(id: string, row: Row): readonly string[] {
  const name = row.id === undefined ? `line:${row.line}=<id>` : `${row.id}`;
  return ['runs', 'settle', id, name, '--as', 'applied'];
}

function settledByOf({ state }: Row): readonly string[] | undefined {
  return state.at === 'settled' ? state.outcome.reason?.settledBy : undefined;
}

/**
 * Whether the same command may end better although nobody has changed anything: a row failed for a reason that passes, and
 * nothing that adds or creates was sent.
 */
export function isRetryable({ kind, flags }: RunHeader, rows: readonly Row[], counts: FateCounts): boolean {
  if (flags.relative || kind === 'create' || counts.invalid > 0) return false;
  return rows.every((row) => {
    if (row.state.at !== 'settled') return true;
    const { state } = row.state.outcome;
    return (state !== 'failed' && state !== 'unknown') || isLeft(row);
  });
}

/**
 * Makes the error that ends a session. Undefined if every row is as the file says.
 *
 * @param retryable whether the same command may succeed later although nobody has changed anything.
 */
export function toRunError(
  header: RunHeader,
  counts: FateCounts,
  retryable: boolean,
  { stop, hint }: { readonly stop?: StopReason | undefined; readonly hint?: string | undefined } = {},
): CliError | undefined {
  const { failed, unknown, invalid, unprocessed, unsettled, applied, unchanged, booked } = counts;
  const isUndo = header.kind === 'undo';
  const failures: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed + unsettled, unprocessed + unsettled === 1 ? 'is not processed' : 'are not processed'],
  ];
  const facts = failures
    .filter(([count]) => count > 0)
    .map(([count, verb], index) => {
      const all = index === 0 ? ` of ${counted(header.rows, 'row', 'rows')}` : '';
      return `${groupDigits(count)}${all} ${verb}`;
    })
    .join(', ');
  if (!stop && facts === '') return undefined;
  const subject = isUndo ? `undo ${header.undoes}` : header.name;
  return new CliError(
    stop && stop.kind !== 'partial' ? stop.kind : kindOf(counts, isUndo, applied + unchanged + booked),
    [`${subject}: ${stop ? `stopped: ${stop.message}` : facts}`, ...(stop && facts ? [facts] : [])].join(
      '; ',
    ),
    { hint, retryable, applied: unknown > 0 ? 'unknown' : undefined },
  );
}

/** An undo that leaves every row alone has done its work. A run of which nothing is known is not refused. */
function kindOf(counts: FateCounts, isUndo: boolean, done: number): ErrorKind {
  const { failed, unknown, invalid, unprocessed, unsettled } = counts;
  if (done > 0) return 'partial';
  if (unknown === 0) return isUndo ? 'partial' : 'failed';
  return failed + invalid + unprocessed + unsettled === 0 ? 'unavailable' : 'partial';
}
