import type { Operation } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import { CliError, type ExitCode, exitCodes, UnavailableError } from '../process/errors.ts';
import { excerpt } from '../process/text.ts';
import { type CheckRun, detailsOf, easiestOf, idParameter, type Reply, readsOf } from './ask.ts';
import { type Check, type Details, fail, pass, statusText, type Verdict, verdictOfError } from './check.ts';
import { type Condition, meetsStatus, unmet } from './condition.ts';

/** What the service answered to the first request. */
interface FirstAnswer {
  readonly reply: Reply;
  /** Undefined if the contract has no GET. */
  readonly operation: Operation | undefined;
}

/**
 * Sends the first GET of the contract, preferably one without an id; if it has none, that of the first `--expect`.
 *
 * @param isExpected whether a status is the wanted one.
 */
async function askFirst(run: CheckRun, isExpected?: (status: number) => boolean): Promise<FirstAnswer> {
  const { client, options } = run;
  const first = easiestOf(readsOf(client.contract));
  if (first) {
    const { operation, input } = first;
    return { operation, reply: await run.ask(operation, input, isExpected ? { isExpected } : {}) };
  }
  const own = options.expect.find(({ path }) => path !== undefined);
  const isWanted = isExpected ?? ((status) => own !== undefined && meetsStatus(own, status));
  const reply = await run.get(own?.path ?? client.baseUrl, { isExpected: isWanted });
  return { reply, operation: undefined };
}

/** The verdict of `reach/http`, and the answer that it is about, if one came. */
interface Reached {
  readonly verdict: Verdict;
  readonly reply?: Reply;
  /** Whether time does not change the answer: 401, 403, a certificate that is not trusted. */
  readonly isFinal: boolean;
}

/** Whether the service itself answers, and not a page, a login, a gateway or another address. */
export async function reachHttp(run: CheckRun): Promise<Reached> {
  try {
    const { reply, operation } = await askFirst(run);
    const isFinal = reply.status === 401 || reply.status === 403;
    return { reply, verdict: judgeFirst(run, reply, operation), isFinal };
  } catch (error) {
    if (!(error instanceof CliError) || run.signal.aborted) throw error;
    const why = error instanceof UnavailableError ? error.reason : undefined;
    const { unavailable, 'check-failed': failed } = exitCodes;
    const verdict = verdictOfError(error);
    if (why !== 'redirect')
      return { verdict: { ...verdict, state: 'fail', exitCode: unavailable }, isFinal: why === 'tls' };
    const reason = `${verdict.reason}; ${tokenClause(run)}`;
    const hint = verdict.hint ?? loginHint;
    return { verdict: { ...verdict, state: 'fail', reason, hint, exitCode: failed }, isFinal: false };
  }
}

const loginHint = 'does the service want a login, and is the base URL that of its API?';

function judgeFirst(run: CheckRun, reply: Reply, operation: Operation | undefined): Verdict {
  const { status, url, mediaType } = reply;
  const answered = `${operation?.id ?? url} answered ${statusText(status)}`;
  // Without an operation nothing is known of the path, so any answer shows that something is there.
  if (!operation) return pass(answered, detailsOf(reply));
  const wrong = (reason: string, exitCode: ExitCode, more: Details) =>
    fail(reason, { ...detailsOf(reply), exitCode, got: excerpt(reply.text, run.mask), ...more });
  const { auth, unavailable, 'check-failed': failed } = exitCodes;
  const token = tokenClause(run);
  const hint = reply.error?.details.hint;
  if (status === 401 || status === 403) return wrong(`${answered}; ${token}`, auth, { hint });
  if (status >= 500)
    return wrong(answered, unavailable, {
      hint: isGatewayStatus(status)
        ? 'nothing answers behind the gateway; --wait waits for it'
        : 'the log of the service says why',
    });
  const isPage = /html/.test(mediaType) || /^\s*<(!doctype|html)/i.test(reply.text);
  if (isPage) {
    const from = reply.isRedirected ? `, redirected to ${url}` : '';
    return wrong(`${answered} with a web page${from}; ${token}`, failed, {
      expected: 'an answer of the API',
      hint: reply.isRedirected
        ? loginHint
        : 'is the base URL that of the API, and is the deployment done? --wait waits for it',
    });
  }
  // The id was a guess, so the service may lack the record.
  const isMissing = status === 404 && (idParameter(operation) === undefined || reply.json === undefined);
  if (isMissing)
    return wrong(`${answered}; ${token}`, failed, {
      hint: 'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description',
    });
  return pass(answered, detailsOf(reply));
}

function tokenClause({ client }: CheckRun): string {
  return client.credential === undefined ? 'no token was sent' : `the token of ${client.credential} was sent`;
}

function isGatewayStatus(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** @throws UsageError if a path leads out of the service. */
export function checkConditions(client: Client, conditions: readonly Condition[]): void {
  for (const { path } of conditions) if (path !== undefined) client.toRawRequest({ method: 'GET', path });
}

/** The user's own checks, `expect/1` and following, in the order of the flags. */
export function expectChecks(conditions: readonly Condition[]): Check<CheckRun>[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    async run(run) {
      const reply = await askFor(run, condition);
      return judgeCondition(run, condition, reply) ?? pass(condition.text, detailsOf(reply));
    },
  }));
}

/** The answer that a condition is about. A status that it expects is not retried. */
export async function askFor(run: CheckRun, condition: Condition): Promise<Reply> {
  const isExpected = (status: number) => meetsStatus(condition, status);
  if (condition.path !== undefined) return run.get(condition.path, { isExpected });
  return (await askFirst(run, isExpected)).reply;
}

/** The failure of a condition that an answer does not meet. */
export function judgeCondition(run: CheckRun, condition: Condition, reply: Reply): Verdict | undefined {
  const problem = unmet(condition, reply, run.mask);
  if (!problem) return undefined;
  const { reason, ...details } = problem;
  return fail(reason, { ...detailsOf(reply), ...details });
}
