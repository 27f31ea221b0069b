import type { Contract } from '../api/contract.ts';
import { readLifecycle } from '../api/lifecycle.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, operations } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { printJson } from '../process/exact-json.ts';
import { counted, excerpt } from '../process/text.ts';
import {
  type Check,
  type Finding,
  FindingError,
  fail,
  isRed,
  pass,
  skip,
  statusText,
  warn,
} from './check.ts';
import { judge } from './judge-answer.ts';
import { sunsetDate } from './lifecycle-checks.ts';
import { confirm, faultsOfList } from './list-checks.ts';
import { findIds, idsIn, idsOf, recordOf, recordsOf } from './records.ts';
import { type CheckContext, detailsOf, idParameter, type Reply, readsOf } from './round.ts';

/** One check for every GET: its answers are as documented. Those that the service lacks, or that are not bound, are skipped. */
export function operationChecks(contract: Contract): Check<CheckContext>[] {
  const checks = readsOf(contract).map((operation) => ({
    id: `op/${operation.id}`,
    operation,
    run: (context: CheckContext) =>
      operation.many ? checkList(context, operation) : checkGet(context, operation),
  }));
  const missing = [...contract.missing].filter(([id]) => operations[id].method === 'GET');
  return [...checks, ...missing.map(([id, why]) => ({ id: `op/${id}`, run: async () => [skip(why)] }))];
}

async function checkList(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const reply = await context.visit(operation);
  const finding = judgeRead(context, operation, reply);
  if (isRed(finding) || reply.status >= 300) return [finding];
  return [finding, ...(await faultsOfList(context, operation, reply))];
}

/** How many records of a list are asked for if others delete them at the same time. */
const maxTries = 3;

/** Asks an operation once, or if it takes an id, for a record that a list shows. */
async function checkGet(context: CheckContext, operation: Operation): Promise<Finding[]> {
  if (!idParameter(operation)) return [judgeRead(context, operation, await context.visit(operation))];
  const { list, ids } = await findIds(context, operation);
  for (const id of ids.slice(0, maxTries)) {
    const reply = await context.visit(operation, { id });
    const finding = judgeRead(context, operation, reply);
    if (!isGone(reply) && isRed(finding)) return [finding];
    if (isGone(reply) && !isRed(finding)) return [finding];
    const listed: ListedRecord = { operation, list, id };
    const faults = await confirm((isFirst) => compareWithList(context, listed, isFirst ? reply : undefined));
    if (!isGone(reply)) return [finding, ...faults];
    // Without a fault, somebody has deleted it since the list was read.
    if (faults.length > 0) return faults;
  }
  return [skip(`none of the records that ${list.id} showed is there`)];
}

function isGone({ status }: Reply): boolean {
  return status === 404 || status === 410;
}

function judgeRead(context: CheckContext, operation: Operation, reply: Reply): Finding {
  try {
    if (reply.status === 410 && isPastSunset(context, operation, reply))
      return warn('gone, as its sunset announced', detailsOf(reply));
    // The service document does not state this path, so the service may use another.
    const isOtherPath = operation.source === 'chosen' && (reply.status === 404 || reply.status === 405);
    const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
    const { unchecked } = judge(context, operation, reply, isOtherPath ? { hint } : {});
    const count = operation.many
      ? `, ${counted(recordsOf(operation, reply).length, 'record', 'records')}`
      : '';
    const text = `${statusText(reply.status)}${count}`;
    return unchecked === undefined
      ? pass(text, detailsOf(reply))
      : warn(`${text}; ${operation.id}: ${unchecked}`, detailsOf(reply));
  } catch (error) {
    if (error instanceof FindingError) return error.finding;
    throw error;
  }
}

function isPastSunset({ round }: CheckContext, operation: Operation, { fields }: Reply): boolean {
  const end = sunsetDate(operation, readLifecycle(fields));
  return operation.deprecated && end !== undefined && end <= round.now();
}

/** The fields of the contract. A service may have further fields that change with each read. */
const comparedFields = [
  'name',
  'categoryId',
  'status',
  'description',
  'petId',
  'quantity',
  'shipDate',
  'complete',
];

/** A record that can be read by its id, and the list that shows it. */
interface ListedRecord {
  readonly operation: Operation;
  readonly list: Operation;
  readonly id: bigint;
}

/**
 * Reads a record twice and compares it with its list.
 *
 * @param first the answer of the first reading, if the list was read before.
 * @returns undefined also if the list, read again, shows another value or no longer the record: somebody has changed it.
 * @throws FindingError if the second reading is not as documented.
 */
async function compareWithList(
  context: CheckContext,
  record: ListedRecord,
  first: Reply | undefined,
): Promise<Finding | undefined> {
  const { operation, list, id } = record;
  const read = () => context.ask(operation, { id });
  const listReply = first ? await context.visit(list) : await context.ask(list, {});
  const replies = [first ?? (await read()), await read()];
  for (const reply of replies) if (!isGone(reply)) judge(context, operation, reply);
  const faultAgainst = (answer: Reply) =>
    replies.flatMap((reply) => faultAgainstList(context, record, reply, answer) ?? [])[0];
  const fault = faultAgainst(listReply);
  const laterFault = fault && faultAgainst(await context.ask(list, {}));
  const isSame = laterFault?.reason === fault?.reason && laterFault?.expected === fault?.expected;
  return isSame ? fault : undefined;
}

/** The fault of an answer that lacks a record of a list, or shows it with another value. */
function faultAgainstList(
  { round: { mask } }: CheckContext,
  { operation, list, id }: ListedRecord,
  reply: Reply,
  listReply: Reply,
): Finding | undefined {
  // A pet of a list of pets may have no entry in the inventory.
  if (list.noun !== operation.noun) return undefined;
  if (isGone(reply)) {
    const name = nouns[operation.noun].idName;
    if (!idsIn(listReply, list, name).includes(id)) return undefined;
    const reason = `answered ${statusText(reply.status)}, and ${list.id} shows ${name} ${id}`;
    return fail(reason, { ...detailsOf(reply), expected: operation.success.join(' or ') });
  }
  const record = recordOf(operation, reply);
  const listed = recordsOf(list, listReply)[idsOf(list, listReply).indexOf(id)];
  if (!record || !listed) return undefined;
  const field = comparedFields.find(
    (key) => key in record && key in listed && !isSameValue(listed[key], record[key]),
  );
  if (field === undefined) return undefined;
  return fail(`${field} differs from what ${list.id} shows`, {
    ...detailsOf(reply),
    pointer: `/${field}`,
    expected: excerpt(printJson(listed[field]), mask),
    got: excerpt(printJson(record[field]), mask),
  });
}
