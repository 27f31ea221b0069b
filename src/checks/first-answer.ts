import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { statusRule } from '../client/answer-table.ts';
import { titleOrText } from '../client/error-body.ts';
import { fromWire } from '../client/read-answer.ts';
import { describeHeader } from '../config/credential.ts';
import { CliError, exitCodes } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import {
  type AskOptions,
  type CheckContext,
  type Finding,
  fail,
  findingOfError,
  isRed,
  pass,
  type RawAnswer,
  statusText,
  warn,
} from './check.ts';
import { type Condition, differenceTo, meetsStatus } from './condition.ts';
import { detailsOf, guessInput, idParameter, reachOperation } from './judge-answer.ts';
import { faultOfNextLink } from './operation-checks.ts';

const { auth, unavailable, 'check-failed': checkFailed } = exitCodes;
const otherHint =
  'is the base URL that of the API, without a login? If the API has other paths, `petstore api bind` reads them from its description';

/**
 * Checks that the API answers, and not a web page, a login, a gateway or another address.
 *
 * @param expect the conditions of `--expect`. The first path among them is asked for if the contract has no GET.
 */
export async function checkHttp(context: CheckContext, expect: readonly Condition[]): Promise<Finding[]> {
  try {
    const operation = reachOperation(context.reads);
    const fallback = expect.find(({ path }) => path !== undefined);
    const answer = await (operation
      ? context.ask(operation, guessInput(operation))
      : context.get(fallback?.path ?? context.client.baseUrl));
    const first = judgeFirstAnswer(context, operation, answer);
    const link = operation?.isList && !isRed(first) ? faultOfNextLink(answer) : undefined;
    return [first, ...(link ? [warn(link.reason, link)] : [])];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.signal.throwIfAborted();
    const finding: Finding = { ...findingOfError(error), state: 'fail', exitCode: unavailable };
    if (error.details.reason !== 'redirect') return [finding];
    const { reason, hint = otherHint } = finding;
    return [{ ...finding, reason: `${reason}; ${tokenClause(context)}`, hint, exitCode: checkFailed }];
  }
}

function judgeFirstAnswer(
  context: CheckContext,
  operation: Operation | undefined,
  answer: RawAnswer,
): Finding {
  const { status, url, isRedirected, error, attempts } = answer;
  const clause = `${operation?.id ?? url} answered ${statusText(status)}`;
  // A guessed id may belong to no record. Then the service itself says so.
  const isUnknownId =
    operation && idParameter(operation) && status === 404 && attempts.at(-1)?.author === 'service';
  // Without an operation there are no requirements: any answer shows that the service is there.
  if (!operation || isUnknownId) return pass(clause, detailsOf(answer));
  const isSuccess = status >= 200 && status < 300;
  const otherBody = isSuccess ? describeOtherBody(answer, operation) : error && `: ${error.message}`;
  if (isSuccess && otherBody === undefined) return pass(clause, detailsOf(answer));
  const redirect = isRedirected ? `, redirected to ${url}` : '';
  const { kind } = statusRule(status, 'service');
  const isElsewhere = isSuccess || isRedirected || kind === 'not-found';
  return fail(`${clause}${otherBody ?? ''}${redirect}; ${tokenClause(context)}`, {
    ...detailsOf(answer),
    got: titleOrText(answer.text),
    hint: isElsewhere ? otherHint : error?.details.hint,
    exitCode: error?.kind === 'auth' ? auth : status >= 500 ? unavailable : checkFailed,
    endsWait: kind === 'auth',
  });
}

/** Says what a success has in place of a list or a record of the API, a clause. Undefined if it has that. */
function describeOtherBody(
  { json = null, text, mediaType }: RawAnswer,
  operation: Operation,
): string | undefined {
  const { plural, idField } = nouns[operation.noun];
  const content = fromWire(operation, json);
  const isRecord = isJsonObject(content) && content[idField] !== undefined;
  if (operation.isList ? Array.isArray(content) : isRecord) return undefined;
  const seen = text === '' ? 'no body' : mediaType || 'a body without a content type';
  return ` with ${seen}, not ${operation.isList ? 'a list of' : 'one of the'} ${plural}`;
}

/** Says whether a token was sent, where in the request it was, and which setting it comes from. */
function tokenClause({ client, tokenHeader }: CheckContext): string {
  if (client.credentialSource === undefined) return 'no token was sent';
  return `the token of ${client.credentialSource} was sent in ${describeHeader(tokenHeader)}`;
}

/** Compares an answer of the service with a condition. A status that the condition requires is not retried. */
export async function checkCondition(
  context: CheckContext,
  condition: Condition,
  options: AskOptions = {},
): Promise<Finding> {
  const operation = reachOperation(context.reads);
  const { path } = condition;
  const asking = { ...options, isFinal: (status: number) => meetsStatus(condition, status) };
  const answer = await (operation && path === undefined
    ? context.ask(operation, guessInput(operation), asking)
    : context.get(path ?? context.client.baseUrl, asking));
  const difference = differenceTo(condition, answer, context.mask);
  return { ...(difference ?? pass(condition.text)), ...detailsOf(answer) };
}

/** How often the service is compared with the conditions, before the checks of a round and again after them. */
const lookCount = 10;

/**
 * Checks that the service is the deployment of `--wait-for`, in ten answers. Each has a new connection, because one replica of
 * the new version must not speak for the others.
 */
export async function checkVersion(context: CheckContext, waitFor: readonly Condition[]): Promise<Finding> {
  const options = { changes: { connection: 'close' } };
  const faults: Finding[] = [];
  try {
    for (let count = 0; count < lookCount; count += 1)
      for (const condition of waitFor) {
        const finding = await checkCondition(context, condition, options);
        if (!isRed(finding)) continue;
        faults.push(finding);
        break;
      }
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...findingOfError(error), exitCode: undefined };
  }
  const [fault] = faults;
  if (!fault) return pass(`held in ${lookCount} answers in a row, each on a new connection`);
  const hint = 'is the rollout done, on every replica?';
  return fail(`${fault.reason}, in ${faults.length} of ${lookCount} answers`, { ...fault, hint });
}
