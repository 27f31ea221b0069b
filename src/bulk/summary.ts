import { CliError, type ErrorKind } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { StopReason } from './pace.ts';
import { countRows } from './read-journal.ts';
import { marks, type Rows, type StateCounts } from './rows.ts';
import type { Run } from './run.ts';

/** The result of a run. The states of the whole run always add up to its rows. */
export interface Summary extends StateCounts {
  /** Undefined if there was nothing to write. */
  readonly run: string | undefined;
  readonly kind: 'apply' | 'undo';
  /** The input, or the run that was undone. */
  readonly name: string;
  readonly target: string;
  readonly rows: number;
  /** What became in this session of the rows that it planned. */
  readonly session: SessionCounts;
  /** Of this session, as are the three below. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows written per second of writing. */
  readonly rowsPerSecond: number;
  readonly failures: readonly FailureKind[];
  /** True if trying again may help without anybody's action; undefined if nothing failed. */
  readonly retryable: boolean | undefined;
  /** How many rows `resume` would take. */
  readonly left: number;
  readonly isRelative: boolean;
  /** True if an earlier session was at work on the run. */
  readonly isResumed: boolean;
  readonly stop: StopReason | undefined;
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
    readonly petId: bigint;
    readonly message: string;
    readonly requestId?: string | undefined;
  };
}

interface SessionCounts extends Omit<StateCounts, 'invalid' | 'skipped'> {
  readonly rows: number;
}

export function summarise(run: Run): Summary {
  const { header, rows, pace, stop, written, planningMs, writingMs } = run;
  const failures = failuresOf(rows);
  return {
    run: run.id,
    kind: header.kind,
    name: header.undoes ?? header.name,
    target: header.target,
    rows: header.rows,
    ...countRows(run),
    session: countSession(rows),
    requests: pace.requests,
    retries: pace.retries,
    seconds: Math.round(planningMs + writingMs) / 1000,
    rowsPerSecond: writingMs > 0 ? Math.round((written * 1000) / writingMs) : 0,
    failures,
    retryable: failures.length === 0 ? undefined : failures.every((each) => each.retryable),
    left: rows.countLeft(),
    isRelative: header.flags.relative,
    isResumed: run.earlier !== undefined,
    stop: stop.reason,
  };
}

function countSession(rows: Rows): SessionCounts {
  const counts = { rows: 0, applied: 0, unchanged: 0, failed: 0, unknown: 0, unprocessed: 0 };
  for (const row of rows.where((each) => rows.isMarked(each, marks.planned))) {
    counts.rows += 1;
    const state = rows.state(row);
    if (state !== 'invalid' && state !== 'skipped') counts[state] += 1;
  }
  return counts;
}

/** The failures of rows by kind, the most frequent first. @param isCounted leaves rows out */
export function failuresOf(rows: Rows, isCounted: (row: number) => boolean = () => true): FailureKind[] {
  const found = new Map<string, FailureKind & { count: number; retryable: boolean }>();
  for (const row of rows.where(isCounted)) {
    const state = rows.state(row);
    if (state !== 'failed' && state !== 'unknown') continue;
    const { status, code, message, requestId } = rows.reason(row) ?? { code: state, message: state };
    const kind = [status, code].filter((part) => part !== undefined).join(' ');
    const retryable = rows.isLeft(row);
    const known = found.get(`${state} ${kind}`);
    if (known) {
      known.count += 1;
      known.retryable &&= retryable;
      continue;
    }
    const example = { line: rows.line(row), petId: rows.id(row), message, requestId };
    found.set(`${state} ${kind}`, { kind, state, count: 1, retryable, example });
  }
  return [...found.values()].sort((one, other) => other.count - one.count);
}

/** The part of a summary that decides how a run ends. */
type Result = StateCounts & Pick<Summary, 'kind' | 'name' | 'rows' | 'retryable' | 'isRelative' | 'stop'>;

/** The error that ends a run; undefined if every row is as the file says. */
export function errorOf(summary: Result, hint?: string): CliError | undefined {
  const { stop, failed, unknown, invalid, unprocessed, rows, name, kind } = summary;
  const wrong: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed, unprocessed === 1 ? 'is not processed' : 'are not processed'],
  ];
  const facts = wrong
    .filter(([count]) => count > 0)
    .map(([count, verb], at) => `${count}${at === 0 ? ` of ${counted(rows, 'row', 'rows')}` : ''} ${verb}`)
    .join(', ');
  const what = kind === 'undo' ? `undo ${name}` : name;
  const applied = unknown > 0 ? ('unknown' as const) : undefined;
  // A delivery is not applied again, but resumed.
  const retryable = summary.retryable === true && !summary.isRelative;
  const details = { hint, retryable, applied };
  if (stop) {
    const errorKind = stop.kind === 'partial' ? kindOf(summary) : stop.kind;
    return new CliError(errorKind, `${what}: stopped: ${stop.message}${facts && `; ${facts}`}`, details);
  }
  return facts === '' ? undefined : new CliError(kindOf(summary), `${what}: ${facts}`, details);
}

/** `partial` if some row is as the file says; an undo that left every row alone has done what it is for. */
function kindOf({ applied, unchanged, kind }: Result): ErrorKind {
  return kind === 'undo' || applied + unchanged > 0 ? 'partial' : 'failed';
}
