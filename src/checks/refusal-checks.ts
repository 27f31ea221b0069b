import type { Contract } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { CallInput, CredentialParameter } from '../client/request.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import type { Check, CheckAnswer, CheckContext } from './check.ts';
import { type Finding, FindingError, pass, skip, statusText, warn } from './finding.ts';
import { documentedResponse, errorSchema, judge } from './judge-answer.ts';
import { idsOf, inputsFor } from './records.ts';
import { detailsOf, faultOf, guessInput, idParameter, reachOperation, readsOf } from './round.ts';

/** Makes the checks that the service refuses wrong requests as the contract says. */
export function createErrorChecks(reads: readonly Operation[]): Check[] {
  const gets = reads.filter((operation) => idParameter(operation) !== undefined);
  // A stable operation represents the service best.
  const operation =
    gets.find(({ isDeprecated, stability }) => !isDeprecated && stability === 'stable') ?? gets[0];
  if (!operation) return [];
  return [
    { id: 'error/not-found', operation, run: (context) => checkNotFound(context, operation) },
    { id: 'error/bad-request', operation, run: (context) => checkBadRequest(context, operation) },
  ];
}

/**
 * Asks for ids that no record has. An answer as if the record were found counts only if three ids have it. A documented 400
 * or 422 may say that the id is too large, so smaller ids are tried.
 */
async function checkNotFound(context: CheckContext, operation: Operation): Promise<Finding> {
  const { large, smaller } = await unusedIds(context, operation);
  let answer: CheckAnswer | undefined;
  for (const id of large) {
    answer = await context.ask(operation, { id });
    if (!operation.success.includes(answer.status)) break;
  }
  if (!answer) return skip('every large id is in use');
  for (const id of isTooLarge(answer) ? smaller : []) {
    answer = await context.ask(operation, { id });
    if (!isTooLarge(answer) && !operation.success.includes(answer.status)) break;
  }
  if (!operation.success.includes(answer.status)) return judgeError(answer, '404');
  const got = `${statusText(answer.status)}: ${answer.text}`;
  return faultOf(answer, 'an unknown id is answered as if it were found', { expected: '404', got });
}

/** Whether an answer may refuse an id because it is too large, as the description allows. */
function isTooLarge(answer: CheckAnswer): boolean {
  return (answer.status === 400 || answer.status === 422) && documentedResponse(answer) !== undefined;
}

const int32Max = 2n ** 31n - 1n;
const doubleMax = 2n ** 53n - 1n;

/**
 * Finds ids that the schema of the parameter allows and the list does not show: up to three large ones, and smaller ones for
 * a service that refuses those, the largest first.
 */
async function unusedIds(
  context: CheckContext,
  operation: Operation,
): Promise<{ readonly large: readonly bigint[]; readonly smaller: readonly bigint[] }> {
  const { maximum, minimum = 0 } = idParameter(operation)?.bounds ?? {};
  const largest = maximum === undefined ? int64Max : BigInt(maximum);
  const list = context.reads.find(({ isList, noun }) => isList && noun === operation.noun);
  const answer = list && (await context.askOnce(list).catch(() => undefined));
  const listedIds = answer ? idsOf(answer) : [];
  const usedIds = new Set(listedIds);
  const isUnused = (id: bigint) => id >= BigInt(minimum) && id <= largest && !usedIds.has(id);
  const distances = largest > int32Max ? [0n, 1n, 1024n, 4096n, 65_536n] : [0n, 1n, 2n, 3n, 4n];
  const large = distances.map((distance) => largest - distance).filter(isUnused);
  const nextId = listedIds.reduce((most, id) => (id > most ? id : most), 0n) + 1000n;
  const smaller = [doubleMax, int32Max, nextId].filter((id) => isUnused(id) && !large.includes(id));
  return { large: large.slice(0, 3), smaller };
}

async function checkBadRequest(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const answer = await context.ask(operation, { id: 'not-a-number' }, { isUnchecked: true });
  const refusals = operation.errors.filter((status) => status >= 400 && status < 500);
  const finding = judgeError(answer, '4xx');
  // If the description documents no refusal at all, every refusal is allowed.
  if (refusals.length === 0 || documentedResponse(answer)) return [finding];
  const reason = `answered ${statusText(answer.status)}, which the description does not have`;
  return [finding, warn(reason, { ...detailsOf(answer), expected: refusals.join(' or ') })];
}

/** Checks the body of an error against the description, or against the Error of the service's specification. */
function judgeError(answer: CheckAnswer, expectedStatus: string): Finding {
  const { responses } = answer.operation;
  const schema = responses ? undefined : errorSchema;
  // A rate limit is 4xx too, and says nothing about the request.
  if (answer.status === 429)
    return faultOf(answer, `answered ${statusText(429)}`, { expected: expectedStatus });
  const { json } = judge(answer, { status: expectedStatus, schema });
  if (/html/.test(answer.mediaType)) return faultOf(answer, 'the error is a web page');
  const status = isJsonObject(json) ? json.status : undefined;
  const isDifferent = status !== undefined && status !== answer.status;
  // In a description, a field `status` that is not a number may mean something else.
  if (!isDifferent || (responses && typeof status !== 'number'))
    return pass(statusText(answer.status), detailsOf(answer));
  return faultOf(answer, 'the body names another status than the answer has', {
    pointer: '/status',
    expected: String(answer.status),
    got: printJson(status),
  });
}

