import type { HttpHeaders } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { fromWire } from '../client/read-answer.ts';
import { describeHeader } from '../config/credential.ts';
import { CliError, exitCodes } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { withArticle } from '../process/text.ts';
import type { AskOptions, Check, CheckContext, RawAnswer } from './check.ts';
import { type Condition, contradictionOf, differenceTo, meetsStatus } from './condition.ts';
import {
  type Details,
  type Finding,
  fail,
  findingOfError,
  isRed,
  pass,
  statusText,
  warn,
} from './finding.ts';
import { faultOfNextLink } from './list-checks.ts';
import { detailsOf, guessInput, idParameter, reachOperation, wordsOf } from './round.ts';

const { auth, unavailable, 'check-failed': checkFailed } = exitCodes;
const loginHint = 'does the service want a login, and does the base URL belong to its API?';

/**
 * Checks that the API answers, and not a web page, a login, a gateway or another address.
 *
 * @param fallback the condition whose request is sent if the contract has no GET.
 */
export async function checkHttp(context: CheckContext, fallback?: Condition): Promise<Finding[]> {
  try {
    const operation = reachOperation(context.reads);
    const asking = operation ? context.askOnce(operation, guessInput(operation)) : askFor(context, fallback);
    const answer = await asking;
    const link = operation?.isList ? faultOfNextLink(answer) : undefined;
    const first = judgeFirstAnswer(context, operation, answer);
    return [first, ...(link && !isRed(first) ? [warn(link.reason, { ...detailsOf(answer), ...link })] : [])];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.signal.throwIfAborted();
    const finding: Finding = { ...findingOfError(error), state: 'fail', exitCode: unavailable };
    if (error.details.reason !== 'redirect') return [finding];
    const { reason, hint = loginHint } = finding;
    return [{ ...finding, reason: `${reason}; ${tokenClause(context)}`, hint, exitCode: checkFailed }];
  }
}

function judgeFirstAnswer(
  context: CheckContext,
  operation: Operation | undefined,
  answer: RawAnswer,
): Finding {
  const { status, url, isRedirected } = answer;
  const clause = `${operation?.id ?? url} answered ${statusText(status)}`;
  // Without an operation there are no requirements: any answer shows that the service is there.
  if (!operation) return pass(clause, detailsOf(answer));
  // A guessed id may belong to no record. Then the service itself says so.
  const isGuess = idParameter(operation) !== undefined;
  if (isGuess && status === 404 && answer.attempts.at(-1)?.author === 'service')
    return pass(clause, detailsOf(answer));
  const isSuccess = status >= 200 && status < 300;
  const otherBody = isSuccess ? describeOtherBody(answer, operation) : wordsOfError(answer);
  if (isSuccess && otherBody === undefined) return pass(clause, detailsOf(answer));
  const redirect = isRedirected ? `, redirected to ${url}` : '';
  const consequence = consequenceOf(answer);
  return fail(`${clause}${otherBody ?? ''}${redirect}; ${tokenClause(context)}`, {
    ...detailsOf(answer),
    expected: isSuccess ? `${operation.isList ? 'a list' : 'a record'} of the API` : undefined,
    got: wordsOf(answer),
    ...consequence,
  });
}

/** Describes the body of a success if it is of another kind than that of the operation. Undefined if it is of that kind. */
function describeOtherBody(answer: RawAnswer, operation: Operation): string | undefined {
  const { json, text, mediaType } = answer;
  if (isPage(answer)) return ' with a web page';
  if (text === '') return ' without a body';
  if (json === undefined) return ` with a body that is not JSON${mediaType ? `, but ${mediaType}` : ''}`;
  const { singular, plural, idField } = nouns[operation.noun];
  const content = fromWire(operation, json);
  if (operation.isList)
    return Array.isArray(content) ? undefined : ` with JSON that is not a list of ${plural}`;
  const isRecord = isJsonObject(content) && content[idField] !== undefined;
  return isRecord ? undefined : ` with JSON that is not ${withArticle(singular)}`;
}

function isPage({ mediaType, text }: RawAnswer): boolean {
  return /html/.test(mediaType) || /^\s*<(!doctype|html)/i.test(text.slice(0, 100));
}

/** Says what an error means, in the words of the service, or for an answer of a gateway in ours. */
function wordsOfError({ error }: RawAnswer): string | undefined {
  return error && `: ${error.message}`;
}

