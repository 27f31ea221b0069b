import { announcesEnd, sunsetOf } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { idParameter, type Operation, type Parameter } from '../api/operations.ts';
import { isShown } from '../api/same-values.ts';
import { isMissingStatus } from '../client/answer-table.ts';
import { faultOfNext, statedNext } from '../client/lists/next-page.ts';
import { isJsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { countText, dayOf, withArticle } from '../process/text.ts';
import {
  type CheckAnswer,
  type CheckContext,
  type Finding,
  fail,
  flaky,
  pass,
  skip,
  statusText,
  warn,
} from './check.ts';
import {
  askList,
  detailsOf,
  failureIn,
  listedIds,
  recordOf,
  recordsOf,
  requireAsDocumented,
} from './judge-answer.ts';

/** Checks a list, its next page and a filter. */
export async function checkList(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const answer = await context.ask(operation);
  return [judgeRead(context, answer), ...(await judgeWhole(context, answer))];
}

/** Requests a record that a list shows, and compares the two. An operation without an id is called once. */
export async function checkGet(context: CheckContext, operation: Operation): Promise<Finding | Finding[]> {
  if (!idParameter(operation)) return judgeRead(context, await context.ask(operation));
  const list = await askList(context, operation);
  const id = list && listedIds(list).find((each) => each >= 0n);
  if (!list || id === undefined)
    return skip(`no list shows ${withArticle(nouns[operation.noun].idName)} that ${operation.id} takes`);
  const answer = await context.ask(operation, { id });
  if (answer.status === 410 && operation.isDeprecated && passedSunset(answer, new Date()))
    return warn('gone, as its sunset announced', detailsOf(answer));
  const finding = isMissingStatus(answer.status)
    ? skip(`${list.operation.id} shows ${id}, which is not there`)
    : judgeRead(context, answer);
  const failure = judgeAgainstList(answer, list);
  if (!failure) return finding;
  // Another client may have changed the record, so both are read once more.
  const listAnswer = await context.ask(list.operation);
  const again = judgeAgainstList(await context.ask(operation, { id }), listAnswer);
  if (failure.reason === again?.reason && failure.expected === again.expected) return failure;
  const isDeleted = isMissingStatus(answer.status) && !listedIds(listAnswer).includes(id);
  return isDeleted ? finding : [finding, flaky(`${failure.reason}, in one of two readings`, failure)];
}

/** Checks the answer to a GET. @throws FindingError if the answer is not as documented. */
function judgeRead(context: CheckContext, answer: CheckAnswer): Finding {
  const { operation, status } = answer;
  requireAsDocumented(context, answer);
  const why = whyDoubtful(answer, new Date());
  const count = operation.isList ? `, ${countText(recordsOf(answer).length, 'record', 'records')}` : '';
  const text = `${statusText(status)}${count}`;
  if (why === undefined) return pass(text, detailsOf(answer));
  return warn(`${text}; ${operation.id}: ${why}`, detailsOf(answer));
}

/** Fails an answer that lacks a record of a list, or shows it with another value. */
function judgeAgainstList(answer: CheckAnswer, listAnswer: CheckAnswer): Finding | undefined {
  const { operation } = answer;
  const { recordId: id = -1n } = answer.call;
  const { operation: list } = listAnswer;
  if (isMissingStatus(answer.status)) {
    if (!listedIds(listAnswer).includes(id)) return undefined;
    const reason = `answered ${statusText(answer.status)}, but ${list.id} shows ${nouns[operation.noun].idName} ${id}`;
    // The list works, so a hint about the base URL would mislead.
    const expected = operation.success.join(' or ');
    return failureIn(answer, reason, { expected, got: undefined, hint: undefined });
  }
  const record = recordOf(answer);
  const listRecord = recordsOf(listAnswer)[listedIds(listAnswer).indexOf(id)];
  if (!record || !listRecord) return undefined;
  // Fields of the service that have none of our names are not compared, because they may change with each read.
  const field = Object.keys(operation.recordForm.names).find(
    (key) => key in record && key in listRecord && !isShown(listRecord[key], record[key]),
  );
  if (field === undefined) return undefined;
  return failureIn(answer, `${field} differs from what ${list.id} shows`, {
    pointer: `/${field}`,
    expected: printJson(listRecord[field]),
    got: printJson(record[field]),
  });
}

// A list as a whole: its ids, its next page and a filter. Other clients may write while it is read, so a failure
// that they could have caused is a warning.

/** Judges a list as a whole. @param list the valid answer to a request without filter and page size */
async function judgeWhole(context: CheckContext, list: CheckAnswer): Promise<Finding[]> {
  const findings = [judgeIds(list), await checkNextPage(context, list), await checkFilter(context, list)];
  return findings.filter((finding) => finding !== undefined);
}

/** Fails a list that shows an id twice. */
function judgeIds(answer: CheckAnswer): Finding | undefined {
  const ids = new Set<bigint>();
  const id = listedIds(answer).find((candidate) => ids.size === ids.add(candidate).size);
  if (id === undefined) return undefined;
  return failureIn(answer, 'the list has an id twice', { expected: 'each record once', got: `id ${id}` });
}

/** Follows the link to the next page, once, unless it leaves the service. @throws FindingError if the next page is not as documented */
async function checkNextPage(context: CheckContext, page: CheckAnswer): Promise<Finding | undefined> {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const fault = faultOfNext(link, page.request.url);
  if (fault) return fail(`the next link ${fault.reason}`, { ...detailsOf(page), ...fault, got: link });
  const nextPage = {
    ...(await context.get(new URL(link, page.request.url).href)),
    operation: page.operation,
  };
  requireAsDocumented(context, nextPage, { step: 'next page' });
  const { url } = nextPage.request;
  const second = nextOf(nextPage);
  const isRepeated = second !== undefined && !faultOfNext(second, url) && new URL(second, url).href === url;
  return isRepeated
    ? fail('the next page links to itself', { ...detailsOf(nextPage), got: link })
    : undefined;
}

function nextOf({ operation, request, headers, json }: CheckAnswer): string | undefined {
  return statedNext(operation, request.url, { headers, envelope: isJsonObject(json) ? json : undefined });
}

/** Asks for the records with a value that a record of the list has, by the first filter for which there is one. */
async function checkFilter(context: CheckContext, list: CheckAnswer): Promise<Finding | undefined> {
  const { operation } = list;
  for (const filter of operation.parameters) {
    const { name, wireName } = filter;
    const value = recordsOf(list)
      .map((record) => record[name])
      .find((candidate) => isAccepted(filter, operation, candidate));
    if (value === undefined) continue;
    const answer = await context.ask(operation, { query: { [name]: value } });
    const subject = `the filter ${wireName}=${value}`;
    requireAsDocumented(context, answer, { step: subject });
    const records = recordsOf(answer);
    const details = { expected: 'only records with it' };
    if (records.length === 0) {
      const reason = `${subject} finds nothing, although ${operation.id} shows a record with it`;
      return warn(reason, failureIn(answer, reason, details));
    }
    const foreign = records.find((record) => record[name] !== undefined && !isShown(value, record[name]));
    const reason = `${subject} also returns other records`;
    return foreign && failureIn(answer, reason, { ...details, got: printJson(foreign) });
  }
  return undefined;
}

/** Returns true if a parameter is a filter that accepts the value of its field in a record. */
function isAccepted(
  { name, in: location, bounds = {} }: Parameter,
  { recordForm }: Operation,
  value: JsonValue | undefined,
): boolean {
  if (location !== 'query' || !Object.hasOwn(recordForm.names, name)) return false;
  const type = typeof value === 'bigint' ? 'number' : typeof value;
  const acceptedType = bounds.type === 'integer' ? 'number' : (bounds.type ?? type);
  const isListed = !bounds.enum || bounds.enum.includes(String(value));
  return isListed && type === acceptedType && /^(string|number|boolean)$/.test(type);
}

/** Returns a clause if the headers Deprecation and Sunset contradict the description. @see RFC 9745, RFC 8594 */
function whyDoubtful(answer: CheckAnswer, now: Date): string | undefined {
  const { operation, headers } = answer;
  const isAnnounced = announcesEnd(headers);
  if (operation.isDeprecated !== isAnnounced)
    return `only its ${isAnnounced ? 'header' : 'description'} says that it is deprecated`;
  const day = passedSunset(answer, now);
  return day && `its sunset passed on ${day}`;
}

function passedSunset({ operation, headers }: CheckAnswer, now: Date): string | undefined {
  const sunset = sunsetOf(operation, headers);
  return sunset && sunset <= now ? dayOf(sunset) : undefined;
}
