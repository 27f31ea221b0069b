import { version } from '../../../package.json';
import { printJson } from '../../process/exact-json.ts';
import { groupOf } from '../options.ts';
import { breakCommands } from './causes.ts';
import type { Outcome, SmokeReport } from './smoke-report.ts';

/** The word that says whose report it is. */
export const toolName = 'petstore smoke';

/** The report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, runs, exitCode, signal, totals, results } = report;
  const document = {
    tool: toolName,
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
function toCheck(result: Outcome) {
  const { id, state, first, elapsedMs, reason, hint, operation, latency, left } = result;
  const { expected, got, pointer, method, url, status, requestId, cache, runs, failures } = result;
  const group = groupOf(id);
  return {
    id,
    group,
    name: id.slice(group.length + 1),
    result: state,
    first,
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
    cache,
    left: left && [...left],
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
