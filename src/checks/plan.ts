import type { Contract } from '../api/contract.ts';
import { UsageError } from '../errors.ts';
import { maskUrl } from '../mask.ts';
import {
  type Check,
  interrupted,
  isRed,
  skip,
  type Verdict,
  VerdictError,
  verdictOfError,
  warn,
} from './check.ts';
import { sweepCheck } from './cleanup.ts';
import { expectChecks } from './conditions.ts';
import { checkLifecycle } from './lifecycle.ts';
import { groupOf, groups, type SmokeOptions } from './options.ts';
import { type Probe, readChecks } from './probe.ts';
import { gates, reachChecks } from './reach.ts';
import { checkLatency, checkOperation } from './reads.ts';
import { authChecks, errorChecks } from './refusals.ts';
import { writeChecks } from './write.ts';

/** All checks that a run can have, in order. Every check other than the gates needs the gates. */
function allChecks(contract: Contract, options: SmokeOptions): Check<Probe>[] {
  const others = [
    ...readChecks('op', contract, checkOperation),
    ...errorChecks(contract),
    ...readChecks('lifecycle', contract, checkLifecycle),
    ...authChecks(contract),
    ...(options.samples === undefined ? [] : readChecks('latency', contract, checkLatency)),
    ...expectChecks(options.expect),
    ...(options.sweepMs === undefined ? [] : [sweepCheck]),
    ...(options.write ? writeChecks(contract) : []),
  ];
  return [...reachChecks, ...others.map((check) => ({ ...check, needs: gates }))];
}

/**
 * The checks to run: the selected ones, and the gates, because the others depend on them. Of gates that were not
 * selected, only failures are reported.
 *
 * @throws UsageError if a pattern matches no group, or if the patterns together leave no check.
 */
export function planChecks(contract: Contract, options: SmokeOptions): Check<Probe>[] {
  const { only, skip } = options;
  const known = `the groups are ${groups.join(', ')}`;
  for (const pattern of [...only, ...skip])
    if (!namesGroup(pattern)) throw new UsageError(`no check has an id like '${pattern}'`, known);
  const checks = allChecks(contract, options);
  if (!checks.some(({ id }) => isSelected(id, options)))
    throw new UsageError(
      'no check is left to run',
      `${known}; write needs --write, latency --max-latency or --samples, expect --expect`,
    );
  if (
    options.samples !== undefined &&
    !checks.some(({ id }) => isSelected(id, options) && groupOf(id) === 'latency')
  )
    throw new UsageError('--max-latency and --samples: --only and --skip leave no latency to measure');
  const isReachSkipped = skip.some((pattern) => pattern.startsWith('reach'));
  return checks.filter(({ id }) => isSelected(id, options) || (groupOf(id) === 'reach' && !isReachSkipped));
}

/** The selected checks. @throws UsageError if there are none. */
export function listChecks(contract: Contract, options: SmokeOptions): Check<Probe>[] {
  return planChecks(contract, options).filter(({ id }) => isSelected(id, options));
}

/**
 * Whether a check is selected. `*` matches any text without a slash, `**` any text, `?` one character; a pattern
 * without a slash names groups. The checks of `--expect` are always selected.
 */
export function isSelected(id: string, { only, skip }: Pick<SmokeOptions, 'only' | 'skip'>): boolean {
  const isWanted =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => namesCheck(id, pattern));
  return isWanted && !skip.some((pattern) => matches(id, pattern));
}

/** `op/getPet` matches the latency of getPet too, which is measured only if a flag asks for it. */
function namesCheck(id: string, pattern: string): boolean {
  return (
    matches(id, pattern) || (groupOf(id) === 'latency' && matches(id.replace(/^latency/, 'op'), pattern))
  );
}

function matches(id: string, pattern: string): boolean {
  return toRegExp(pattern.includes('/') ? pattern : `${pattern}/**`).test(id);
}

function namesGroup(pattern: string): boolean {
  const [group = ''] = pattern.split('/');
  return group.includes('**') || groups.some((name) => toRegExp(group).test(name));
}

function toRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|[*?]|[.+^${}()|[\]\\]/g, (token) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    return token === '?' ? '[^/]' : `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}

/** The check with its verdict weighed by remarks, by retries and by the options. */
export function weighed(check: Check<Probe>): Check<Probe> {
  return {
    ...check,
    async run(probe) {
      probe.remarks.clear();
      probe.first = undefined;
      const found = await check.run(probe).catch((error: unknown) => toVerdict(error, probe));
      // A check that could not be completed neither fails nor passes.
      const isWhole = found.state !== 'pass' || probe.remarks.size === 0;
      const whole = isWhole ? found : warn([found.reason, ...probe.remarks].join('; '), found);
      const flaky = whole.state === 'pass' ? probe.first : undefined;
      return masked(weigh(check, { ...whole, flaky }, probe.options), probe);
    },
  };
}

function toVerdict(error: unknown, { signal }: Probe): Verdict {
  if (signal.aborted && !(error instanceof VerdictError)) return skip(interrupted);
  // The contract requires a parameter without a value.
  if (error instanceof UsageError) return skip(error.message);
  return verdictOfError(error);
}

/**
 * Softens a failure of an operation that is not stable to a warning; `--fail-on` turns warnings and flaky passes into
 * failures.
 */
function weigh(check: Check<Probe>, verdict: Verdict, { stability, failOn }: SmokeOptions): Verdict {
  const blamed = verdict.operation ?? check.operation;
  const isSettled = stability === 'all' || !blamed || blamed.stability === 'stable';
  const softened: Verdict =
    isRed(verdict) && !isSettled
      ? { ...verdict, state: 'warn', reason: `${verdict.reason} (${blamed.id} is ${blamed.stability})` }
      : verdict;
  if (softened.state === 'warn' && failOn.includes('warn'))
    return { ...softened, state: 'fail', hardened: true };
  if (softened.flaky !== undefined && failOn.includes('flaky'))
    return {
      ...softened,
      state: 'fail',
      hardened: true,
      reason: `flaky: ${softened.flaky}, then ${softened.reason}`,
      flaky: undefined,
    };
  return softened;
}

/** Masks secrets before the escapes of a report can hide them from a search. */
function masked(verdict: Verdict, { mask }: Probe): Verdict {
  const safe = (value: unknown) => (typeof value === 'string' ? mask(maskUrl(value)) : value);
  const texts = Object.fromEntries(Object.entries(verdict).map(([name, value]) => [name, safe(value)]));
  return { ...verdict, ...texts, state: verdict.state };
}
