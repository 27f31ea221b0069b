import type { ExitCode, Signal } from '../../process/errors.ts';
import { breakRunnerCommands, sanitize } from '../../process/text.ts';
import { type Finding, type State, states } from '../check.ts';
import type { CheckResult } from '../run-checks.ts';

/** The words for the totals, in the order of the reports. */
export const totalNames: Readonly<Record<State, string>> = {
  pass: 'passed',
  flaky: 'flaky',
  warn: 'warned',
  fail: 'failed',
  error: 'not carried out',
  skip: 'skipped',
};

/** What smoke found. Every report is made from this. */
export interface SmokeReport {
  /** The base URL, or `the embedded store`. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** True if `--write` was given. */
  readonly write: boolean;
  /** The results of all checks, in the order of the groups. */
  readonly results: readonly CheckResult[];
  readonly exitCode: ExitCode;
  /** The signal that stopped the checks. */
  readonly signal?: Signal | undefined;
}

/** Counts the checks, and those in each state. */
export function totalsOf(results: readonly CheckResult[]): Readonly<Record<State | 'checks', number>> {
  const count = (wanted: State) => results.filter(({ state }) => state === wanted).length;
  const entries = (Object.keys(totalNames) as State[]).map((state) => [state, count(state)]);
  return { checks: results.length, ...(Object.fromEntries(entries) as Record<State, number>) };
}

/** Turns text of the service into one line of a log. */
export function lineText(text: string): string {
  return breakRunnerCommands(sanitize(text));
}

/** Returns the reason and the hint of a finding, in one line. */
export function reasonText({ reason, hint }: Finding): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** Returns the details of a finding, each with its label. */
export function labelledDetails(finding: Finding): [label: string, text: string][] {
  const { reason, expected, got, pointer, method, url, requestId } = finding;
  const details: [string, string | undefined][] = [
    ['expected', expected],
    ['got', reason.includes(got ?? '\n') ? undefined : got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
  ];
  return details.flatMap(([label, text]) => (text === undefined ? [] : [[label, lineText(text)]]));
}

/** A finding, and the ids of the checks with this state and reason. A report tells it once. */
export interface Cause {
  readonly finding: Finding;
  readonly ids: string[];
}

/** Groups results by their cause, the gravest first. */
export function causesOf(results: readonly CheckResult[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const result of states.flatMap((state) => results.filter((each) => each.state === state))) {
    const key = `${result.state} ${result.reason}`;
    const cause = causes.get(key) ?? { finding: result, ids: [] };
    cause.ids.push(result.id);
    causes.set(key, cause);
  }
  return [...causes.values()];
}

/** Returns the id of the only check, or the number of checks, such as `5 checks`. */
export function subjectOf({ ids }: Cause): string {
  return ids.length === 1 ? String(ids[0]) : `${ids.length} checks`;
}
