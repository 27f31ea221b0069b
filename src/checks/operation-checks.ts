import type { Contract } from '../api/contract.ts';
import { readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { printJson } from '../process/exact-json.ts';
import { counted, excerpt } from '../process/text.ts';
import { type CheckRun, detailsOf, idParameter, type Reply, readsOf } from './ask.ts';
import {
  type Check,
  fail,
  isRed,
  pass,
  skip,
  statusText,
  type Verdict,
  VerdictError,
  warn,
} from './check.ts';
import { sunsetOf } from './deprecation.ts';
import { judge } from './judge-answer.ts';
import { confirmed, faultOfList, faultOfPages } from './list-faults.ts';
import { findIds, idsIn, idsOf, recordOf, recordsOf } from './records.ts';

/** One check for every GET: status, content type, body and paging are as documented. */
export function operationChecks(contract: Contract): Check<CheckRun>[] {
  return readsOf(contract).map((operation) => ({
    id: `op/${operation.id}`,
    operation,
    run: (run) => (operation.many ? checkList(run, operation) : checkGet(run, operation)),
  }));
}

async function checkList(run: CheckRun, operation: Operation): Promise<Verdict> {
  const reply = await run.visit(operation);
  const verdict = judgeRead(run, operation, reply);
  if (verdict.state !== 'pass' && verdict.state !== 'warn') return verdict;
  const again = () => run.ask(operation, {});
  const fault =
    (await confirmed(async (isFirst) => faultOfList(operation, isFirst ? reply : await again()))) ??
    (await confirmed((isFirst) => faultOfPages(run, operation, isFirst ? reply : undefined)));
  return fault ?? verdict;
}

/** Operations without an id are asked once; one with an id is asked for a record of a list. */
async function checkGet(run: CheckRun, operation: Operation): Promise<Verdict> {
  const name = idParameter(operation)?.name;
  if (name === undefined) return judgeRead(run, operation, await run.visit(operation));
  const { list, ids } = await findIds(run, operation, name);
  for (const id of ids.slice(0, maxTries)) {
    const reply = await run.visit(operation, { [name]: id });
    const verdict = judgeRead(run, operation, reply);
    const read: ReadOfList = { operation, list, id, name, first: reply };
    if (!isRed(verdict))
      return (await confirmed((isFirst) => differenceToList(run, read, isFirst))) ?? verdict;
    if (!isMissing(reply)) return verdict;
    // Somebody may have deleted it since the list was read.
    const fault = await confirmed((isFirst) => missingFromGet(run, read, isFirst));
    if (fault) return fault;
  }
  return skip(`the records that ${list.id} showed are gone`);
}

function isMissing({ status }: Reply): boolean {
  return status === 404 || status === 410;
}

const maxTries = 3;

function judgeRead(run: CheckRun, operation: Operation, reply: Reply): Verdict {
  try {
    if (reply.status === 410 && isPastSunset(run, operation, reply))
      return warn('gone, as its sunset announced', detailsOf(reply));
    // The service document does not state this path, so the service may use another.
    const isElsewhere = operation.source === 'chosen' && (reply.status === 404 || reply.status === 405);
    const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
    const { unchecked } = judge(run, operation, reply, isElsewhere ? { hint } : {});
    const count = operation.many
      ? `, ${counted(recordsOf(operation, reply).length, 'record', 'records')}`
      : '';
    const text = `${statusText(reply.status)}${count}`;
    return unchecked === undefined
      ? pass(text, detailsOf(reply))
      : warn(`${text}; ${operation.id}: ${unchecked}`, detailsOf(reply));
  } catch (error) {
    if (error instanceof VerdictError) return error.verdict;
    throw error;
  }
}

function isPastSunset({ now }: CheckRun, operation: Operation, { fields }: Reply): boolean {
  const end = sunsetOf(operation, readLifecycle(fields));
  return operation.deprecated && end !== undefined && end <= now();
}

/** The fields that every record of a noun has by the contract; others may change with each read. */
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

/** A record that was read by its id, and the list that shows it. */
interface ReadOfList {
  readonly operation: Operation;
  readonly list: Operation;
  readonly id: bigint;
  /** The name of the parameter for the id. */
  readonly name: string;
  /** The first answer. */
  readonly first: Reply;
}

/** A record that its list shows, now, and its GET does not find. */
async function missingFromGet(
  run: CheckRun,
  { operation, list, id, name, first }: ReadOfList,
  isFirst: boolean,
): Promise<Verdict | undefined> {
  const reply = isFirst ? first : await run.ask(operation, { [name]: id });
  if (!isMissing(reply) || !idsIn(await run.ask(list, {}), list, name).includes(id)) return undefined;
  const verdict = judgeRead(run, operation, reply);
  return { ...verdict, reason: `${verdict.reason}, and ${list.id} shows ${name} ${id}` };
}

/** A field of a record that its list shows with another value. */
async function differenceToList(
  run: CheckRun,
  { operation, list, id, name, first }: ReadOfList,
  isFirst: boolean,
): Promise<Verdict | undefined> {
  if (list.noun !== operation.noun || first.status >= 300) return undefined;
  const reply = isFirst ? first : await run.ask(operation, { [name]: id });
  const listed = isFirst ? await run.visit(list) : await run.ask(list, {});
  const record = reply.status < 300 ? recordOf(operation, reply) : undefined;
  const other = recordsOf(list, listed)[idsOf(list, listed).indexOf(id)];
  if (!record || !other) return undefined;
  const field = comparedFields.find(
    (each) => each in record && each in other && !isSameValue(record[each], other[each]),
  );
  if (field === undefined) return undefined;
  return fail(`${field} differs from what ${list.id} shows`, {
    ...detailsOf(reply),
    pointer: `/${field}`,
    expected: excerpt(printJson(other[field]), run.mask),
    got: excerpt(printJson(record[field]), run.mask),
  });
}
