import type { Contract, Operation } from '../../api/contract.ts';
import { readLifecycle } from '../../api/lifecycle.ts';
import { judge, statusText, successOf } from '../answer.ts';
import { type Check, pass, skip, type Verdict, warn } from '../check.ts';
import { detailsOf, type Exchange, jsonOf } from '../exchange.ts';
import { judgePaging } from '../paging.ts';
import { readsOf, type Session } from '../session.ts';
import { sunsetOf } from './lifecycle.ts';

/** One check for every GET: status, content type, body and paging are as documented. */
export function operationChecks(contract: Contract): Check[] {
  return readsOf(contract).map((operation) => ({
    group: 'op',
    name: operation.id,
    operation,
    run: (session) => check(session, operation),
  }));
}

async function check(session: Session, operation: Operation): Promise<Verdict> {
  const visit = await session.visit(operation);
  if ('none' in visit) return skip(visit.none);
  const { exchange } = visit;
  if (exchange.status === 410 && isPastSunset(session, operation, exchange))
    return warn('gone, as its sunset announced', detailsOf(exchange));
  const judgement = judge(operation, exchange, successOf(operation));
  if ('fault' in judgement) return judgement.fault;
  return (await judgePaging(session, operation, exchange)) ?? pass(summarise(exchange), detailsOf(exchange));
}

function isPastSunset(session: Session, operation: Operation, { fields }: Exchange): boolean {
  const end = sunsetOf(operation, readLifecycle(fields));
  return operation.deprecated && end !== undefined && end <= session.now();
}

function summarise(exchange: Exchange): string {
  const body = jsonOf(exchange);
  if (!Array.isArray(body)) return statusText(exchange.status);
  return `${statusText(exchange.status)}, ${body.length} ${body.length === 1 ? 'record' : 'records'}`;
}
