import { CliError, type ErrorKind } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { FailureKind } from './failures.ts';
import type { Run } from './open-run.ts';
import type { StopReason } from './pace.ts';
import { marks, type StateCounts } from './rows.ts';

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

interface SessionCounts {
  readonly rows: number;
  readonly applied: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly unknown: number;
  readonly unprocessed: number;
}

export function summarise(run: Run): Summary {
  const { header, failures, pace, stop, written, spentMs } = run;
  const { planning, writing } = spentMs;
  const byKind = failures.byKind();
  return {
    run: run.id,
    kind: header.kind,
    name: header.undoes ?? header.name,
    target: header.target,
    rows: header.rows,
    ...run.counts(),
    session: countSession(run),
    requests: pace.requests,
    retries: pace.retries,
    seconds: Math.round(planning + writing) / 1000,
    rowsPerSecond: writing > 0 ? Math.round((written * 1000) / writing) : 0,
    failures: byKind,
    retryable: byKind.length === 0 ? undefined : byKind.every((each) => each.retryable),
    left: run.left(),
    isRelative: header.flags.relative,
    isResumed: run.earlier !== undefined,
    stop: stop.reason,
  };
}

function countSession({ rows }: Run): SessionCounts {
  const counts = { rows: 0, applied: 0, unchanged: 0, failed: 0, unknown: 0, unprocessed: 0 };
  for (let row = 0; row < rows.length; row += 1) {
    if (!rows.isMarked(row, marks.planned)) continue;
    counts.rows += 1;
    const state = rows.state(row);
    if (state !== 'invalid' && state !== 'skipped') counts[state] += 1;
  }
  return counts;
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
