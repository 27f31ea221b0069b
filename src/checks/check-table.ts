import { builtInContract, type Contract } from '../api/contract.ts';
import { idParameter, operations } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import {
  checkAuth,
  checkBadRequest,
  checkCondition,
  checkDeployment,
  checkFirstAnswer,
  checkNotFound,
} from './answer-checks.ts';
import { type Check, type CheckContext, groupOf, pass, skip } from './check.ts';
import { type Condition, headerDifference } from './condition.ts';
import { getsOf } from './judge-answer.ts';
import { checkGet, checkList } from './operation-checks.ts';
import { checkConnection, checkDns, checkTls, judgeExpiry, judgeProtocol } from './reach.ts';
import { createWriteChecks } from './write-checks.ts';

/** The conditions and patterns that decide which checks there are, and which of them run. */
interface Selection {
  readonly contract: Contract;
  /** The base URL of the service. The embedded store has none. */
  readonly baseUrl: string | undefined;
  /** Patterns of the ids to run; an empty list selects all checks. */
  readonly only: readonly string[];
  /** Patterns of the ids to leave out. */
  readonly skip: readonly string[];
  readonly write: boolean;
  /** The conditions of `--wait-for`. */
  readonly waitFor: readonly Condition[];
  /** The conditions of `--expect`. Each one is a check. */
  readonly expect: readonly Condition[];
}

/** Lists the checks of the way to the service. `doctor` runs them too. @see Selection */
export function createReachChecks(baseUrl: string | undefined, expect: readonly Condition[] = []): Check[] {
  const tls: readonly Check[] = [
    { id: 'tls/valid', isPrerequisite: true, run: (context) => checkTls(context, () => pass('trusted')) },
    { id: 'tls/protocol', isPrerequisite: true, run: (context) => checkTls(context, judgeProtocol) },
    { id: 'tls/expiry', run: (context) => checkTls(context, judgeExpiry) },
  ];
  return [
    { id: 'reach/dns', isPrerequisite: true, run: checkDns },
    { id: 'reach/connect', isPrerequisite: true, run: checkConnection },
    ...(baseUrl?.startsWith('https:') ? tls : []),
    { id: 'reach/http', isPrerequisite: true, run: (context) => checkFirstAnswer(context, expect) },
  ];
}

export interface SelectedChecks {
  /** Checks that only read, in the order of the reports. */
  readonly reads: readonly Check[];
  /** Checks that write, in the order of the reports. */
  readonly writes: readonly Check[];
  /** Deletes the test records that the write checks have left. */
  readonly cleanUp: Check;
}

/**
 * Makes the checks for a contract, and leaves out those that `--only` and `--skip` leave out.
 *
 * @throws UsageError for a pattern that no check of any service matches.
 */
export function selectChecks(selection: Selection): SelectedChecks {
  const { contract, baseUrl, expect, waitFor, write } = selection;
  requireKnown('--only', selection.only, expect);
  requireKnown('--skip', selection.skip, expect);
  const gets = getsOf(contract);
  const missingGets = [...contract.missing].filter(([id]) => operations[id].method === 'GET');
  const byId = gets.filter((operation) => idParameter(operation) !== undefined);
  // A stable operation represents the service best.
  const get = byId.find(({ isDeprecated, stability }) => !isDeprecated && stability === 'stable') ?? byId[0];
  const version: readonly Check[] = [
    { id: 'reach/version', isPrerequisite: true, run: (context) => checkDeployment(context, waitFor) },
  ];
  const errors: readonly Check[] = get
    ? [
        { id: 'error/not-found', operation: get, run: (context) => checkNotFound(context, get) },
        { id: 'error/bad-request', operation: get, run: (context) => checkBadRequest(context, get) },
      ]
    : [];
  const { checks: lifeCycles, cleanUp } = createWriteChecks(contract);
  const checks: Check[] = [
    ...createReachChecks(baseUrl, expect),
    ...(waitFor.length > 0 ? version : []),
    ...gets.map((operation) => ({
      id: `op/${operation.id}`,
      operation,
      run: (context: CheckContext) => (operation.isList ? checkList : checkGet)(context, operation),
    })),
    ...missingGets.map(([id, why]) => ({ id: `op/${id}`, run: async () => skip(why) })),
    ...errors,
    { id: 'auth/missing', run: checkAuth },
    ...expect.map((condition, index) => ({
      id: `expect/${index + 1}`,
      run: (context: CheckContext) => checkCondition(context, condition),
    })),
    // The deployment may have changed during the checks.
    ...(waitFor.length > 0 ? version : []),
  ];
  // Each answer must come from the deployment that `--wait-for` names. For the group reach, the check reach/version sees to that.
  const findFault: Check['findFault'] = (answer, mask) =>
    waitFor.map((condition) => headerDifference(condition, answer, mask)).find(Boolean);
  return {
    reads: checks.flatMap((check) => {
      if (groupOf(check.id) === 'reach') return [check];
      return isSelected(check.id, selection) ? [{ ...check, findFault }] : [];
    }),
    writes: write ? lifeCycles.filter(({ id }) => isSelected(id, selection)) : [],
    cleanUp,
  };
}

/** Lists the ids of the checks that a service can have. @param expect the conditions of `--expect` */
export function listCheckIds(expect: readonly Condition[] = []): string[] {
  const condition = { text: '', comparisons: [] };
  const { reads, writes } = selectChecks({
    contract: builtInContract,
    baseUrl: 'https:',
    only: [],
    skip: [],
    write: true,
    waitFor: [condition],
    expect: [condition, ...expect],
  });
  return [...new Set([...reads, ...writes].map(({ id }) => id))];
}

/** @throws UsageError for a pattern that matches no check. A check that this run does not have is no mistake. */
function requireKnown(flag: string, patterns: readonly string[], expect: readonly Condition[]): void {
  for (const pattern of patterns) {
    const ids = listCheckIds(expect);
    if (!ids.some((id) => matches(id, pattern)))
      throw new UsageError(`${flag} '${pattern}': no check has this id`, `the checks are ${ids.join(', ')}`);
  }
}

/** Returns true if a check is selected. `--only` does not leave out the checks of `--expect`. */
function isSelected(id: string, { only, skip: skipped }: Selection): boolean {
  const isIncluded =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => matches(id, pattern));
  return isIncluded && !skipped.some((pattern) => matches(id, pattern));
}

/** In a pattern, `*` is any text, and `?` one character. A pattern without a slash selects groups. */
function matches(id: string, pattern: string): boolean {
  const expression = (pattern.includes('/') ? pattern : `${pattern}/*`)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^${expression}$`).test(id);
}