/** Returns the exit code and the hint for an answer that is not one of the API. */
function consequenceOf(answer: RawAnswer): Details {
  const { status, isRedirected, error } = answer;
  const errorHint = error?.details.hint;
  if (status === 401 || status === 403) return { exitCode: auth, hint: errorHint, isLasting: true };
  if (status >= 502 && status <= 504)
    return { exitCode: unavailable, hint: 'nothing answers behind the gateway; --wait waits for it' };
  if (status >= 500) return { exitCode: unavailable, hint: 'the log of the service says why' };
  // The hint of a 404 leads to doctor, which runs this check.
  const hint = status === 404 || status === 410 ? hintOf(answer) : (errorHint ?? hintOf(answer));
  return { exitCode: checkFailed, hint: isRedirected ? loginHint : hint };
}

function hintOf(answer: RawAnswer): string {
  if (answer.status === 429) return 'the service limits the rate: try again later';
  if (answer.status === 421) return 'does the service know itself by the host of the base URL?';
  if (isPage(answer))
    return 'does the base URL belong to the API, and is the deployment done? --wait waits for it';
  return 'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description';
}

/** Says whether a token was sent, where in the request it was, and which setting it comes from. */
function tokenClause({ client, tokenHeader }: CheckContext): string {
  if (client.credential === undefined) return 'no token was sent';
  return `the token of ${client.credential} was sent in ${describeHeader(tokenHeader)}`;
}

/** Makes a check for each `--expect`: `expect/1` and so on, in the order of the flags. */
export function createExpectChecks(conditions: readonly Condition[]): Check[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    title: condition.text,
    async run(context) {
      const answer = await askFor(context, condition);
      const difference = differenceTo(condition, answer, context.mask);
      return { ...(difference ?? pass(condition.text)), ...detailsOf(answer) };
    },
  }));
}

/** Sends the request of a condition. A status that the condition requires is not retried. */
async function askFor(
  context: CheckContext,
  condition: Condition | undefined,
  options: AskOptions = {},
): Promise<RawAnswer> {
  const isExpected = (status: number) => condition !== undefined && meetsStatus(condition, status);
  const operation = reachOperation(context.reads);
  if (operation && condition?.path === undefined)
    return context.ask(operation, guessInput(operation), { ...options, isExpected });
  return context.get(condition?.path ?? context.client.baseUrl, { ...options, isExpected });
}

/** The conditions of `--wait-for`, and the time of the wait. */
export interface VersionOptions {
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
}

/** How often the service is compared with the conditions, before the checks of a round and again after them. */
const lookCount = 10;
/** The shortest time limit of a look. A longer one ends with the time of the wait. */
const minLookMs = 1000;

const rolloutHint = 'is the rollout done, on every replica?';

/** Makes the check that the service is the deployment of `--wait-for`, in ten answers and in all answers of the round. */
export function createVersionCheck({ waitFor, waitMs }: VersionOptions): Check {
  const passed = pass(`held in ${lookCount} answers in a row, each on a new connection`);
  return {
    id: 'reach/version',
    isPrerequisite: true,
    async run(context) {
      const timeoutMs = Math.min(context.timeoutMs, Math.max(waitMs, minLookMs));
      try {
        const faults: Finding[] = [];
        for (let count = 0; count < lookCount; count += 1)
          faults.push(...(await look(context, waitFor, timeoutMs)));
        const [fault] = faults;
        if (!fault) return foreignAnswer(waitFor, context.heads) ?? passed;
        const reason = `${fault.reason}, in ${faults.length} of ${lookCount} answers`;
        return fail(reason, { ...fault, hint: rolloutHint });
      } catch (error) {
        context.signal.throwIfAborted();
        return { ...findingOfError(error), exitCode: undefined };
      }
    },
  };
}

/**
 * Compares the service with every condition once, on a new connection, because one replica of the new version must not speak
 * for the others. Conditions on the same path share a request.
 *
 * @returns the first failure, or nothing.
 */
async function look(
  context: CheckContext,
  conditions: readonly Condition[],
  timeoutMs: number,
): Promise<Finding[]> {
  const answers = new Map<string | undefined, RawAnswer>();
  for (const condition of conditions) {
    const options = { timeoutMs, changes: { connection: 'close' } };
    const answer = answers.get(condition.path) ?? (await askFor(context, condition, options));
    answers.set(condition.path, answer);
    const difference = differenceTo(condition, answer, context.mask);
    if (difference) return [{ ...difference, ...detailsOf(answer) }];
  }
  return [];
}

/** Finds answers to the checks that contradict a condition on a header. Errors of a proxy may lack the header. */
function foreignAnswer(waitFor: readonly Condition[], heads: readonly HttpHeaders[]): Finding | undefined {
  const conditions = waitFor.filter(({ path }) => path === undefined);
  const reasons = heads.flatMap((headers) =>
    conditions.flatMap((condition) => contradictionOf(condition, headers) ?? []).slice(0, 1),
  );
  const [reason] = reasons;
  return reason === undefined
    ? undefined
    : fail(`${reason}, in ${reasons.length} of ${heads.length} answers to the checks`, { hint: rolloutHint });
}
