import type { Contract, Operation, Parameter } from '../api/contract.ts';
import { type OperationId, operations } from '../api/operations.ts';
import type { Client, RawRequest } from '../client/client.ts';
import { type CallInput, toRequest } from '../client/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { CheckResult } from './check.ts';
import { type Exchange, exchange, jsonOf, type SendOptions } from './exchange.ts';
import type { SmokeOptions } from './options.ts';
import type { Sockets } from './sockets.ts';

/** A call to make and, once made, what came of it: checks of the same operation share one. */
type Visit = { readonly exchange: Exchange } | { readonly none: string };

/** What a session is made of. */
interface SessionParts {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** Results so far, by id. */
  readonly results: ReadonlyMap<string, CheckResult>;
  /** What was still wrong when waiting for the service had taken its time. */
  readonly late?: string | undefined;
  /** Whether a check is among those asked for. */
  isPlanned(id: string): boolean;
  /** Masks the secrets of this run. */
  mask(text: string): string;
  now(): Date;
}

/** What the checks of one run work with. */
export interface Session extends SessionParts {
  readonly contract: Contract;
  /** How many requests have taken a second attempt so far. */
  retries(): number;
  /** What could not be checked of the answers so far, a clause each. */
  readonly remarks: readonly string[];
  /** The request of an operation, as a call of the client's would send it. */
  toRequest(operation: Operation, input: CallInput): RawRequest;
  /** Sends a request, once more where that may help. */
  send(request: RawRequest, options?: Pick<SendOptions, 'withoutParameter'>): Promise<Exchange>;
  /** A plain GET of an operation, sent once in a run; or why there is nothing to get. */
  visit(operation: Operation): Promise<Visit>;
  /** An id that an operation's path may be given, taken from a list. */
  findId(operation: Operation): Promise<bigint | undefined>;
}

export function createSession(parts: SessionParts): Session {
  const { client, signal } = parts;
  const visits = new Map<OperationId, Promise<Visit>>();
  const remarks: string[] = [];
  const remark = (text: string) => void remarks.push(text);
  let retries = 0;
  const session: Session = {
    ...parts,
    retries: () => retries,
    remarks,
    contract: client.contract,
    toRequest: (operation, input) => toRaw(client, operation, input),
    async send(request, options = {}) {
      const answer = await exchange(client, request, { ...options, signal, mask: parts.mask, remark });
      if (answer.retried) retries += 1;
      return answer;
    },
    visit(operation) {
      const visit = visits.get(operation.id) ?? makeVisit(session, operation);
      visits.set(operation.id, visit);
      return visit;
    },
    findId: (operation) => findId(session, operation),
  };
  return session;
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** The parameter that names the record of an operation, wherever the service takes it. */
export function idParameter({ id, parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => operations[id].path.includes(`{${name}}`));
}

/** The records of a list's answer, as far as it is a list. */
export function recordsOf(answer: Pick<Exchange, 'text'>): JsonObject[] {
  const body = jsonOf(answer);
  return Array.isArray(body) ? body.filter(isJsonObject) : [];
}

async function makeVisit(session: Session, operation: Operation): Promise<Visit> {
  const name = idParameter(operation)?.name;
  if (name === undefined) return { exchange: await session.send(session.toRequest(operation, {})) };
  const id = await session.findId(operation);
  if (id === undefined) return { none: `no list has a record whose ${name} could be asked for` };
  return { exchange: await session.send(session.toRequest(operation, { [name]: id })) };
}

/** Looks in the list of the operation's own noun first, then for the same name in the other lists. */
async function findId(session: Session, operation: Operation): Promise<bigint | undefined> {
  const name = idParameter(operation)?.name ?? 'id';
  const lists = readsOf(session.contract).filter(({ many }) => many);
  const own = lists.filter(({ noun }) => noun === operation.noun);
  for (const list of [...own, ...lists.filter((each) => !own.includes(each))]) {
    const visit = await session.visit(list).catch(() => undefined);
    const records = visit && 'exchange' in visit ? recordsOf(visit.exchange) : [];
    const ids = records.map((record) => record[name] ?? (own.includes(list) ? record.id : undefined));
    const id = ids.map(toId).find((each) => each !== undefined);
    if (id !== undefined) return id;
  }
  return undefined;
}

function toId(value: JsonValue | undefined): bigint | undefined {
  const isId = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isId && value >= 0 ? BigInt(value) : undefined;
}

/**
 * The request of an operation, without what the client adds to every request.
 *
 * @throws UsageError where the input breaks the bounds of the contract.
 */
export function toRaw(client: Client, operation: Operation, input: CallInput): RawRequest {
  client.toRequest(operation.id, input as never);
  const { method, url, fields, body } = toRequest(operation, input, { baseUrl: client.baseUrl, fields: {} });
  return { method, path: url, fields, body };
}
