import { nouns } from '../api/nouns.ts';
import { idParameter, type Operation } from '../api/operations.ts';
import { isDeniedStatus, isMissingStatus, statusRule } from '../client/answer-table.ts';
import { isJsonType, readJson, titleOrText } from '../client/read-answer.ts';
import { fromWire } from '../client/wire.ts';
import { tokenHeaderText } from '../config/credential.ts';
import { CliError, exitCodes, messageOf } from '../process/errors.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { countText, shorten } from '../process/text.ts';
import {
  type AskOptions,
  type CheckAnswer,
  type CheckContext,
  type Finding,
  FindingError,
  fail,
  findingOfError,
  isFailure,
  pass,
  skip,
  statusText,
  warn,
} from './check.ts';
import { type Condition, differenceTo, matchesStatus, meetsStatus } from './condition.ts';
import { askList, detailsOf, failureIn, listedIds, requireAsDocumented } from './judge-answer.ts';

const { auth, unavailable, 'check-failed': checkFailed } = exitCodes;
const otherHint =
  'check that the base URL is that of the API and needs no login, or bind the paths of its description with `petstore api bind`';

/**
 * Checks that the API answers, and not a web page, a login, a gateway or another address.
 *
 * @param expect the conditions of `--expect`. The first path among them is asked for if the contract has no GET.
 */
export async function checkFirstAnswer(
  context: CheckContext,
  expect: readonly Condition[],
): Promise<Finding> {
  try {
    const operation = reachOperation(context.gets);
    if (operation) return judgeFirstAnswer(context, await context.ask(operation));
    const fallback = expect.find(({ path }) => path !== undefined);
    const answer = await context.get(fallback?.path ?? context.client.baseUrl);
    // Without an operation there are no requirements: any answer shows that the service is there.
    return pass(`${answer.request.url} answered ${statusText(answer.status)}`, detailsOf(answer));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.signal.throwIfAborted();
    const finding = findingOfError(error);
    const exitCode = error.details.noAnswer === 'redirect' ? checkFailed : unavailable;
    return { ...finding, state: 'fail', reason: `${finding.reason}; ${tokenClause(context)}`, exitCode };
  }
}

/** Returns the operation that `reach/http` calls: the first GET without an id, else the first GET. */
function reachOperation(gets: readonly Operation[]): Operation | undefined {
  return gets.find((operation) => idParameter(operation) === undefined) ?? gets[0];
}

function judgeFirstAnswer(context: CheckContext, answer: CheckAnswer): Finding {
  const { operation, status, error, attempts, mediaType, text } = answer;
  const clause = `${operation.id} answered ${statusText(status)}`;
  // A guessed id may belong to no record. A 404 of the service itself is then a correct answer.
  const isUnknownId = idParameter(operation) && status === 404 && attempts.at(-1)?.sender === 'service';
  const isSuccess = status >= 200 && status < 300;
  const isJson = isJsonType(mediaType);
  if (isUnknownId || (isSuccess && isJson && hasContent(answer))) return pass(clause, detailsOf(answer));
  const start = shorten(context.mask(titleOrText(text)).trim(), 200);
  const body = text === '' ? 'no body' : `${mediaType || 'no content type'}: '${start}'`;
  const { plural } = nouns[operation.noun];
  const missing = `not ${operation.isList ? 'a list of' : 'one of the'} ${plural}${isJson || text === '' ? '' : ' in JSON'}`;
  const fault = isSuccess && isJson ? whyNotJson(answer, context.mask) : undefined;
  const other = isSuccess ? `, ${fault ?? missing}` : '';
  return fail(`${clause} with ${body}${other}; ${tokenClause(context)}`, {
    ...detailsOf(answer),
    hint: fault === undefined && (isSuccess || isMissingStatus(status)) ? otherHint : error?.details.hint,
    exitCode: error?.kind === 'auth' ? auth : status >= 500 ? unavailable : checkFailed,
    endsWait: isDeniedStatus(status),
  });
}

