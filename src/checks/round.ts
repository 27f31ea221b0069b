import type { Contract } from '../api/contract.ts';
import { headerValue, requestIdOf, withoutParameters } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { Attempt } from '../client/attempt.ts';
import type { CallOptions } from '../client/call.ts';
import type { RawResponse } from '../client/client.ts';
import { titleOr } from '../client/error-body.ts';
import { type CallInput, recordIdOf } from '../client/request.ts';
import { pageSize } from '../client/whole-list.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { parseJson } from '../process/exact-json.ts';
import type { StoppedError } from '../process/signals.ts';
import {
  type AskOptions,
  type Check,
  type CheckAnswer,
  type CheckContext,
  groupOf,
  type RawAnswer,
  type Service,
} from './check.ts';
import { type Details, type Finding, FindingError, fail, findingOfError, isRed, skip } from './finding.ts';
import { type CheckResult, resultOf, skippedResult } from './result.ts';

/** The answers that several checks of one pass share, by operation and id. */
type Answers = Map<string, Promise<CheckAnswer>>;

/** Returns the reason for which checks were stopped, a clause; undefined if they were not. */
export function stopReasonOf(stopped: AbortSignal): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/**
 * Runs checks one after another. After the failure of a prerequisite or of a write, the rest is skipped. The result of a
 * check that runs again replaces its earlier result.
 *
 * @param stopped aborted when the checks are stopped; the reason is a StoppedError with a clause.
 */
export async function runChecks(
  checks: readonly Check[],
  service: Service,
  stopped: AbortSignal,
): Promise<CheckResult[]> {
  const answers: Answers = new Map();
  let results: CheckResult[] = [];
  for (const check of checks) {
    const failed = results.find(
      (result) => isRed(result) && (result.isPrerequisite || groupOf(result.id) === 'write'),
    );
    const others = results.filter(({ id }) => id !== check.id);
    const skipReason = failed ? `${failed.id} failed` : stopReasonOf(stopped);
    if (skipReason === undefined) {
      const { context, attempts } = createCheckContext(service, stopped, answers);
      const startedMs = monotonicMs();
      const findings = await check.run(context).catch((error: unknown) => {
        // A call that was cut off says nothing about the service.
        const stopReason = stopReasonOf(stopped);
        return stopReason === undefined ? findingOfError(error) : skip(stopReason);
      });
      const run = { elapsedMs: monotonicMs() - startedMs, attempts };
      results = [...others, resultOf(check, [findings].flat(), service, run)];
    } else if (others.length === results.length) results.push(skippedResult(check, skipReason));
  }
  return results;
}

const smokeRetriedStatuses = [429, 502, 503, 504];

/** Makes the context of one check, and a list that gets the attempts of its requests. */
export function createCheckContext(
  service: Service,
  signal: AbortSignal,
  answers: Answers = new Map(),
): { readonly context: CheckContext; readonly attempts: readonly Attempt[] } {
  const { client, timeoutMs, retries } = service;
  const attempts: Attempt[] = [];
  const callOptions = ({ isExpected = () => false, changes, ...limits }: AskOptions = {}): CallOptions => ({
    signal,
    timeoutMs,
    retries,
    isFinal: (status) => !smokeRetriedStatuses.includes(status) || isExpected(status),
    skipsNotices: true,
    ...limits,
    afterAttempt: (attempt) => attempts.push(attempt),
  });
  const context: CheckContext = {
    ...service,
    signal,
    reads: readsOf(client.contract),
    client: {
      ...client,
      call: (id, input, options) => client.call(id, input, { ...callOptions(), ...options }),
      write: (id, input, options) => client.write(id, input, { ...callOptions(), ...options }),
      list: (id, filters, options) => client.list(id, filters, { ...callOptions(), ...options }),
      note: () => {},
    },
    async ask(operation, input, options = {}) {
      const { id, method } = operation;
      const sending = client.send(id, withPageSize(operation, input), callOptions(options), options.changes);
      const response = await sending.catch((error: unknown) => {
        // The contract requires a parameter for which the check has no value.
        throw error instanceof UsageError ? new FindingError(skip(error.message)) : error;
      });
      const recordId = recordIdOf(operation, input);
      const { definitions } = client.contract;
      return { ...response, ...parseBody(response), method, operation, recordId, definitions };
    },
    async get(path, options = {}) {
      const request = { method: 'GET', path, headers: options.changes };
      const response = await client.request(request, callOptions(options));
      return { ...response, ...parseBody(response), method: 'GET' };
    },
    askOnce(operation, input = {}) {
      const key = `${operation.id} ${recordIdOf(operation, input)}`;
      const answer = answers.get(key) ?? context.ask(operation, input);
      answers.set(key, answer);
      return answer;
    },
  };
  return { context, attempts };
}

/** Adds the page size, if the service requires one. */
function withPageSize(operation: Operation, input: CallInput): CallInput {
  const isRequired = operation.parameters.some(({ name, required }) => name === 'limit' && required);
  return isRequired ? { ...input, query: { limit: pageSize(operation), ...input.query } } : input;
}

function parseBody({ headers, body }: RawResponse): Pick<RawAnswer, 'mediaType' | 'text' | 'json'> {
  const mediaType = withoutParameters(headerValue(headers, 'content-type') ?? '').toLowerCase();
  const text = Buffer.from(body).toString('utf8');
  try {
    return { mediaType, text, json: parseJson(text) };
  } catch {
    return { mediaType, text };
  }
}

/** Returns the request and the answer behind a finding, for the report. */
export function detailsOf({ method, url, status, headers }: RawAnswer): Details {
  return { method, url, status, requestId: requestIdOf(headers) };
}

/** Makes a failure from an answer. `got` is what the body says, unless the details have another value. */
export function faultOf(answer: CheckAnswer, reason: string, details: Details = {}): Finding {
  return fail(reason, {
    ...detailsOf(answer),
    operation: answer.operation,
    got: titleOr(answer.text),
    ...details,
  });
}

/** Returns the GET operations, in the order of the contract. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** Returns the operation that `reach/http` calls: the first GET without an id, else the first GET. */
export function reachOperation(reads: readonly Operation[]): Operation | undefined {
  return reads.find((operation) => idParameter(operation) === undefined) ?? reads[0];
}

/** Returns an input for a GET operation. If the operation takes an id, the input has a guess. */
export function guessInput(operation: Operation): CallInput {
  return idParameter(operation) ? { id: 1n } : {};
}

/** Returns the parameter for the id of the record; undefined if the operation takes no id. */
export function idParameter({ parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === 'id');
}
