import type { Operation } from '../../api/contract.ts';
import { fieldValue } from '../../api/http.ts';
import type { OperationId } from '../../api/operations.ts';
import type { CallInput } from '../../client/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../json.ts';
import { excerpt, judge, successOf } from '../answer.ts';
import { fail, type Verdict } from '../check.ts';
import { detailsOf, type Exchange } from '../exchange.ts';
import type { Session } from '../session.ts';
import type { Kind } from './kinds.ts';

/** A step that did not come out as it must. */
export class StepFailure extends Error {
  readonly verdict: Verdict;

  constructor(step: string, verdict: Verdict) {
    super(`${step}: ${verdict.reason}`);
    this.verdict = { ...verdict, reason: this.message };
  }
}

export function operationOf({ contract }: Session, id: OperationId): Operation | undefined {
  return contract.operations.get(id);
}

interface Step {
  /** What it is called in a report. */
  readonly step: string;
  readonly operation: Operation;
}

/** The body of an answer that is as documented; undefined where none is. @throws StepFailure */
export function bodyOf({ step, operation }: Step, answer: Exchange): JsonValue | undefined {
  const judgement = judge(operation, answer, successOf(operation));
  if ('fault' in judgement) throw new StepFailure(step, judgement.fault);
  return judgement.body;
}

/** Sends a delete; one that took a second attempt may find that the first had been applied. */
export async function remove(session: Session, operation: Operation, input: CallInput): Promise<void> {
  const answer = await session.send(session.toRequest(operation, input));
  if (answer.retried && answer.status === 404) return;
  bodyOf({ step: 'delete', operation }, answer);
}

/**
 * Reads a record and compares it with what was sent. A GET that the contract lacks, or that is gone (410), is left out.
 *
 * @returns its ETag, where it has one.
 */
export async function readBack(
  session: Session,
  kind: Kind,
  { id, sent }: { readonly id: bigint; readonly sent: JsonObject },
): Promise<string | undefined> {
  const operation = operationOf(session, kind.get);
  if (!operation) return undefined;
  const answer = await session.send(session.toRequest(operation, { [kind.idName]: id }));
  if (answer.status === 410 && operation.deprecated) return undefined;
  compare({ step: 'read back', operation }, sent, answer);
  return fieldValue(answer.fields, 'etag');
}

/** A record is gone when its GET says so. */
export async function expectGone(session: Session, kind: Kind, id: bigint): Promise<void> {
  const operation = operationOf(session, kind.get);
  if (!operation) return;
  const answer = await session.send(session.toRequest(operation, { [kind.idName]: id }));
  if (answer.status === 404 || answer.status === 410) return;
  const judgement = judge(operation, answer, {
    isStatus: (status) => status === 404 || status === 410,
    statuses: '404 or 410',
  });
  if ('fault' in judgement) throw new StepFailure('gone', judgement.fault);
}

/**
 * Each field that was sent must come back as it was; fields that the service adds are its own. An answer that is
 * documented to have no body is taken as it is.
 *
 * @throws StepFailure
 */
export function compare({ step, operation }: Step, sent: JsonObject, answer: Exchange): void {
  const body = bodyOf({ step, operation }, answer);
  if (!isJsonObject(body)) return;
  const wrong = Object.keys(sent).find((field) => !isSame(sent[field], body[field]));
  if (wrong === undefined) return;
  const details = { ...detailsOf(answer), operation, pointer: `/${wrong}` };
  throw new StepFailure(
    step,
    fail(`${wrong} is not what was sent`, {
      ...details,
      expected: excerpt(answer, printJson(sent[wrong])),
      got: wrong in body ? excerpt(answer, printJson(body[wrong])) : 'no such field',
    }),
  );
}

/** Two texts for the same moment are the same. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint';
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint of one value are the same integer
  if (isNumber(one) && isNumber(other)) return one == other;
  if (one === other) return true;
  const isDate = (value: unknown): value is string =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isDate(one) && isDate(other) && Date.parse(one) === Date.parse(other);
}
