import { CliError, type ErrorKind } from '../errors.ts';
import type { Summary } from './summary.ts';

/** The error that a run ends with: undefined where every row is as the file says. */
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

/** `partial` where something is as the file says; else the reason, where all failed for want of an answer. */
function kindOfFailures({ applied, unchanged, failures, invalid }: Summary): ErrorKind {
  if (applied + unchanged > 0) return 'partial';
  const isUnavailable = failures.length > 0 && invalid === 0 && failures.every((each) => each.isUnavailable);
  return isUnavailable ? 'unavailable' : 'failed';
}
