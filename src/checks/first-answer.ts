import { describePlace } from '../config/token.ts';
import { CliError, type ExitCode, exitCodes } from '../process/errors.ts';
import { excerpt } from '../process/text.ts';
import { type Check, type Details, type Finding, fail, findingOfError, pass, statusText } from './check.ts';
import { type Condition, differenceTo, meetsStatus } from './condition.ts';
import {
  type AskOptions,
  type CheckContext,
  detailsOf,
  firstRead,
  idParameter,
  type Reply,
} from './round.ts';

const { auth, unavailable, 'check-failed': failed } = exitCodes;
const loginHint = 'does the service want a login, and is the base URL that of its API?';

/** Checks that the service itself answers, and not a web page, a login, a gateway or another address. */
export async function checkHttp(context: CheckContext): Promise<Finding[]> {
  try {
    return [judgeFirst(context, await askFirst(context))];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.signal.throwIfAborted();
    const finding = findingOfError(error);
    const isRedirect = error.details.reason === 'redirect';
    if (!isRedirect) return [{ ...finding, state: 'fail', exitCode: unavailable }];
    const reason = `${finding.reason}; ${tokenClause(context)}`;
    return [{ ...finding, state: 'fail', reason, hint: finding.hint ?? loginHint, exitCode: failed }];
  }
}

/** The answer to the first GET of the contract, preferably one without an id; if it has none, to the first `--expect`. */
export function askFirst(context: CheckContext): Promise<Reply> {
  const { client, options } = context.round;
  const first = firstRead(client.contract);
  if (first) return context.visit(first.operation, first.input);
  const expected = options.expect.find(({ path }) => path !== undefined);
  return expected ? askFor(context, expected) : context.get(client.baseUrl);
}

function judgeFirst(context: CheckContext, reply: Reply): Finding {
  const { status, url, mediaType, isRedirected } = reply;
  const operation = firstRead(context.round.client.contract)?.operation;
  const isPage = /html/.test(mediaType) || /^\s*<(!doctype|html)/i.test(reply.text.slice(0, 100));
  const page = isPage && status < 400 ? ' with a web page' : '';
  const redirect = isRedirected ? `, redirected to ${url}` : '';
  const answered = `${operation?.id ?? url} answered ${statusText(status)}`;
  // The path of the first --expect is no operation, so any answer shows that the service is there.
  if (!operation) return pass(answered, detailsOf(reply));
  const fault = (exitCode: ExitCode, details: Details) =>
    fail(`${answered}${page}${redirect}${exitCode === unavailable ? '' : `; ${tokenClause(context)}`}`, {
      ...{ ...detailsOf(reply), exitCode, got: excerpt(reply.text, context.round.mask) },
      ...details,
    });
  if (status === 401 || status === 403) return fault(auth, { hint: reply.error?.details.hint });
  if (status >= 500 || status === 429) return fault(unavailable, { hint: hintOfFailure(status) });
  // The id was a guess, so the service may lack the record.
  const isMissing = status === 404 && (idParameter(operation) === undefined || reply.json === undefined);
  if (isRedirected && (isPage || isMissing))
    return fault(failed, { expected: 'an answer of the API', hint: loginHint });
  if (isPage)
    return fault(failed, {
      expected: 'an answer of the API',
      hint: 'is the base URL that of the API, and is the deployment done? --wait waits for it',
    });
  if (isMissing)
    return fault(failed, {
      hint: 'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description',
    });
  return pass(answered, detailsOf(reply));
}

function hintOfFailure(status: number): string {
  if (status === 429) return 'the service limits the rate: try again later';
  const isGateway = status >= 502 && status <= 504;
  return isGateway
    ? 'nothing answers behind the gateway; --wait waits for it'
    : 'the log of the service says why';
}

/** Says whether a token was sent, at what place in the request, and what it comes from. */
function tokenClause({ round: { client, options } }: CheckContext): string {
  if (client.credential === undefined) return 'no token was sent';
  return `the token of ${client.credential} was sent in ${describePlace(options.credentialPlace)}`;
}

/** The user's own checks, `expect/1` and following, in the order of the flags. */
export function expectChecks(conditions: readonly Condition[]): Check<CheckContext>[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    async run(context) {
      const reply = await askFor(context, condition);
      const difference = differenceTo(condition, reply, context.round.mask);
      if (!difference) return [pass(condition.text, detailsOf(reply))];
      const { reason, ...details } = difference;
      return [fail(reason, { ...detailsOf(reply), ...details })];
    },
  }));
}

/** Sends the request of a condition. A status that the condition expects is not retried. */
export async function askFor(
  context: CheckContext,
  condition: Condition,
  options: AskOptions = {},
): Promise<Reply> {
  const { client } = context.round;
  const isExpected = (status: number) => meetsStatus(condition, status);
  const expectingOptions = { ...options, isExpected };
  if (condition.path !== undefined) return context.get(condition.path, expectingOptions);
  const first = firstRead(client.contract);
  return first
    ? context.ask(first.operation, first.input, expectingOptions)
    : context.get(client.baseUrl, expectingOptions);
}
