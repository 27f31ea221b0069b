import { isUtf8 } from 'node:buffer';
import { shownUrl, withoutParameters } from '../api/http.ts';
import { idParameter, type Operation } from '../api/operations.ts';
import { type Attempt, statusRule } from '../client/answer-table.ts';
import type { Answer, CallInput, OperationRequest } from '../client/call.ts';
import { pageSize } from '../client/lists/page-size.ts';
import type { RawRequest } from '../client/user-request.ts';
import { monotonicMs } from '../process/deadline.ts';
import { type ExitCode, exitCodes, messageOf, UsageError } from '../process/errors.ts';
import { jsonIn } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import {
  type AskOptions,
  type Check,
  type CheckAnswer,
  type CheckContext,
  checkStates,
  type Finding,
  FindingError,
  findingOfError,
  groupOf,
  isFailure,
  type ServiceUnderTest,
  skip,
  statusText,
} from './check.ts';
import { getsOf } from './judge-answer.ts';

/** The result of a check: its gravest finding, with the secrets masked. */
export interface CheckResult extends Omit<Check, 'run' | 'findFault'>, Finding {
  readonly elapsedMs: number;
}

/** Returns a clause that says why the checks were stopped, if they were. */
function whyStopped(stopped: AbortSignal): string | undefined {
  return stopped.aborted ? messageOf(stopped.reason) : undefined;
}

/**
 * Runs checks one after another. After the failure of a prerequisite or of a write, the rest is skipped. The result of a
 * check that runs again replaces its earlier result.
 *
 * @param stopped aborted when the checks are stopped; the message of the reason is a clause.
 * @param waitEndsAtMs the end of `--wait`, on the clock of `monotonicMs`. The prerequisites fail then; other checks go on.
 */
export async function runChecks(
  checks: readonly Check[],
  service: ServiceUnderTest,
  stopped: AbortSignal,
  waitEndsAtMs?: number,
): Promise<CheckResult[]> {
  const results = new Map<string, CheckResult>();
  for (const check of checks) {
    const { id } = check;
    const failed = [...results.values()].find(
      (result) => isFailure(result) && (result.isPrerequisite || groupOf(result.id) === 'write'),
    );
    const skipReason = failed ? `${failed.id} failed` : whyStopped(stopped);
    const endsAtMs = check.isPrerequisite ? waitEndsAtMs : undefined;
    if (skipReason === undefined) results.set(id, await runCheck(check, service, stopped, endsAtMs));
    else if (!results.has(id)) results.set(id, skippedResult(check, skipReason));
  }
  return [...results.values()];
}

/** Runs one check. @param stopped as for `runChecks` @param endsAtMs when its calls end; each may still take a second */
export async function runCheck(
  check: Check,
  service: ServiceUnderTest,
  stopped: AbortSignal,
  endsAtMs?: number,
): Promise<CheckResult> {
  const attempts: Attempt[] = [];
  const startedMs = monotonicMs();
  const context = createCheckContext(service, stopped, attempts, endsAtMs);
  const findings = await check.run(context).catch((error: unknown) => {
    // A call that was cut off says nothing about the service.
    const stopReason = whyStopped(stopped);
    return stopReason === undefined ? findingOfError(error) : skip(stopReason);
  });
  const faults = attempts.map(({ response }) => response && check.findFault?.(response, service.mask));
  const all = [findings, ...faults].flat().filter((finding) => finding !== undefined);
  return resultOf(check, all, service, attempts, monotonicMs() - startedMs);
}

/** Makes the context of one check. @param attempts gets the attempts of its requests @param endsAtMs as for `runCheck` */
function createCheckContext(
  service: ServiceUnderTest,
  signal: AbortSignal,
  attempts: Attempt[],
  endsAtMs = Number.POSITIVE_INFINITY,
): CheckContext {
  // A request is sent again if the service is overloaded, or a gateway does not reach it.
  const isFinal = (status: number) => !(statusRule(status).pauses || statusRule(status).mayBeOutage);
  const afterAttempt = (attempt: Attempt) => void attempts.push(attempt);
  const options = { signal, isFinalStatus: isFinal, afterAttempt };
  const { limits, contract, withOptions } = service.client;
  // Each call has a second at least.
  const leftMs = () => Math.min(limits.timeoutMs, Math.max(endsAtMs - monotonicMs(), 1000));
  const openClient = () => withOptions(options, leftMs());
  const send = async (request: OperationRequest | RawRequest, { isFinalStatus }: AskOptions) => {
    const isFinalToo = (status: number) => isFinal(status) || isFinalStatus?.(status) === true;
    return withContent(await openClient().send(request, { isFinalStatus: isFinalToo }));
  };
  return {
    ...service,
    signal,
    gets: getsOf(contract),
    client: openClient(),
    async ask(operation, input = idParameter(operation) ? { id: 1n } : {}, options = {}) {
      const { headers } = options;
      const request = { operation: operation.id, input: { ...withPageSize(operation, input), headers } };
      const answer = await send(request, options).catch((error: unknown) => {
        // The input lacks a header or a parameter that the contract requires.
        throw error instanceof UsageError ? new FindingError(skip(error.message)) : error;
      });
      return { ...answer, operation };
    },
    get: (path, options = {}) => send({ method: 'GET', path, headers: options.headers }, options),
  };
}