const wrongCredential = 'petstore-smoke-wrong-credential';

/**
 * Makes the checks of authentication. If the service declares security, each GET must refuse a missing and a wrong
 * credential. If it declares none and requests carry a token, a request without the token must be refused.
 */
export function createAuthChecks(contract: Contract, hasToken: boolean): Check[] {
  const reads = readsOf(contract);
  const securedReads = reads.filter(({ needsCredential }) => needsCredential);
  const operation = reachOperation(reads);
  if (securedReads.length === 0 && operation && hasToken)
    return [{ id: 'auth/missing', operation, run: (context) => checkWithoutToken(context, operation) }];
  if (securedReads.length === 0) return [];
  const reason = 'the service takes no credential that a request can leave out, such as with mutual TLS';
  const places = [
    ...contract.credentialPlaces,
    ...securedReads.flatMap(({ credentialPlaces = [] }) => credentialPlaces),
  ];
  return Object.entries({ missing: undefined, wrong: wrongCredential }).map(([name, credential]) => ({
    id: `auth/${name}`,
    run: async (context) =>
      places.length === 0 ? skip(reason) : checkAuth(context, securedReads, credential),
  }));
}

/** Warns if a request without the token succeeds, because the service may have lost its authentication. */
async function checkWithoutToken(context: CheckContext, operation: Operation): Promise<Finding> {
  const answer = await askWithCredential(context, operation, guessInput(operation), undefined);
  if (answer.status >= 400) return pass(statusText(answer.status), detailsOf(answer));
  const reason = `${operation.id} answered ${statusText(answer.status)} without the token, and the description declares no security`;
  return warn(reason, detailsOf(answer));
}

function isAuthRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

/**
 * Checks that each operation refuses a credential.
 *
 * @param credential undefined for requests without a credential.
 * @returns one finding for all operations with the same fault.
 */
async function checkAuth(
  context: CheckContext,
  operations: readonly Operation[],
  credential: string | undefined,
): Promise<Finding[]> {
  const faults = new Map<string, Finding[]>();
  for (const operation of operations) {
    const answer = await askWithCredential(
      context,
      operation,
      await findInput(context, operation),
      credential,
    );
    if (isAuthRefusal(answer.status)) continue;
    const reason = `${describeAccess(answer)} with ${credential === undefined ? 'no' : 'a wrong'} credential`;
    const got = `${statusText(answer.status)}: ${answer.text}`;
    const finding = faultOf(answer, reason, { expected: '401 or 403', got });
    faults.set(reason, [...(faults.get(reason) ?? []), finding]);
  }
  if (faults.size === 0)
    return [pass(`401 or 403 at ${counted(operations.length, 'operation', 'operations')}`)];
  return [...faults].map(([reason, findings]) => {
    const ids = findings.map(({ operation }) => operation?.id).join(', ');
    // A failure of a stable operation counts most.
    const gravest = findings.find(({ operation }) => operation?.stability === 'stable') ?? findings[0];
    return { ...(gravest as Finding), reason: `${reason}: ${ids}` };
  });
}

function describeAccess({ status, isRedirected, url }: CheckAnswer): string {
  if (status >= 400) return `answered ${statusText(status)}`;
  return isRedirected ? `redirected to ${url}` : 'let in';
}

/** Returns an input with the id of a record in a list, or with a guess if no list shows an id. */
async function findInput(context: CheckContext, operation: Operation): Promise<CallInput> {
  try {
    return (await inputsFor(context, operation))[0] ?? {};
  } catch (error) {
    if (error instanceof FindingError) return guessInput(operation);
    throw error;
  }
}

/** Sends the request of an operation with a credential at every place for credentials; undefined removes them all. */
function askWithCredential(
  context: CheckContext,
  operation: Operation,
  input: CallInput,
  credential: string | undefined,
): Promise<CheckAnswer> {
  const { client, credentialPlaceOf } = context;
  const changes: Record<string, string | undefined> = {};
  let parameter: CredentialParameter | null = null;
  const places = [
    ...client.contract.credentialPlaces,
    ...(operation.credentialPlaces ?? []),
    credentialPlaceOf(operation),
  ];
  for (const { in: place, name } of places) {
    const header = place === 'cookie' ? 'cookie' : name.toLowerCase();
    const prefix = place === 'cookie' ? `${name}=` : header === 'authorization' ? 'Bearer ' : '';
    if (place !== 'query') changes[header] = credential && prefix + credential;
    else if (credential !== undefined) parameter = { name, value: credential };
  }
  return context.ask(operation, input, { isExpected: isAuthRefusal, changes, parameter });
}
