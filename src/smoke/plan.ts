import type { Contract } from '../api/contract.ts';
import { UsageError } from '../errors.ts';
import { type Check, groups, idOf } from './check.ts';
import { authChecks } from './checks/auth.ts';
import { errorChecks } from './checks/error.ts';
import { latencyChecks } from './checks/latency.ts';
import { lifecycleChecks } from './checks/lifecycle.ts';
import { operationChecks } from './checks/operation.ts';
import { reachChecks } from './checks/reach.ts';
import { tlsChecks } from './checks/tls.ts';
import { writeChecks } from './checks/write.ts';
import { isSelected, namesGroup, type Selection } from './select.ts';
import type { Ledger } from './write/ledger.ts';

interface PlanOptions {
  readonly selection: Selection;
  readonly write: boolean;
}

/**
 * The checks that were asked for, in the order in which they run. Those of reach are always among them, for nothing else
 * makes sense without: where they were not asked for, only their failure is told.
 *
 * @throws UsageError where a pattern names no group, or all patterns together leave no check.
 */
export function planChecks(contract: Contract, { selection, write }: PlanOptions, ledger: Ledger): Check[] {
  for (const pattern of [...selection.only, ...selection.skip])
    if (!namesGroup(pattern)) throw noSuchGroup(pattern);
  const checks = [
    ...reachChecks(),
    ...tlsChecks(),
    ...operationChecks(contract),
    ...errorChecks(contract),
    ...lifecycleChecks(contract),
    ...authChecks(contract),
    ...latencyChecks(contract),
    ...(write ? writeChecks(contract, ledger) : []),
  ];
  const planned = checks.filter((check) => isSelected(idOf(check), selection));
  if (planned.length === 0)
    throw new UsageError(
      'no check is left to run',
      `the groups are ${groups.join(', ')}; write needs --write`,
    );
  const isReachWanted = !selection.skip.some((pattern) => pattern.startsWith('reach'));
  return isReachWanted ? [...checks.filter((check) => isReach(check) || planned.includes(check))] : planned;
}

function isReach({ group }: Check): boolean {
  return group === 'reach';
}

function noSuchGroup(pattern: string): UsageError {
  return new UsageError(`no check has an id like '${pattern}'`, `the groups are ${groups.join(', ')}`);
}
