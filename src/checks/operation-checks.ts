import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, operations } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { printJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { type Check, type CheckContext, createSkippedCheck, type Reply } from './check.ts';
import { type Finding, pass, skip, statusText, warn } from './finding.ts';
import { judge } from './judge-answer.ts';
import { sunsetDate } from './lifecycle-checks.ts';
import { confirmFault, faultsOfList } from './list-checks.ts';
import { findIds, idsIn, idsOf, recordOf, recordsOf } from './records.ts';
import { detailsOf, faultOf, idParameter } from './round.ts';

/**
 * Makes a check for every GET: its answers must be as documented. A GET that the service lacks, or that is not bound, is
 * listed as skipped, and so is every other GET of the description.
 */
export function createOperationChecks({ operations: offered, missing, otherReads }: Contract): Check[] {
  const reads = [...offered.values()].filter(({ method }) => method === 'GET');
  const checks = reads.map(
    (operation): Check => ({
      id: `op/${operation.id}`,
      operation,
      run: (context) => (operation.isList ? checkList(context, operation) : checkGet(context, operation)),
    }),
  );
  const unbound = [
    ...[...missing].flatMap(([id, { why }]) => (operations[id].method === 'GET' ? [[id, why] as const] : [])),
    ...otherReads.map((name) => [name, 'petstore has no operation like it'] as const),
  ];
  return [...checks, ...unbound.map(([name, why]) => createSkippedCheck(`op/${name}`, why))];
}

async function checkList(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const reply = await context.askOnce(operation);
  const finding = judgeRead(context, reply);
  return reply.status < 300 ? [finding, ...(await faultsOfList(context, reply))] : [finding];
}

/** The most records to request, because other clients may delete a record after the list was read. */
const maxRecords = 3;

/** Requests a record that a list shows, and compares the two. An operation without an id is called once. */
async function checkGet(context: CheckContext, operation: Operation): Promise<Finding | Finding[]> {
  if (!idParameter(operation)) return judgeRead(context, await context.askOnce(operation));
  const { list, ids } = await findIds(context, operation);
  for (const id of ids.slice(0, maxRecords)) {
    const reply = await context.askOnce(operation, { id });
    const isRetired = hasEnded(reply, context.now());
    const isMissing = isGone(reply) && !isRetired;
    const findings = isMissing ? [] : [judgeRead(context, reply)];
    if (isRetired) return findings;
    const faults = await confirmFault((isFirst) => compareWithList(context, reply, list, isFirst));
    // If the list agrees that the record is missing, another client has deleted it.
    if (!isMissing || faults.length > 0) return [...findings, ...faults];
  }
  return skip(`none of the records that ${list.id} showed is there`);
}

function isGone({ status }: Reply): boolean {
  return status === 404 || status === 410;
}

/** Whether an operation was removed at its sunset. */
function hasEnded(reply: Reply, now: Date): boolean {
  const sunsetAt = reply.operation.isDeprecated ? sunsetDate(reply) : undefined;
  return reply.status === 410 && sunsetAt !== undefined && sunsetAt <= now;
}

/** Checks the answer to a GET. @throws FindingError if the answer is not as documented. */
function judgeRead(context: CheckContext, reply: Reply): Finding {
  const { operation, status } = reply;
  if (hasEnded(reply, context.now())) return warn('gone, as its sunset announced', detailsOf(reply));
  // The description does not have this path, so the service may use another one.
  const isOtherPath = operation.provenance === 'chosen' && (status === 404 || status === 405);
  const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
  const { unchecked } = judge(reply, isOtherPath ? { hint } : {});
  const count = operation.isList ? `, ${counted(recordsOf(reply).length, 'record', 'records')}` : '';
  const text = `${statusText(status)}${count}`;
  if (unchecked === undefined) return pass(text, detailsOf(reply));
  return warn(`${text}; ${operation.id}: ${unchecked}`, detailsOf(reply));
}

/**
 * Reads a record twice and compares it with its list.
 *
 * @param reply an earlier answer with the record.
 * @param isFirst whether `reply` is the first of the two answers. The list was then read before it.
 * @returns the fault; undefined if the list agrees when it is read again, because another client may have changed the
 * record.
 * @throws FindingError if an answer is not as documented.
 */
async function compareWithList(
  context: CheckContext,
  reply: Reply,
  list: Operation,
  isFirst: boolean,
): Promise<Finding | undefined> {
  const { operation, recordId: id } = reply;
  const read = () => context.ask(operation, { id });
  const listReply = isFirst ? await context.askOnce(list) : await context.ask(list, {});
  const replies = [isFirst ? reply : await read(), await read()];
  for (const recordReply of replies) if (!isGone(recordReply)) judge(recordReply);
  const faultAgainst = (list: Reply) =>
    replies.flatMap((recordReply) => faultAgainstList(recordReply, list) ?? [])[0];
  const fault = faultAgainst(listReply);
  const laterFault = fault && faultAgainst(await context.ask(list, {}));
  const isSame = laterFault?.reason === fault?.reason && laterFault?.expected === fault?.expected;
  return isSame ? fault : undefined;
}

/** Finds the fault of an answer that lacks a record of a list, or shows it with another value. */
function faultAgainstList(reply: Reply, listReply: Reply): Finding | undefined {
  const { operation, recordId: id = -1n } = reply;
  const { operation: list } = listReply;
  // A pet may have no inventory entry, so only a list of the same noun says that a record must exist.
  if (list.noun !== operation.noun) return undefined;
  if (isGone(reply)) {
    const name = nouns[operation.noun].idName;
    if (!idsIn(listReply, name).includes(id)) return undefined;
    const reason = `answered ${statusText(reply.status)}, and ${list.id} shows ${name} ${id}`;
    return faultOf(reply, reason, { expected: operation.success.join(' or '), got: undefined });
  }
  const record = recordOf(reply);
  const listRecord = recordsOf(listReply)[idsOf(listReply).indexOf(id)];
  if (!record || !listRecord) return undefined;
  // Fields of the service that have none of our names are not compared, because they may change with each read.
  const field = Object.keys(operation.records.names).find(
    (key) => key in record && key in listRecord && !isSameValue(listRecord[key], record[key]),
  );
  if (field === undefined) return undefined;
  return faultOf(reply, `${field} differs from what ${list.id} shows`, {
    pointer: `/${field}`,
    expected: printJson(listRecord[field]),
    got: printJson(record[field]),
  });
}
