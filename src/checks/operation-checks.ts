import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, operations } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { printJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { type Check, type CheckAnswer, type CheckContext, createSkippedCheck } from './check.ts';
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
  const answer = await context.askOnce(operation);
  const finding = judgeRead(context, answer);
  return answer.status < 300 ? [finding, ...(await faultsOfList(context, answer))] : [finding];
}

/** The most records to request, because other clients may delete a record after the list was read. */
const maxRecords = 3;

/** Requests a record that a list shows, and compares the two. An operation without an id is called once. */
async function checkGet(context: CheckContext, operation: Operation): Promise<Finding | Finding[]> {
  if (!idParameter(operation)) return judgeRead(context, await context.askOnce(operation));
  const { list, ids } = await findIds(context, operation);
  for (const id of ids.slice(0, maxRecords)) {
    const answer = await context.askOnce(operation, { id });
    const isRetired = hasEnded(answer, context.now());
    const isMissing = isGone(answer) && !isRetired;
    const findings = isMissing ? [] : [judgeRead(context, answer)];
    if (isRetired) return findings;
    const faults = await confirmFault((isFirst) => compareWithList(context, answer, list, isFirst));
    // If the list agrees that the record is missing, another client has deleted it.
    if (!isMissing || faults.length > 0) return [...findings, ...faults];
  }
  return skip(`none of the records that ${list.id} showed is there`);
}

function isGone({ status }: CheckAnswer): boolean {
  return status === 404 || status === 410;
}

/** Whether an operation was removed at its sunset. */
function hasEnded(answer: CheckAnswer, now: Date): boolean {
  const sunsetAt = answer.operation.isDeprecated ? sunsetDate(answer) : undefined;
  return answer.status === 410 && sunsetAt !== undefined && sunsetAt <= now;
}

/** Checks the answer to a GET. @throws FindingError if the answer is not as documented. */
function judgeRead(context: CheckContext, answer: CheckAnswer): Finding {
  const { operation, status } = answer;
  if (hasEnded(answer, context.now())) return warn('gone, as its sunset announced', detailsOf(answer));
  // The description does not have this path, so the service may use another one.
  const isOtherPath = operation.source === 'chosen' && (status === 404 || status === 405);
  const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
  const { unchecked } = judge(answer, isOtherPath ? { hint } : {});
  const count = operation.isList ? `, ${counted(recordsOf(answer).length, 'record', 'records')}` : '';
  const text = `${statusText(status)}${count}`;
  if (unchecked === undefined) return pass(text, detailsOf(answer));
  return warn(`${text}; ${operation.id}: ${unchecked}`, detailsOf(answer));
}

/**
 * Reads a record twice and compares it with its list.
 *
 * @param answer an earlier answer with the record.
 * @param isFirst whether `answer` is the first of the two answers. The list was then read before it.
 * @returns the fault; undefined if the list agrees when it is read again, because another client may have changed the
 * record.
 * @throws FindingError if an answer is not as documented.
 */
async function compareWithList(
  context: CheckContext,
  answer: CheckAnswer,
  list: Operation,
  isFirst: boolean,
): Promise<Finding | undefined> {
  const { operation, recordId: id } = answer;
  const read = () => context.ask(operation, { id });
  const listAnswer = isFirst ? await context.askOnce(list) : await context.ask(list, {});
  const answers = [isFirst ? answer : await read(), await read()];
  for (const recordAnswer of answers) if (!isGone(recordAnswer)) judge(recordAnswer);
  const faultAgainst = (list: CheckAnswer) =>
    answers.flatMap((recordAnswer) => faultAgainstList(recordAnswer, list) ?? [])[0];
  const fault = faultAgainst(listAnswer);
  const laterFault = fault && faultAgainst(await context.ask(list, {}));
  const isSame = laterFault?.reason === fault?.reason && laterFault?.expected === fault?.expected;
  return isSame ? fault : undefined;
}

/** Finds the fault of an answer that lacks a record of a list, or shows it with another value. */
function faultAgainstList(answer: CheckAnswer, listAnswer: CheckAnswer): Finding | undefined {
  const { operation, recordId: id = -1n } = answer;
  const { operation: list } = listAnswer;
  // A pet may have no inventory entry, so only a list of the same noun says that a record must exist.
  if (list.noun !== operation.noun) return undefined;
  if (isGone(answer)) {
    const name = nouns[operation.noun].idName;
    if (!idsIn(listAnswer, name).includes(id)) return undefined;
    const reason = `answered ${statusText(answer.status)}, and ${list.id} shows ${name} ${id}`;
    return faultOf(answer, reason, { expected: operation.success.join(' or '), got: undefined });
  }
  const record = recordOf(answer);
  const listRecord = recordsOf(listAnswer)[idsOf(listAnswer).indexOf(id)];
  if (!record || !listRecord) return undefined;
  // Fields of the service that have none of our names are not compared, because they may change with each read.
  const field = Object.keys(operation.records.names).find(
    (key) => key in record && key in listRecord && !isSameValue(listRecord[key], record[key]),
  );
  if (field === undefined) return undefined;
  return faultOf(answer, `${field} differs from what ${list.id} shows`, {
    pointer: `/${field}`,
    expected: printJson(listRecord[field]),
    got: printJson(record[field]),
  });
}
