import type { Contract } from '../api/contract.ts';
import { fieldValue, requestIdOf } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { Attempt } from '../client/attempt.ts';
import type { RawAnswer } from '../client/client.ts';
import { type CallInput, recordIdOf, toAcceptedInput } from '../client/request.ts';
import { messageOf } from '../process/errors.ts';
import { parseJson } from '../process/exact-json.ts';
import type { CheckContext, RawReply, Reply } from './check.ts';
import { Deployment } from './deployment.ts';
import { type Details, type Finding, fail } from './finding.ts';

/** The service under test, and the limits of each call to it. */
export interface Service
  extends Pick<CheckContext, 'client' | 'address' | 'credentialPlace' | 'now' | 'mask'> {
  /** The deadline of one call, with its retries. */
  readonly timeoutMs: number;
  readonly retries: number;
}

/** One pass through the checks: the service, and the answers that several checks look at. */
export interface Round extends Service, Pick<CheckContext, 'deployment'> {
  /** The answers to GETs, by operation and id. */
  readonly replies: Map<string, Promise<Reply>>;
  /** The number of answers of other deployments before this round. */
  readonly foreignBefore: number;
}

/** Begins a round. @param deployment counts the answers of all rounds of a wait. */
export function startRound(service: Service, deployment = new Deployment([], service.client)): Round {
  return { ...service, deployment, replies: new Map(), foreignBefore: deployment.foreignAnswers };
}

const retriedStatuses = [429, 502, 503, 504];

/** Makes the context of one check, and the list to which the attempts of its requests are added. */
export function startCheck(
  round: Round,
  signal: AbortSignal,
  createSignal = signal,
): { readonly context: CheckContext; readonly attempts: readonly Attempt[] } {
  const { client, deployment, timeoutMs, retries } = round;
  const attempts: Attempt[] = [];
  const context: CheckContext = {
    ...round,
    signal,
    createSignal,
    reads: readsOf(client.contract),
    callOptions({ isExpected = () => false, changes, ...limits } = {}) {
      const statuses = new Set(retriedStatuses.filter((status) => !isExpected(status)));
      return {
        ...{ signal, timeoutMs, retries, retriedStatuses: statuses, skipsNotices: true, ...limits },
        afterAttempt(attempt) {
          attempts.push(attempt);
          deployment.add(attempt);
        },
      };
    },
    async ask(operation, values, options = {}) {
      const { id, method } = operation;
      const input = toAcceptedInput(operation, values);
      const answer = await client.send(id, input, context.callOptions(options), options.changes);
      const recordId = recordIdOf(operation, input);
      const { definitions } = client.contract;
      return { ...answer, ...decodeBody(answer), method, operation, recordId, definitions };
    },
    async get(path, options = {}) {
      const request = { method: 'GET', path, fields: options.changes };
      const answer = await client.request(request, context.callOptions(options));
      return { ...answer, ...decodeBody(answer), method: 'GET' };
    },
    askOnce(operation, input = {}) {
      const key = `${operation.id} ${recordIdOf(operation, input)}`;
      const reply = round.replies.get(key) ?? context.ask(operation, input);
      round.replies.set(key, reply);
      return reply;
    },
  };
  return { context, attempts };
}

function decodeBody({ fields, body }: RawAnswer) {
  const [type = ''] = (fieldValue(fields, 'content-type') ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  const text = Buffer.from(body).toString('utf8');
  try {
    return { mediaType, text, json: parseJson(text) };
  } catch (error) {
    return { mediaType, text, jsonFault: messageOf(error) };
  }
}

/** The request and the answer behind a finding, for its report. */
export function detailsOf({ method, url, status, fields }: RawReply): Details {
  return { method, url, status, requestId: requestIdOf(fields), cache: cacheOf(fields) };
}

/** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`; undefined if none says so. */
export function cacheOf(fields: RawAnswer['fields']): string | undefined {
  const texts = (['Age', 'X-Cache'] as const).flatMap((name) => {
    const value = fieldValue(fields, name.toLowerCase());
    return value === undefined ? [] : [`${name}: ${value.slice(0, 100)}`];
  });
  return texts.join(', ') || undefined;
}

/** A fault of an answer. It shows the body, unless the details have another value for `got`. */
export function faultOf(reply: Reply, reason: string, details: Details = {}): Finding {
  return fail(reason, { ...detailsOf(reply), operation: reply.operation, got: reply.text, ...details });
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** The GET that reach sends: the first without an id, else the first. */
export function firstRead(reads: readonly Operation[]): Operation | undefined {
  return reads.find((operation) => idParameter(operation) === undefined) ?? reads[0];
}

/** An input for an operation that reads. If it needs an id, that is a guess. */
export function guessInput(operation: Operation): CallInput {
  return idParameter(operation) ? { id: 1n } : {};
}

/** The parameter with the id of the record. */
export function idParameter({ parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === 'id');
}
