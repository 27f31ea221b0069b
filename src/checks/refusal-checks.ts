import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { CallInput } from '../client/request.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import type { Check, CheckAnswer, CheckContext } from './check.ts';
import { isStatus } from './condition.ts';
import { type Details, type Finding, FindingError, pass, skip, statusText, warn } from './finding.ts';
import { judge } from './judge-answer.ts';
import { idsOf, inputsFor } from './records.ts';
import { detailsOf, faultOf, guessInput, idParameter, reachOperation } from './round.ts';

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
 * Asks for an id that no record has. If the answer is another one than 404, a second id is tried: the first one may be too
 * large for the service, or that of a record on a page that was not read.
 */
async function checkNotFound(context: CheckContext, operation: Operation): Promise<Finding> {
  let answer: CheckAnswer | undefined;
  for (const id of await unusedIds(context, operation)) {
    answer = await context.ask(operation, { id });
    const isTooLarge = answer.status === 400 || answer.status === 422;
    if (!isTooLarge && !operation.success.includes(answer.status)) break;
  }
  if (!answer) return skip('every id that could be asked for is in use');
  if (!operation.success.includes(answer.status)) return judgeError(answer, '404');
  const got = `${statusText(answer.status)}: ${answer.text}`;
  return faultOf(answer, 'an unknown id is answered as if it were found', { expected: '404', got });
}

/** Returns two ids that the parameter allows and the list does not show: one above its ids, and the largest int32. */
async function unusedIds(context: CheckContext, operation: Operation): Promise<bigint[]> {
  const { maximum = int64Max, minimum = 0 } = idParameter(operation)?.bounds ?? {};
  const list = context.reads.find(({ isList, noun }) => isList && noun === operation.noun);
  const answer = list && (await context.askOnce(list).catch(() => undefined));
  const listedIds = answer ? idsOf(answer) : [];
  const largest = listedIds.reduce((most, id) => (id > most ? id : most), 0n);
  const isUnused = (id: bigint) => id >= BigInt(minimum) && id <= BigInt(maximum) && !listedIds.includes(id);
  return [largest + 1000n, 2n ** 31n - 1n].filter(isUnused);
}

async function checkBadRequest(context: CheckContext, operation: Operation): Promise<Finding> {
  const answer = await context.ask(operation, { id: 'not-a-number' }, { isUnchecked: true });
  return judgeError(answer, '4xx');
}

/** Checks the status and the body of an error. A body of another shape is a warning if the service has its own description. */
function judgeError(answer: CheckAnswer, expected: string): Finding {
  // A rate limit is 4xx too, and says nothing about the request.
  if (answer.status === 429 || !isStatus(answer.status, expected))
    return faultOf(answer, `answered ${statusText(answer.status)}`, { expected });
  try {
    return judgeErrorBody(answer, expected);
  } catch (error) {
    if (!(error instanceof FindingError) || !answer.operation.responses) throw error;
    return { ...error.finding, state: 'warn' };
  }
}

/** @throws FindingError with the first fault of the body. */
function judgeErrorBody(answer: CheckAnswer, status: string): Finding {
  const fault = (reason: string, details?: Details) => new FindingError(faultOf(answer, reason, details));
  const { responses } = answer.operation;
  const { json } = judge(answer, { status });
  if (/html/.test(answer.mediaType)) throw fault('the error is a web page');
  const named = isJsonObject(json) ? json.status : undefined;
  // In a description, a field `status` that is not a number may mean something else.
  const isOther = named !== undefined && named !== answer.status && !(responses && typeof named !== 'number');
  if (!isOther) return pass(statusText(answer.status), detailsOf(answer));
  const details = { pointer: '/status', expected: String(answer.status), got: printJson(named) };
  throw fault('the body names another status than the answer has', details);
}

/**
 * Makes the check of authentication. If the service declares security, each GET must refuse a request without the
 * credential. If it declares none and requests carry a token, a request without the token must be refused.
 */
export function createAuthChecks(reads: readonly Operation[]): Check[] {
  const securedReads = reads.filter(({ credential }) => credential === 'required');
  const operation = reachOperation(reads);
  const id = 'auth/missing';
  if (securedReads.length > 0) return [{ id, run: (context) => checkAuth(context, securedReads) }];
  if (!operation) return [];
  return [{ id, operation, run: (context) => checkWithoutToken(context, operation) }];
}

/** Warns if a request without the token succeeds, because the service may have lost its authentication. */
async function checkWithoutToken(context: CheckContext, operation: Operation): Promise<Finding> {
  if (context.client.credential === undefined)
    return skip('the description declares no security, and no token was given');
  const answer = await askWithoutCredential(context, operation, guessInput(operation));
  if (answer.status >= 400) return pass(statusText(answer.status), detailsOf(answer));
  const reason = `${operation.id} answered ${statusText(answer.status)} without the token, and the description declares no security`;
  return warn(reason, detailsOf(answer));
}

function isAuthRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

/** Checks that each operation refuses a request without a credential. All that do not are one failure. */
async function checkAuth(context: CheckContext, operations: readonly Operation[]): Promise<Finding> {
  const faults: Finding[] = [];
  for (const operation of operations) {
    const answer = await askWithoutCredential(context, operation, await findInput(context, operation));
    if (isAuthRefusal(answer.status)) continue;
    const got = `${statusText(answer.status)}: ${answer.text}`;
    faults.push(faultOf(answer, describeAccess(answer), { expected: '401 or 403', got }));
  }
  // A failure of a stable operation counts most.
  const gravest = faults.find(({ operation }) => operation?.stability === 'stable') ?? faults[0];
  if (!gravest) return pass(`401 or 403 at ${counted(operations.length, 'operation', 'operations')}`);
  const ids = faults.map(({ operation }) => operation?.id).join(', ');
  return { ...gravest, reason: `${gravest.reason} without a credential: ${ids}` };
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

/** Sends the request of an operation without what is at the places for credentials. */
function askWithoutCredential(
  context: CheckContext,
  operation: Operation,
  input: CallInput,
): Promise<CheckAnswer> {
  const changes = { [context.tokenHeader.name.toLowerCase()]: undefined };
  return context.ask(operation, input, { isExpected: isAuthRefusal, changes });
}
