import type { StopReason } from '../client/pace.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import { counted, groupDigits } from '../process/text.ts';
import type { Row } from './decide.ts';
import type { RunHeader } from './journal.ts';
import type { Plan } from './plan.ts';
import { countStates, isLeft, isOpen, type StateCounts } from './rows.ts';
import type { Run } from './run.ts';
import { otherCount } from './write-row.ts';

/** The result of a session. The states of the whole run always add up to its rows. */
export interface Report extends StateCounts {
  readonly run: string | undefined;
  readonly kind: RunHeader['kind'];
  readonly noun: RunHeader['noun'];
  /** The input, or the run that was undone. */
  readonly name: string;
  readonly target: string;
  readonly rows: number;
  /** What became in this session of the rows that it planned. */
  readonly session: Omit<StateCounts, 'invalid' | 'skipped'> & { readonly rows: number };
  /** Of this session, as are the three below. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows written per second of writing. */
  readonly rowsPerSecond: number;
  readonly failures: readonly FailureKind[];
  /** True if trying again may help without anybody's action; undefined if nothing failed. */
  readonly retryable: boolean | undefined;
  /** How many rows a further session takes, and how many of those are not unknown. */
  readonly open: number;
  readonly left: number;
  readonly isRelative: boolean;
  /** True if an earlier session was at work on the run. */
  readonly isResumed: boolean;
  /** Rows whose answer shows another count than the one that was sent. */
  readonly distrusted: readonly Row[];
  /** The first command that settles rows, if all that are open wait for other runs. */
  readonly settledBy: string | undefined;
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

export function reportOf(
  run: Run,
  plan: Plan,
  rejects: string | undefined,
  problem: CliError | undefined,
): Report {
  const { header, rows, pace, stop, progress, planningMs, writingMs, retried } = run;
  const failures = failuresOf(rows);
  const open = rows.filter(isOpen);
  return {
    run: run.id,
    kind: header.kind,
    noun: header.noun,
    name: header.undoes ?? header.name,
    target: header.target,
    rows: header.rows,
    ...countStates(rows, header),
    session: { rows: plan.rows.length, ...countStates(plan.rows) },
    requests: pace.requests,
    retries: pace.retries + retried,
    seconds: Math.round(planningMs + writingMs) / 1000,
    rowsPerSecond: writingMs > 0 ? Math.round((progress.written * 1000) / writingMs) : 0,
    failures,
    retryable: failures.length === 0 ? undefined : failures.every((each) => each.retryable),
    open: open.length,
    left: rows.filter(isLeft).length,
    isRelative: header.flags.relative,
    isResumed: run.earlier !== undefined,
    distrusted: rows.filter(({ outcome }) => outcome?.reason?.code === otherCount),
    settledBy: settledByAnother(open),
    stop: stop.reason,
    rejects,
    problem,
  };
}

function settledByAnother(open: readonly Row[]): string | undefined {
  const commands = open.map(({ outcome }) => outcome?.reason?.settledBy);
  return commands.every((command) => command !== undefined) ? commands[0] : undefined;
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

/** The part of a report that decides how a session ends. */
type RunResult = StateCounts & Pick<Report, 'kind' | 'name' | 'rows' | 'retryable' | 'isRelative' | 'stop'>;

/** The error that ends a session; undefined if every row is as the file says. */
export function errorOf(report: RunResult, hint?: string): CliError | undefined {
  const { stop, failed, unknown, invalid, unprocessed, rows, name, kind } = report;
  const wrong: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed, unprocessed === 1 ? 'is not processed' : 'are not processed'],
  ];
  const facts = wrong
    .filter(([count]) => count > 0)
    .map(
      ([count, verb], at) =>
        `${groupDigits(count)}${at === 0 ? ` of ${counted(rows, 'row', 'rows')}` : ''} ${verb}`,
    )
    .join(', ');
  const what = kind === 'undo' ? `undo ${name}` : name;
  const applied = unknown > 0 ? ('unknown' as const) : undefined;
  // A delivery is not applied again, but resumed.
  const retryable = report.retryable === true && !report.isRelative;
  const details = { hint, retryable, applied };
  if (stop) {
    const errorKind = stop.kind === 'partial' ? kindOf(report) : stop.kind;
    return new CliError(errorKind, `${what}: stopped: ${stop.message}${facts && `; ${facts}`}`, details);
  }
  return facts === '' ? undefined : new CliError(kindOf(report), `${what}: ${facts}`, details);
}

/** `partial` if some row is as the file says; an undo that left every row alone has done what it is for. */
function kindOf({ applied, unchanged, kind }: RunResult): ErrorKind {
  return kind === 'undo' || applied + unchanged > 0 ? 'partial' : 'failed';
}
