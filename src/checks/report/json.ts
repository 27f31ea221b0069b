import { version } from '../../../package.json';
import { printJson } from '../../process/exact-json.ts';
import type { CheckResult } from '../check.ts';
import { groupOf } from '../options.ts';
import type { SmokeReport } from './report.ts';
import { breakCommands } from './text.ts';

/** The report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, runs, exitCode, signal, totals, results } = report;
  const document = {
    tool: 'petstore smoke',
    version,
    target,
    startedAt: startedAt.toISOString(),
    seconds: seconds(elapsedMs),
    write,
    runs,
    exitCode,
    signal,
    totals,
    checks: results.map(toCheck),
  };
  return `${breakCommands(printJson(document, indent), '#\\u0023')}\n`;
}

/** A result as JSON; times in seconds. */
export function toCheck(result: CheckResult) {
  const { id, state, flaky, elapsedMs, reason, hint, operation, latency, made } = result;
  const { expected, got, pointer, method, url, status, requestId, runs, failures } = result;
  const group = groupOf(id);
  return {
    id,
    group,
    name: id.slice(group.length + 1),
    result: state,
    flaky: flaky !== undefined,
    first: flaky,
    seconds: seconds(elapsedMs),
    reason,
    hint,
    operation: operation?.id,
    expected,
    got,
    pointer,
    method,
    url,
    status,
    requestId,
    made: made && [...made],
    runs,
    failures,
    latency: latency && {
      p50: seconds(latency.p50),
      p95: seconds(latency.p95),
      max: seconds(latency.max),
    },
  };
}

/** Rounded to microseconds. */
function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(6));
}
