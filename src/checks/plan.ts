import type { Contract } from '../api/contract.ts';
import { UsageError } from '../process/errors.ts';
import type { Check } from './check.ts';
import { sweepCheck } from './cleanup.ts';
import { expectChecks } from './conditions.ts';
import { checkLifecycle } from './lifecycle.ts';
import { gates, groupOf, groups, type SmokeOptions } from './options.ts';
import { type Probe, readChecks } from './probe.ts';
import { reachChecks } from './reach.ts';
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
