import type { Contract, Operation } from '../../api/contract.ts';
import type { RawRequest } from '../../client/client.ts';
import { isJsonObject, printJson } from '../../json.ts';
import { type Expectation, excerpt, judge, statusText } from '../answer.ts';
import { type Check, fail, pass, skip, type Verdict } from '../check.ts';
import { documentedAnswer, errorSchema } from '../documented.ts';
import { detailsOf, type Exchange } from '../exchange.ts';
import { idParameter, readsOf, type Session } from '../session.ts';

const int64Max = 9223372036854775807n;

/** Large ids that no service gives in its lifetime; the next is tried where one is in use after all. */
function unusedIds(operation: Operation): bigint[] {
  const maximum = idParameter(operation)?.bounds?.maximum;
  const largest = maximum === undefined ? int64Max : BigInt(maximum);
  return [largest, largest - 1n, largest - 1024n];
}

/** Whether wrong requests are refused as the contract says. */
export function errorChecks(contract: Contract): Check[] {
  const operation = subjectOf(contract);
  return [
    { group: 'error', name: 'not-found', run: (session) => withSubject(session, operation, notFound) },
    { group: 'error', name: 'bad-request', run: (session) => withSubject(session, operation, badRequest) },
  ];
}

/** The GET to ask with: one that takes an id, the most settled first. */
function subjectOf(contract: Contract): Operation | undefined {
  const reads = readsOf(contract).filter((operation) => idParameter(operation) !== undefined);
  return reads.find(({ deprecated, stability }) => !deprecated && stability === 'stable') ?? reads[0];
}

async function withSubject(
  session: Session,
  operation: Operation | undefined,
  check: (session: Session, operation: Operation) => Promise<Verdict>,
): Promise<Verdict> {
  if (!operation) return skip('the contract has no GET that takes an id');
  return { operation, ...(await check(session, operation)) };
}

async function notFound(session: Session, operation: Operation): Promise<Verdict> {
  for (const id of unusedIds(operation)) {
    const answer = await session.send(requestFor(session, operation, id));
    if (operation.success.includes(answer.status)) continue;
    return judgeError(operation, answer, { isStatus: (status) => status === 404, statuses: '404' });
  }
  return skip(`${operation.id} finds a record for every large id that was tried`);
}

async function badRequest(session: Session, operation: Operation): Promise<Verdict> {
  const [marker = 0n] = unusedIds(operation);
  const { fields = {}, ...request } = requestFor(session, operation, marker);
  const spoil = (text: string) => text.replace(String(marker), 'not-a-number');
  const spoiled = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? spoil(value) : value,
  ]);
  const answer = await session.send({
    ...request,
    path: spoil(request.path),
    fields: Object.fromEntries(spoiled),
  });
  return judgeError(operation, answer, {
    isStatus: (status) => status >= 400 && status < 500 && isDocumented(operation, status),
    statuses: refusalsOf(operation),
  });
}

function requestFor(session: Session, operation: Operation, id: bigint): RawRequest {
  return session.toRequest(operation, { [idParameter(operation)?.name ?? 'id']: id });
}

/** A description that documents no refusal at all forbids none. */
function isDocumented(operation: Operation, status: number): boolean {
  return documentedAnswer(operation, status) !== undefined || refusals(operation).length === 0;
}

function refusals({ errors }: Operation): number[] {
  return errors.filter((status) => status >= 400 && status < 500);
}

function refusalsOf(operation: Operation): string {
  return refusals(operation).join(' or ') || 'a 4xx';
}

function judgeError(operation: Operation, answer: Exchange, expectation: Expectation): Verdict {
  const judgement = judge(operation, answer, { ...expectation, schema: errorSchema() });
  if ('fault' in judgement) return judgement.fault;
  const details = detailsOf(answer);
  const { body } = judgement;
  const status = isJsonObject(body) ? body.status : undefined;
  if (status === undefined || status === answer.status) return pass(statusText(answer.status), details);
  return fail('the body names another status than the answer has', {
    ...details,
    pointer: '/status',
    expected: String(answer.status),
    got: excerpt(answer, printJson(status)),
  });
}