/** Returns why a body is not JSON, a clause: it may be cut short. */
function whyNotJson(answer: CheckAnswer, mask: Mask): string | undefined {
  try {
    readJson(answer, mask);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns true if the body of an answer is a list or a record of the API. */
function hasContent({ operation, json = null }: CheckAnswer): boolean {
  const content = fromWire(operation, json);
  const isRecord = isJsonObject(content) && content[nouns[operation.noun].idField] !== undefined;
  return operation.isList ? Array.isArray(content) : isRecord;
}

/** Says whether a token was sent, where in the request it was, and which setting it comes from. */
function tokenClause({ client, tokenHeader }: CheckContext): string {
  const { credentialSource: source } = client;
  return source === undefined
    ? 'no token was sent'
    : `the token of ${source} was sent in ${tokenHeaderText(tokenHeader)}`;
}

/** Compares an answer from the service with a condition. A status that the condition requires is not retried. */
export async function checkCondition(
  context: CheckContext,
  condition: Condition,
  options: AskOptions = {},
): Promise<Finding> {
  const operation = reachOperation(context.gets);
  const { path } = condition;
  const asking = { ...options, isFinalStatus: (status: number) => meetsStatus(condition, status) };
  const answer = await (operation && path === undefined
    ? context.ask(operation, undefined, asking)
    : context.get(path ?? context.client.baseUrl, asking));
  const difference = differenceTo(condition, answer, context.mask);
  const hint = difference && answer.error?.details.hint;
  return { ...(difference ?? pass(condition.text)), ...detailsOf(answer), hint };
}

/** How many answers are compared with the conditions before the checks of a round, and again after them. */
const askCount = 10;

/**
 * Checks that the service is the deployment of `--wait-for`, in ten answers. Each has a new connection, because one replica of
 * the new version must not speak for the others.
 */
export async function checkDeployment(
  context: CheckContext,
  waitFor: readonly Condition[],
): Promise<Finding> {
  const options = { headers: { connection: 'close' } };
  const failures: Finding[] = [];
  try {
    for (let count = 0; count < askCount; count += 1)
      for (const condition of waitFor) {
        const finding = await checkCondition(context, condition, options);
        if (!isFailure(finding)) continue;
        failures.push(finding);
        break;
      }
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...findingOfError(error), exitCode: undefined };
  }
  const [failure] = failures;
  if (!failure) return pass(`each condition held in ${askCount} answers in a row, each on a new connection`);
  const { hint = 'check that every replica has the new version' } = failure;
  return fail(`${failure.reason}, in ${failures.length} of ${askCount} answers`, { ...failure, hint });
}

/**
 * Asks for an id that no record has: 1,000 above the largest id of the first page. If the service refuses it as too large, or has a
 * record with it on a later page, asks for the largest int32.
 */
export async function checkNotFound(context: CheckContext, operation: Operation): Promise<Finding> {
  const list = await askList(context, operation);
  const ids = list ? listedIds(list) : [];
  const largest = ids.reduce((most, id) => (id > most ? id : most), 0n);
  const first = await context.ask(operation, { id: largest + 1000n });
  const answer = first.status <= 400 ? await context.ask(operation, { id: 2n ** 31n - 1n }) : first;
  return judgeError(context, answer, '404');
}

export async function checkBadRequest(context: CheckContext, operation: Operation): Promise<Finding> {
  const answer = await context.ask(operation, { id: 'not-a-number' });
  // A status that may pass, such as 401, 403 or 429, refuses the request whatever its id is.
  if (statusRule(answer.status, 'service').isTransient) {
    const details = { expected: 'a 4xx that refuses the id' };
    throw new FindingError(failureIn(answer, `answered ${statusText(answer.status)}`, details));
  }
  return judgeError(context, answer, '4xx');
}

/** Checks the status and the body of an error. A body of another shape is a warning if the service has its own description. */
function judgeError(context: CheckContext, answer: CheckAnswer, expected: string): Finding {
  try {
    requireAsDocumented(context, answer, { expected });
    const bodyStatus = isJsonObject(answer.json) ? (answer.json.status ?? answer.status) : answer.status;
    if (bodyStatus === answer.status) return pass(statusText(answer.status), detailsOf(answer));
    const details = { pointer: '/status', expected: String(answer.status), got: printJson(bodyStatus) };
    throw new FindingError(failureIn(answer, 'the status in the body is not that of the answer', details));
  } catch (error) {
    if (!(error instanceof FindingError) || !matchesStatus(answer.status, expected)) throw error;
    if (!answer.operation.responses) throw error;
    return { ...error.finding, state: 'warn' };
  }
}

/**
 * Checks that each secured GET refuses a request without the credential. If the service declares no security and a token was
 * given, an answer without the token is a warning.
 */
export async function checkAuth(context: CheckContext): Promise<Finding> {
  const { gets, client } = context;
  const secured = gets.filter(({ credential }) => credential === 'required');
  const isDeclared = secured.length > 0;
  if (!isDeclared && client.credentialSource === undefined)
    return skip('no security is declared, and no token is given');
  const operations = isDeclared
    ? secured
    : [reachOperation(gets)].filter((operation) => operation !== undefined);
  const headers = { [context.tokenHeader.name.toLowerCase()]: undefined };
  const answers: CheckAnswer[] = [];
  for (const operation of operations) {
    const answer = await context.ask(operation, undefined, { headers });
    if (isDeclared ? !isDeniedStatus(answer.status) : answer.status < 400) answers.push(answer);
  }
  const [first] = answers;
  if (!first) return pass(`refused at ${countText(operations.length, 'operation', 'operations')}`);
  const ids = answers.map(({ operation }) => operation.id).join(', ');
  const reason = `answered ${statusText(first.status)} without a credential: ${ids}`;
  if (isDeclared) return failureIn(first, reason, { expected: '401 or 403' });
  return warn(`${reason}, and the description declares no security`, detailsOf(first));
}
