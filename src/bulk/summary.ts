import { CliError, type ErrorKind } from '../process/errors.ts';
import type { FailureKind } from './ledger.ts';
import type { StopReason } from './pace.ts';
import type { State } from './rows.ts';
import type { Session } from './session.ts';

/** The result of a run. The states always add up to its rows. */
export interface Summary extends Readonly<Record<State, number>> {
  /** Undefined if there was nothing to write. */
  readonly run: string | undefined;
  /** The input, or the run that was undone. */
  readonly name: string;
  readonly target: string;
  readonly rows: number;
  /** Of this session, as are the three below. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  /** Rows written per second of writing. */
  readonly rowsPerSecond: number;
  readonly failures: readonly FailureKind[];
  /** True if trying again may help without anybody's action; undefined if nothing failed. */
  readonly retryable: boolean | undefined;
  /** Rows that were read back; undefined without `--verify`. */
  readonly verified: number | undefined;
  readonly stop: StopReason | undefined;
}

/** @param run the id of the run, if it was kept. */
export function summarise(session: Session, run: string | undefined): Summary {
  const { job, ledger, pace, rows, stop, written, verified, spentMs } = session;
  const { planning, writing, verifying } = spentMs;
  const failures = ledger.failures();
  return {
    run,
    name: job.name,
    target: job.identity.target,
    verified,
    rows: rows.length,
    ...rows.countStates(),
    requests: pace.requests,
    retries: pace.retries,
    seconds: Math.round(planning + writing + verifying) / 1000,
    rowsPerSecond: writing > 0 ? Math.round((written * 1000) / writing) : 0,
    failures,
    retryable: failures.length === 0 ? undefined : failures.every((each) => each.retryable),
    stop: stop.reason,
  };
}

/** The error that ends a run; undefined if every row is as the file says. */
export function errorOf(summary: Summary, hint?: string): CliError | undefined {
  const { stop, failed, unknown, invalid, unprocessed, rows, name } = summary;
  const wrong: readonly (readonly [count: number, verb: string])[] = [
    [failed, 'failed'],
    [unknown, unknown === 1 ? 'is unknown' : 'are unknown'],
    [invalid, invalid === 1 ? 'is invalid' : 'are invalid'],
    [unprocessed, unprocessed === 1 ? 'is not processed' : 'are not processed'],
  ];
  const all = rows === 1 ? '1 row' : `${rows} rows`;
  const told = wrong
    .filter(([count]) => count > 0)
    .map(([count, verb], at) => `${count}${at === 0 ? ` of ${all}` : ''} ${verb}`)
    .join(', ');
  if (stop) {
    const kind = stop.kind === 'partial' ? kindOfFailures(summary) : stop.kind;
    return new CliError(kind, `${name}: stopped: ${stop.message}${told && `; ${told}`}`, { hint });
  }
  return told === '' ? undefined : new CliError(kindOfFailures(summary), `${name}: ${told}`, { hint });
}

/** `partial` if some row is as the file says; else the reason, if all failed because no answer came. */
function kindOfFailures({ applied, unchanged, failures, invalid }: Summary): ErrorKind {
  if (applied + unchanged > 0) return 'partial';
  const isUnavailable = failures.length > 0 && invalid === 0 && failures.every((each) => each.retryable);
  return isUnavailable ? 'unavailable' : 'failed';
}
