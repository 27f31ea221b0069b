import type { CheckResult, State } from '../../../src/checks/check.ts';
import { exitCodeOf, type SmokeReport, totalsOf } from '../../../src/checks/report/report.ts';

export function resultOf(
  id: `${string}/${string}`,
  state: State,
  more: Partial<CheckResult> = {},
): CheckResult {
  return { id, state, reason: `${state} it is`, elapsedMs: 1.5, ...more };
}

export function reportOf(results: readonly CheckResult[], more: Partial<SmokeReport> = {}): SmokeReport {
  return {
    target: 'http://127.0.0.1:4010',
    startedAt: new Date('2026-05-01T10:00:00Z'),
    elapsedMs: 1234.5,
    write: false,
    runs: 1,
    results,
    totals: totalsOf(results),
    exitCode: exitCodeOf(results),
    ...more,
  };
}

/** Text of a hostile service: markup, control characters, commands of CI runners, directives of TAP. */
export const hostile =
  '</failure>]]><!--&amp; "\'\u0000\u0008\u001b[31m\ud800\uffff\u202e\r\n::error::x ##[add-mask]y ##vso[task.setvariable]z # SKIP \\ `|<img src=x>%0A\nnot ok 99 - nope';

export const sample: readonly CheckResult[] = [
  resultOf('reach/dns', 'pass'),
  resultOf('reach/http', 'pass', { flaky: '503 Service Unavailable' }),
  resultOf('tls/valid', 'skip', { reason: `the base URL is http ${hostile}` }),
  resultOf('op/getPet', 'fail', {
    reason: `/id breaks the schema ${hostile}`,
    expected: 'an integer (int64)',
    got: hostile,
    pointer: '/id',
    method: 'GET',
    url: 'http://127.0.0.1:4010/pets/1',
    status: 200,
  }),
  resultOf('op/listOrders', 'error', { reason: hostile }),
  resultOf('lifecycle/getPet', 'warn', {
    reason: hostile,
    hint: hostile,
    requestId: hostile,
    made: [hostile],
  }),
];
