import { builtInContract, type Contract } from '../api/contract.ts';
import { idParameter, operations } from '../api/operations.ts';
import {
  checkAuth,
  checkBadRequest,
  checkCondition,
  checkDeployment,
  checkFirstAnswer,
  checkNotFound,
} from './answer-checks.ts';
import { type Check, type CheckContext, pass, skip } from './check.ts';
import { type Condition, headerDifference } from './condition.ts';
import { getsOf } from './judge-answer.ts';
import { checkGet, checkList } from './operation-checks.ts';
import { checkConnection, checkDns, checkTls, judgeExpiry, judgeProtocol } from './reach.ts';
import { createWriteChecks } from './write-checks.ts';

/** What decides which checks there are. */
export interface CheckSubject {
  readonly contract: Contract;
  /** The base URL of the service. The embedded store has none. */
  readonly baseUrl: string | undefined;
  /** The conditions of `--wait-for`. */
  readonly waitFor: readonly Condition[];
  /** The conditions of `--expect`. Each one is a check. */
  readonly expect: readonly Condition[];
}

/** Lists the checks that only read, in the order of the reports. */
export function createReadChecks({ contract, baseUrl, waitFor, expect }: CheckSubject): Check[] {
  const deployment: Check = {
    id: 'reach/version',
    isPrerequisite: true,
    run: (context) => checkDeployment(context, waitFor),
  };
  const version = waitFor.length > 0 ? [deployment] : [];
  const checks: readonly Check[] = [
    ...createOperationChecks(contract),
    ...createErrorChecks(contract),
    { id: 'auth/missing', run: checkAuth },
    ...expect.map((condition, index) => ({
      id: `expect/${index + 1}`,
      run: (context: CheckContext) => checkCondition(context, condition),
    })),
  ];
  // Each answer must come from the deployment that `--wait-for` names. The checks of reach leave that to reach/version.
  const findFault: Check['findFault'] = (answer, mask) =>
    waitFor.map((condition) => headerDifference(condition, answer, mask)).find(Boolean);
  return [
    ...createReachChecks(baseUrl, expect),
    ...version,
    ...checks.map((check) => ({ ...check, findFault })),
    // The deployment may have changed during the checks.
    ...version,
  ];
}

/** Lists the checks of reach and tls. `doctor` runs them too. */
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

function createOperationChecks(contract: Contract): Check[] {
  const missingGets = [...contract.missing].filter(([id]) => operations[id].method === 'GET');
  return [
    ...getsOf(contract).map((operation) => ({
      id: `op/${operation.id}`,
      operation,
      run: (context: CheckContext) => (operation.isList ? checkList : checkGet)(context, operation),
    })),
    ...missingGets.map(([id, why]) => ({ id: `op/${id}`, run: async () => skip(why) })),
  ];
}

function createErrorChecks(contract: Contract): Check[] {
  const byId = getsOf(contract).filter((operation) => idParameter(operation) !== undefined);
  // A stable operation represents the service best.
  const get = byId.find(({ isDeprecated, stability }) => !isDeprecated && stability === 'stable') ?? byId[0];
  if (!get) return [];
  return [
    { id: 'error/not-found', operation: get, run: (context) => checkNotFound(context, get) },
    { id: 'error/bad-request', operation: get, run: (context) => checkBadRequest(context, get) },
  ];
}

/** Lists the ids of the checks that a service can have. @param expect the conditions of `--expect` */
export function listCheckIds(expect: readonly Condition[] = []): string[] {
  const condition = { text: '', comparisons: [] };
  const reads = createReadChecks({
    contract: builtInContract,
    baseUrl: 'https:',
    waitFor: [condition],
    expect: [condition, ...expect],
  });
  const writes = createWriteChecks(builtInContract).checks;
  return [...new Set([...reads, ...writes].map(({ id }) => id))];
}
