import { describePlace } from '../config/credential.ts';
import { type Condition, meetsStatus } from '../input/condition.ts';
import { CliError, exitCodes } from '../process/errors.ts';
import type { AskOptions, Check, CheckContext, RawReply } from './check.ts';
import { differenceTo } from './condition-difference.ts';
import { type Details, type Finding, fail, findingOfError, pass, statusText } from './finding.ts';
import { detailsOf, guessInput, idParameter, reachOperation } from './round.ts';

const { auth, unavailable, 'check-failed': checkFailed } = exitCodes;
const loginHint = 'does the service want a login, and does the base URL belong to its API?';

/**
 * Checks that the API answers, and not a web page, a login, a gateway or another address.
 *
 * @param fallback the condition whose request is sent if the contract has no GET.
 */
export async function checkHttp(context: CheckContext, fallback?: Condition): Promise<Finding> {
  try {
    return judgeFirstAnswer(context, await askFirst(context, fallback));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.signal.throwIfAborted();
    const finding: Finding = { ...findingOfError(error), state: 'fail', exitCode: unavailable };
    if (error.details.reason !== 'redirect') return finding;
    const { reason, hint = loginHint } = finding;
    return { ...finding, reason: `${reason}; ${tokenClause(context)}`, hint, exitCode: checkFailed };
  }
}

/** Sends the request of `reach/http`, or the request of the fallback if the contract has no GET. */
export function askFirst(context: CheckContext, fallback?: Condition): Promise<RawReply> {
  const operation = reachOperation(context.reads);
  return operation ? context.askOnce(operation, guessInput(operation)) : askFor(context, fallback);
}

function judgeFirstAnswer(context: CheckContext, reply: RawReply): Finding {
  const { status, url, isRedirected } = reply;
  const operation = reachOperation(context.reads);
  const clause = `${operation?.id ?? url} answered ${statusText(status)}`;
  // Without an operation there are no requirements: any answer shows that the service is there.
  if (!operation) return pass(clause, detailsOf(reply));
  const isPage = /html/.test(reply.mediaType) || /^\s*<(!doctype|html)/i.test(reply.text.slice(0, 100));
  // A guessed id may belong to no record, so a 404 in JSON is a good answer.
  const isMissing = status === 404 && (idParameter(operation) === undefined || reply.json === undefined);
  const faultDetails = faultDetailsOf(reply, isPage, isMissing);
  if (!faultDetails) return pass(clause, detailsOf(reply));
  const page = isPage && status < 400 ? ' with a web page' : '';
  const redirect = isRedirected ? `, redirected to ${url}` : '';
  const token = faultDetails.exitCode === unavailable ? '' : `; ${tokenClause(context)}`;
  return fail(`${clause}${page}${redirect}${token}`, {
    ...detailsOf(reply),
    got: reply.text,
    ...faultDetails,
  });
}

/** Returns the exit code and the hint for an answer that is not one of the API; undefined if it may be one. */
function faultDetailsOf(
  { status, isRedirected, error }: RawReply,
  isPage: boolean,
  isMissing: boolean,
): Details | undefined {
  const expected = 'an answer of the API';
  if (status === 401 || status === 403) return { exitCode: auth, hint: error?.details.hint };
  if (status === 429) return { exitCode: unavailable, hint: 'the service limits the rate: try again later' };
  if (status >= 502 && status <= 504)
    return { exitCode: unavailable, hint: 'nothing answers behind the gateway; --wait waits for it' };
  if (status >= 500) return { exitCode: unavailable, hint: 'the log of the service says why' };
  if (isRedirected && (isPage || isMissing)) return { exitCode: checkFailed, expected, hint: loginHint };
  if (isPage) {
    const hint = 'does the base URL belong to the API, and is the deployment done? --wait waits for it';
    return { exitCode: checkFailed, expected, hint };
  }
  if (!isMissing) return undefined;
  return {
    exitCode: checkFailed,
    hint: 'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description',
  };
}

/** Says whether a token was sent, where in the request it was, and which setting it comes from. */
function tokenClause({ client, credentialPlace }: CheckContext): string {
  if (client.credential === undefined) return 'no token was sent';
  return `the token of ${client.credential} was sent in ${describePlace(credentialPlace)}`;
}

/** Makes a check for each `--expect`: `expect/1` and so on, in the order of the flags. */
export function createExpectChecks(conditions: readonly Condition[]): Check[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    async run(context) {
      const reply = await askFor(context, condition);
      const difference = differenceTo(condition, reply, context.mask);
      return { ...(difference ?? pass(condition.text)), ...detailsOf(reply) };
    },
  }));
}

/** Sends the request of a condition. A status that the condition requires is not retried. */
export async function askFor(
  context: CheckContext,
  condition: Condition | undefined,
  options: AskOptions = {},
): Promise<RawReply> {
  const isExpected = (status: number) => condition !== undefined && meetsStatus(condition, status);
  const operation = reachOperation(context.reads);
  if (operation && condition?.path === undefined)
    return context.ask(operation, guessInput(operation), { ...options, isExpected });
  return context.get(condition?.path ?? context.client.baseUrl, { ...options, isExpected });
}