function withPageSize(operation: Operation, input: CallInput): CallInput {
  const isRequired = operation.parameters.some(({ name, required }) => name === 'limit' && required);
  return isRequired ? { ...input, query: { limit: pageSize(operation), ...input.query } } : input;
}

function withContent(answer: Answer): Omit<CheckAnswer, 'operation'> {
  const mediaType = withoutParameters(answer.headers['content-type'] ?? '').toLowerCase();
  const bytes = Buffer.from(answer.body);
  const text = bytes.toString('utf8');
  return { ...answer, mediaType, text, json: isUtf8(bytes) ? jsonIn(text) : undefined };
}

/**
 * Makes the result of a check. A failure of an operation that is not stable is a warning, and a check that passes is flaky if
 * one of its requests was repeated.
 */
export function resultOf(
  { id, operation, isPrerequisite }: Omit<Check, 'run'>,
  findings: readonly Finding[],
  { strict, mask }: Pick<ServiceUnderTest, 'strict' | 'mask'>,
  attempts: readonly Attempt[] = [],
  elapsedMs = 0,
): CheckResult {
  const repeated = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  const { response, error } = repeated ?? {};
  const outcome = response ? statusText(response.status) : (error?.message ?? 'no answer');
  const adjust = (finding: Finding): Finding => {
    const { state, reason, operation: checked = operation } = finding;
    if (state === 'pass' && repeated)
      return adjust({ ...finding, state: 'flaky', reason: `${mask(outcome)} first, then: ${reason}` });
    if (strict && state === 'flaky') return { ...finding, state: 'fail', reason: `flaky: ${reason}` };
    if (strict && state === 'warn') return { ...finding, state: 'fail' };
    if (strict || !isFailure(finding) || !checked || checked.stability === 'stable') return finding;
    return { ...finding, state: 'warn', reason: `${reason} (${checked.id} is ${checked.stability})` };
  };
  const finding = adjust(toSafe(gravestOf(findings), mask));
  return { operation, ...finding, id, isPrerequisite, elapsedMs };
}

/** Makes one finding of all that are as grave as the gravest: the first one, with the reasons of all. */
function gravestOf(findings: readonly Finding[]): Finding {
  const state = checkStates.find((candidate) => findings.some((finding) => finding.state === candidate));
  const gravest = findings.filter((finding) => finding.state === state);
  const [first = skip('there is nothing to check')] = gravest;
  if (gravest.length < 2) return first;
  return { ...first, reason: [...new Set(gravest.map(({ reason }) => reason))].join('; ') };
}

/** Makes the result of a check that did not begin. @param reason a short clause */
export function skippedResult(check: Omit<Check, 'run'>, reason: string): CheckResult {
  return resultOf(check, [skip(reason)], { strict: false, mask: (text) => text });
}

/**
 * Masks the secrets in the texts of a finding, and shortens its values. A report does neither, because its escapes would hide a
 * secret from the mask.
 */
function toSafe(finding: Finding, mask: ServiceUnderTest['mask']): Finding {
  const safe = (value: unknown, name: string): unknown => {
    if (typeof value !== 'string') return value;
    return name === 'expected' || name === 'got' ? shorten(mask(value), 200) : mask(shownUrl(value));
  };
  const entries = Object.entries(finding).map(([name, value]) => [name, safe(value, name)]);
  return { ...Object.fromEntries(entries), state: finding.state } as Finding;
}

/**
 * Returns the exit code for these results. A failure of a check that all others need, such as `reach/http`, has an exit code
 * of its own, which says whether the service answered; any other failure is 7.
 */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const failures = results.filter(isFailure);
  if (failures.length === 0) return exitCodes.done;
  return failures.find(({ isPrerequisite }) => isPrerequisite)?.exitCode ?? exitCodes['check-failed'];
}
