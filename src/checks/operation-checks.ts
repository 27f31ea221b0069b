import type { Contract } from '../api/contract.ts';
import { headerValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, operations } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { CliError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { counted, dayOf } from '../process/text.ts';
import { type Check, type CheckAnswer, type CheckContext, createSkippedCheck } from './check.ts';
import { type Finding, FindingError, flaky, pass, skip, statusText, warn } from './finding.ts';
import { judge } from './judge-answer.ts';
import { faultsOfList } from './list-checks.ts';
import { findIds, idsIn, idsOf, inputsFor, recordOf, recordsOf } from './records.ts';
import { detailsOf, faultOf, idParameter } from './round.ts';

/**
 * Makes a check for every GET: its answers must be as documented. A GET that the service lacks, or that is not bound, is
 * listed as skipped.
 */
export function createOperationChecks({ operations: offered, missing }: Contract): Check[] {
  const reads = [...offered.values()].filter(({ method }) => method === 'GET');
  const checks = reads.map(
    (operation): Check => ({
      id: `op/${operation.id}`,
      operation,
      run: (context) => (operation.isList ? checkList(context, operation) : checkGet(context, operation)),
    }),
  );
  const unbound = [...missing].filter(([id]) => operations[id].method === 'GET');
  return [...checks, ...unbound.map(([id, { why }]) => createSkippedCheck(`op/${id}`, why))];
}

async function checkList(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const answer = await context.askOnce(operation);
  const finding = judgeRead(answer);
  return answer.status < 300 ? [finding, ...(await faultsOfList(context, answer))] : [finding];
}

/** The most records to request, because other clients may delete a record after the list was read. */
const maxRecords = 3;

/** Requests a record that a list shows, and compares the two. An operation without an id is called once. */
async function checkGet(context: CheckContext, operation: Operation): Promise<Finding | Finding[]> {
  if (!idParameter(operation)) return judgeRead(await context.askOnce(operation));
  const { list, ids } = await findIds(context, operation);
  for (const id of ids.slice(0, maxRecords)) {
    const answer = await context.askOnce(operation, { id });
    if (answer.status === 410 && operation.isDeprecated && passedSunset(answer, context.now()))
      return warn('gone, as its sunset announced', detailsOf(answer));
    const findings = isGone(answer) ? [] : [judgeRead(answer)];
    const fault = faultAgainstList(answer, await context.askOnce(list));
    if (fault) {
      // Another client may have changed the record, so both are read once more.
      const listAnswer = await context.ask(list, {});
      const again = faultAgainstList(await context.ask(operation, { id }), listAnswer);
      if (isSameFault(fault, again)) return [...findings, fault];
      const isDeleted = isGone(answer) && !idsIn(listAnswer, nouns[operation.noun].idName).includes(id);
      if (!isDeleted) return [...findings, flaky(`${fault.reason}, once in 2 looks`, fault)];
    } else if (!isGone(answer)) return findings;
  }
  return skip(`none of the records that ${list.id} showed is there`);
}

function isGone({ status }: CheckAnswer): boolean {
  return status === 404 || status === 410;
}

/** Whether two faults are the same, and the list has not changed between them. */
function isSameFault(first: Finding, second: Finding | undefined): boolean {
  return first.reason === second?.reason && first.expected === second.expected;
}

/** Checks the answer to a GET. @throws FindingError if the answer is not as documented. */
function judgeRead(answer: CheckAnswer): Finding {
  const { operation, status } = answer;
  const remark = judge(answer);
  const count = operation.isList ? `, ${counted(recordsOf(answer).length, 'record', 'records')}` : '';
  const text = `${statusText(status)}${count}`;
  if (remark === undefined) return pass(text, detailsOf(answer));
  return warn(`${text}; ${operation.id}: ${remark}`, detailsOf(answer));
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

/** Makes the check that every GET is marked as deprecated by its description and by a header, or by neither. */
export function createLifecycleCheck(reads: readonly Operation[]): Check {
  return {
    id: 'lifecycle/marks',
    async run(context) {
      const findings: Finding[] = [];
      for (const operation of reads)
        try {
          const [input] = await inputsFor(context, operation);
          const answer = await context.askOnce(operation, input);
          if (answer.status < 400 || answer.status === 410)
            findings.push(...judgeMarks(answer, context.now()));
        } catch (error) {
          // Without an answer the check of the operation says so.
          if (!(error instanceof FindingError || error instanceof CliError)) throw error;
        }
      return findings.length > 0 ? findings : pass('header and description agree');
    },
  };
}

/** Compares the headers Deprecation and Sunset with the mark of the description. @see RFC 9745, RFC 8594 */
function judgeMarks(answer: CheckAnswer, now: Date): Finding[] {
  const { operation, headers } = answer;
  const header = headerValue(headers, 'deprecation') ?? headerValue(headers, 'sunset');
  const day = passedSunset(answer, now);
  const warning = (text: string) =>
    warn(`${operation.id} ${text}`, { ...detailsOf(answer), operation, got: header });
  const differs = operation.isDeprecated !== (header !== undefined);
  const [here, there] = operation.isDeprecated ? ['description', 'a header'] : ['header', 'the description'];
  return [
    ...(differs ? [warning(`is deprecated by its ${here}, not by ${there}`)] : []),
    ...(day === undefined ? [] : [warning(`has a sunset that passed on ${day}`)]),
  ];
}

/** Returns the day of a sunset that has passed, by the header of the answer, or else by the description. */
function passedSunset({ operation, headers }: CheckAnswer, now: Date): string | undefined {
  const ms = Date.parse(headerValue(headers, 'sunset') ?? operation.sunset ?? '');
  return ms <= now.getTime() ? dayOf(new Date(ms)) : undefined;
}
