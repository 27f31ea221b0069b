import type { Contract } from '../api/contract.ts';
import { type Check, groupOf } from './check.ts';
import type { Condition } from './condition.ts';
import { checkHttp, createExpectChecks, createVersionCheck } from './first-answer.ts';
import { createOperationChecks } from './operation-checks.ts';
import { checkConnection, checkDns, tlsChecks } from './reach.ts';
import { createAuthCheck, createErrorChecks } from './refusal-checks.ts';
import { readsOf } from './round.ts';
import { createWriteChecks, type Leftovers } from './write-checks.ts';

/** The selection of the checks, and their limits. */
export interface SmokeOptions {
  readonly contract: Contract;
  /** True if the service is reached over TLS. */
  readonly hasTls: boolean;
  /** Patterns of the ids to run; an empty list selects all checks. */
  readonly only: readonly string[];
  /** Patterns of the ids to leave out. */
  readonly skip: readonly string[];
  readonly write: boolean;
  /** The conditions of `--wait-for`, and the time of the wait. */
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
  /** The conditions of `--expect`, each of which is a check. */
  readonly expect: readonly Condition[];
  /** The time limit of the command; undefined if it has none. */
  readonly maxTimeMs?: number | undefined;
}

/**
 * Makes the checks of reach and of tls, which `doctor` runs too. Without them no request is answered.
 *
 * @param fallback the condition whose request is sent if the contract has no GET.
 */
export function createReachChecks(hasTls: boolean, fallback?: Condition): Check[] {
  return [
    { id: 'reach/dns', isPrerequisite: true, run: checkDns },
    { id: 'reach/connect', isPrerequisite: true, run: checkConnection },
    ...(hasTls ? tlsChecks : []),
    { id: 'reach/http', isPrerequisite: true, run: (context) => checkHttp(context, fallback) },
  ];
}

/** Makes the read checks, in order: the checks of reach, which always run, and the selected checks. */
export function createReadChecks(options: SmokeOptions): Check[] {
  const { contract, hasTls, expect, waitFor, waitMs } = options;
  const reads = readsOf(contract);
  const fallback = expect.find(({ path }) => path !== undefined);
  const version = waitFor.length > 0 ? [createVersionCheck(waitFor, waitMs)] : [];
  const checks: Check[] = [
    ...createReachChecks(hasTls, fallback),
    ...version,
    ...createOperationChecks(contract),
    ...createErrorChecks(reads),
    createAuthCheck(reads),
    ...createExpectChecks(expect),
    // Another deployment may have answered since.
    ...version,
  ];
  return checks.filter(({ id }) => groupOf(id) === 'reach' || isSelected(id, options));
}

/** Makes the selected checks of `--write`. @param left gets the records that they create. */
export function createSelectedWriteChecks(options: SmokeOptions, left: Leftovers): Check[] {
  const checks = options.write ? createWriteChecks(options.contract, left) : [];
  return checks.filter(({ id }) => isSelected(id, options));
}

/** Returns true if `--only` names reach, so that the checks of reach alone are enough. */
export function hasReachPattern({ only }: SmokeOptions): boolean {
  return only.some((pattern) => pattern.split('/', 1)[0] === 'reach');
}

/** Returns true if a check is selected. `--only` does not leave out the checks of `--expect`. */
function isSelected(id: string, { only, skip }: SmokeOptions): boolean {
  const isIncluded =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => matches(id, pattern));
  return isIncluded && !skip.some((pattern) => matches(id, pattern));
}

/** In a pattern, `*` is any text, and `?` one character. A pattern without a slash selects groups. */
function matches(id: string, pattern: string): boolean {
  const expression = (pattern.includes('/') ? pattern : `${pattern}/*`)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^${expression}$`).test(id);
}
