import { fieldValue, type HttpFields } from '../api/http.ts';
import { UsageError } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { excerpt, shorten } from '../process/text.ts';
import { isStatus, statusText } from './check.ts';
import { valueAt } from './pointer.ts';

/** A requirement of an answer, from `--wait-for` or `--expect`. Every part that is set must hold. */
export interface Condition {
  /** The text of the flag. */
  readonly text: string;
  /** The path below the base URL; undefined for the GET that reach sends. */
  readonly path?: string | undefined;
  /** `200`, or `2xx`. A condition on a path without a status needs a 2xx. */
  readonly status?: string | undefined;
  readonly header?: (Comparison & { readonly name: string }) | undefined;
  /** Values of the JSON body, by pointer (RFC 6901). */
  readonly values: readonly (Comparison & { readonly pointer: string })[];
  /** The text of the body, without the spaces around it. */
  readonly body?: Comparison | undefined;
}

/** A comparison of texts; `<` and `>` compare numbers. */
interface Comparison {
  readonly operator: string;
  readonly value: string;
}

const grammar =
  '[GET path] [status] [header <name><op><value>] [/<pointer><op><value>] [text<op><value>]; see `petstore help checks`';

const comparison = String.raw`(=|!=|\^=|\*=|<|>)(?:"([^"]*)"|([^\s"]*))(?=\s|$)`;
const patterns = {
  request: /([A-Z]+)\s+(\/\S*)(?=\s|$)/y,
  status: /([1-5](?:\d\d|xx))(?=\s|$)/y,
  header: new RegExp(String.raw`header\s+([\w.-]+)${comparison}`, 'y'),
  text: new RegExp(`text${comparison}`, 'y'),
  value: new RegExp(String.raw`(\/(?:[^\s=!^*<>"~]|~[01])*)${comparison}`, 'y'),
} as const;
const partNames = Object.keys(patterns) as (keyof typeof patterns)[];

/** @throws UsageError that shows the grammar and where the text leaves it. */
export function parseCondition(text: string, flag: string): Condition {
  const parsed: { -readonly [Key in keyof Condition]: Condition[Key] } = { text, values: [] };
  const names = new Set<string>();
  let rest = text.trim();
  const refusal = (why: string, hint: string | undefined = `write ${grammar}`) =>
    new UsageError(`${flag} '${text}': ${why}, at '${shorten(rest, 100)}'`, hint);
  const toComparison = ([operator = '', quoted = '', bare = '']: readonly string[]): Comparison => {
    const value = quoted || bare;
    if (/[<>]/.test(operator) && toNumber(value) === undefined) throw refusal(`${operator} needs a number`);
    return { operator, value };
  };
  const readers: Readonly<Record<keyof typeof patterns, (groups: readonly string[]) => void>> = {
    request([method, path]) {
      if (method !== 'GET')
        throw refusal('only GET is sent', 'petstore smoke changes nothing but with --write');
      if (names.size > 0) throw refusal('method and path come first');
      parsed.path = path;
    },
    status([status]) {
      parsed.status = status;
    },
    header([name = '', ...groups]) {
      parsed.header = { name: name.toLowerCase(), ...toComparison(groups) };
    },
    text(groups) {
      parsed.body = toComparison(groups);
    },
    value([pointer = '', ...groups]) {
      parsed.values = [...parsed.values, { pointer, ...toComparison(groups) }];
    },
  };
  do {
    const name = partNames.find((part) => matchStart(patterns[part], rest));
    if (name === undefined) throw refusal('this is not a part of a condition');
    if (names.has(name) && name !== 'value') throw refusal(`duplicate ${name}`);
    const [match = '', ...groups] = matchStart(patterns[name], rest) ?? [];
    readers[name](groups);
    names.add(name);
    rest = rest.slice(match.length).trimStart();
  } while (rest !== '');
  return parsed;
}

