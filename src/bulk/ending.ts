import { CliError, type ErrorKind } from '../errors.ts';
import type { Summary } from './summary.ts';

/** The error that a run ends with: undefined where every row is as the file says. */
export function errorOf(summary: Summary, hint?: string): CliError | undefined {
  const { stop, failed, unknown, invalid, unprocessed, rows, name } = summary;
  const wrong = [
    part(failed, 'failed'),
    part(unknown, 'unknown'),
    part(invalid, 'invalid'),
    part(unprocessed, 'not processed'),
  ];
  const told = wrong.filter((each) => each !== undefined).join(', ');
  if (stop) {
    const kind = stop.kind === 'partial' ? kindOfFailures(summary) : stop.kind;
    return new CliError(kind, `${name}: stopped: ${stop.message}${told && `; of ${rows} rows ${told}`}`, {
      hint,
    });
  }
  if (told === '') return undefined;
  return new CliError(kindOfFailures(summary), `${name}: of ${rows} rows ${told}`, { hint });
}

function part(count: number, state: string): string | undefined {
  return count === 0
    ? undefined
    : `${count} ${count === 1 ? 'is' : 'are'} ${state}`.replace(/(is|are) failed/, 'failed');
}

/** `partial` where something is as the file says; else the reason, where all failed for want of an answer. */
function kindOfFailures({ applied, unchanged, failures, invalid }: Summary): ErrorKind {
  if (applied + unchanged > 0) return 'partial';
  const isUnavailable = failures.length > 0 && invalid === 0 && failures.every((each) => each.isUnavailable);
  return isUnavailable ? 'unavailable' : 'failed';
}
