import { version } from '../../../package.json';
import type { JsonObject } from '../../json.ts';
import { printJson } from '../../json.ts';
import type { CheckResult } from '../check.ts';
import type { SmokeReport } from '../smoke.ts';
import { breakCommands } from './text.ts';

/** The report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, exitCode, signal, totals, results } = report;
  const document = {
    tool: 'petstore smoke',
    version,
    target,
    startedAt: startedAt.toISOString(),
    seconds: seconds(elapsedMs),
    write,
    exitCode,
    ...(signal && { signal }),
    totals,
    checks: results.map(toCheck),
  };
  return `${breakCommands(printJson(document, indent), '#\\u0023')}\n`;
}

/** A result with the fields that it has, the same names everywhere. */
export function toCheck(result: CheckResult): JsonObject {
  const { id, group, name, outcome, flaky, elapsedMs, reason } = result;
  const { operation, expected, got, pointer, method, url, status } = result;
  const all = {
    id,
    group,
    name,
    result: outcome,
    flaky,
    seconds: seconds(elapsedMs),
    reason,
    operation: operation?.id,
    expected,
    got,
    pointer,
    method,
    url,
    status,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** To the microsecond. */
function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(6));
}