function matchStart(pattern: RegExp, text: string): readonly string[] | undefined {
  pattern.lastIndex = 0;
  return pattern.exec(text)?.map((group) => group ?? '');
}

/** The parts of an answer that conditions look at. */
interface ConditionAnswer {
  readonly status: number;
  readonly fields: HttpFields;
  readonly url: string;
  readonly text: string;
  readonly json?: JsonValue;
}

/** The difference between an answer and a condition. */
interface Difference {
  /** A clause. */
  readonly reason: string;
  readonly expected: string;
  readonly got: string | undefined;
  readonly pointer?: string;
}

/** Finds the first part of a condition that an answer does not meet; undefined if it meets all. */
export function differenceTo(
  condition: Condition,
  answer: ConditionAnswer,
  mask: (text: string) => string,
): Difference | undefined {
  const { header, status, values, body, path } = condition;
  const { fields, json } = answer;
  const prefix = path === undefined ? '' : `GET ${path}: `;
  const text = answer.text.trim();
  const textExcerpt = () => excerpt(text, mask);
  if (!meetsStatus(condition, answer.status)) {
    const reason = `${path === undefined ? 'it' : `GET ${path}`} answered ${statusText(answer.status)}`;
    return { reason, expected: status ?? 'a 2xx', got: textExcerpt() };
  }
  if (header && !meetsHeader(condition, fields)) {
    const value = fieldValue(fields, header.name);
    const got = value === undefined ? undefined : excerpt(value, mask);
    const reason = got === undefined ? `there is no header ${header.name}` : `${header.name} is ${got}`;
    return { reason: prefix + reason, expected: comparisonText(header.name, header), got };
  }
  if (body && !holds(body, text))
    return {
      reason: `${prefix}the text is ${textExcerpt() || 'empty'}`,
      expected: comparisonText('text', body),
      got: textExcerpt(),
    };
  if (values.length > 0 && json === undefined)
    return { reason: `${prefix}the body is not JSON`, expected: 'JSON', got: textExcerpt() };
  for (const value of values) {
    const { pointer } = value;
    const member = json === undefined ? undefined : valueAt(json, pointer);
    const actual = member === undefined || typeof member === 'string' ? member : printJson(member);
    if (holds(value, actual)) continue;
    const got = actual === undefined ? 'no such value' : excerpt(actual, mask);
    const reason = `${prefix}${pointer} is ${actual === undefined ? 'absent' : got || 'empty'}`;
    return { reason, expected: comparisonText(pointer, value), got, pointer };
  }
  return undefined;
}

function comparisonText(name: string, { operator, value }: Comparison): string {
  return `${name}${operator}${value}`;
}

/** Whether an answer meets the header of a condition; true if the condition has none. */
export function meetsHeader({ header }: Condition, fields: HttpFields): boolean {
  return !header || holds(header, fieldValue(fields, header.name));
}

/** Whether a status meets a condition. */
export function meetsStatus({ path, status }: Condition, actual: number): boolean {
  const pattern = status ?? (path === undefined ? undefined : '2xx');
  return pattern === undefined || isStatus(actual, pattern);
}

/** Whether a value meets a comparison. A value that is not there meets only `!=`. */
function holds({ operator, value }: Comparison, actual: string | undefined): boolean {
  if (actual === undefined) return operator === '!=';
  if (operator === '=') return actual === value;
  if (operator === '!=') return actual !== value;
  if (operator === '^=') return actual.startsWith(value);
  if (operator === '*=') return actual.includes(value);
  const [number, limit] = [toNumber(actual), toNumber(value)];
  if (number === undefined || limit === undefined) return false;
  return operator === '<' ? number < limit : number > limit;
}

/** The number in a text: a bigint for an integer, because that is compared exactly with any other number. */
function toNumber(text: string): number | bigint | undefined {
  if (/^\s*[+-]?\d+\s*$/.test(text)) return BigInt(text.trim().replace('+', ''));
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}
