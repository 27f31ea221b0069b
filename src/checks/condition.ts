import { type HttpHeaders, type HttpResponse, headerValue } from '../api/http.ts';
import { UsageError } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { valueAt } from '../process/pointer.ts';
import type { Mask } from '../process/secrets.ts';
import { excerpt, shorten } from '../process/text.ts';
import { type Finding, fail, isStatus, statusText } from './finding.ts';

/** A requirement for an answer, from `--wait-for` or `--expect`. An answer must meet every part that is set. */
export interface Condition {
  /** The text of the flag. */
  readonly text: string;
  /** The path below the base URL; undefined for the request of `reach/http`. */
  readonly path?: string | undefined;
  /** `200`, or `2xx`. A condition with a path and without a status requires a 2xx. */
  readonly status?: string | undefined;
  readonly header?: (Comparison & { readonly name: string }) | undefined;
  /** Comparisons with values of the JSON body, each at a JSON pointer (RFC 6901). */
  readonly values: readonly (Comparison & { readonly pointer: string })[];
  /** A comparison with the text of the body, without the spaces around it. */
  readonly body?: Comparison | undefined;
}

/** A comparison with a text; `<` and `>` compare numbers. */
interface Comparison {
  readonly operator: string;
  readonly value: string;
}

const grammar =
  '[GET path] [status] [header <name><op><value>] [/<pointer><op><value>] [text<op><value>]; see `petstore help checks`';

const comparison = String.raw`(?<operator>=|!=|\^=|\*=|<|>)(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]*))(?=\s|$)`;
const patterns = {
  request: /^(?<method>[A-Z]+)\s+(?<path>\/\S*)(?=\s|$)/,
  status: /^(?<status>[1-5](?:\d\d|xx))(?=\s|$)/,
  header: new RegExp(String.raw`^header\s+(?<name>[\w.-]+)${comparison}`),
  text: new RegExp(`^text${comparison}`),
  value: new RegExp(String.raw`^(?<pointer>\/(?:[^\s=!^*<>"~]|~[01])*)${comparison}`),
} as const;
const partNames = Object.keys(patterns) as (keyof typeof patterns)[];

/** Parses the value of a flag. @throws UsageError with the grammar, and the text from the first mistake on. */
export function parseCondition(text: string, flag: string): Condition {
  let condition: Condition = { text, values: [] };
  const usedParts = new Set<string>();
  let rest = text.trim();
  const refusal = (reason: string, hint = `write ${grammar}`) =>
    new UsageError(`${flag} '${text}': ${reason}, at '${shorten(rest, 100)}'`, hint);
  do {
    const part = partNames.find((name) => patterns[name].test(rest));
    if (part === undefined) throw refusal('this is not a part of a condition');
    if (usedParts.has(part) && part !== 'value') throw refusal(`duplicate ${part}`);
    const match = patterns[part].exec(rest);
    const { method, path, status, name = '', pointer = '', ...words } = match?.groups ?? {};
    if (method !== undefined && method !== 'GET')
      throw refusal('only GET is sent', 'petstore smoke changes nothing but with --write');
    if (path !== undefined && usedParts.size > 0) throw refusal('method and path come first');
    const { operator = '', quoted, bare = '' } = words;
    const comparison = { operator, value: quoted ?? bare };
    if (/[<>]/.test(operator) && toNumber(comparison.value) === undefined)
      throw refusal(`${operator} needs a number`);
    const additions: Readonly<Record<typeof part, Partial<Condition>>> = {
      request: { path },
      status: { status },
      header: { header: { name: name.toLowerCase(), ...comparison } },
      text: { body: comparison },
      value: { values: [...condition.values, { pointer, ...comparison }] },
    };
    condition = { ...condition, ...additions[part] };
    usedParts.add(part);
    rest = rest.slice(match?.[0].length).trimStart();
  } while (rest !== '');
  return condition;
}

/**
 * Compares an answer with a condition.
 *
 * @returns a failure with the first part that the answer does not meet; undefined if it meets all.
 */
export function differenceTo(
  condition: Condition,
  answer: Omit<HttpResponse, 'body'> & { readonly text: string; readonly json?: JsonValue },
  mask: Mask,
): Finding | undefined {
  const { header, status, values, body, path } = condition;
  const { headers, json } = answer;
  const text = answer.text.trim();
  const prefix = path === undefined ? '' : `GET ${path}: `;
  const fault = (reason: string, expected: string, got: string | undefined, pointer?: string) =>
    fail(prefix + reason, { expected, got, pointer });
  if (!meetsStatus(condition, answer.status)) {
    const reason = `${path === undefined ? 'it' : `GET ${path}`} answered ${statusText(answer.status)}`;
    return fail(reason, { expected: status ?? 'a 2xx', got: text });
  }
  if (header && !meetsHeader(condition, headers)) {
    const { name } = header;
    const value = headerValue(headers, name);
    const reason = value === undefined ? `there is no header ${name}` : `${name} is ${excerpt(value, mask)}`;
    return fault(reason, comparisonText(name, header), value);
  }
  if (body && !holds(body, text))
    return fault(`the text is ${excerpt(text, mask) || 'empty'}`, comparisonText('text', body), text);
  if (values.length > 0 && json === undefined) return fault('the body is not JSON', 'JSON', text);
  for (const value of values) {
    const { pointer } = value;
    const member = json === undefined ? undefined : valueAt(json, pointer);
    const actual = member === undefined || typeof member === 'string' ? member : printJson(member);
    if (holds(value, actual)) continue;
    const clause = actual === undefined ? 'absent' : excerpt(actual, mask) || 'empty';
    return fault(
      `${pointer} is ${clause}`,
      comparisonText(pointer, value),
      actual ?? 'no such value',
      pointer,
    );
  }
  return undefined;
}

function comparisonText(name: string, { operator, value }: Comparison): string {
  return `${name}${operator}${value}`;
}

/** Whether headers meet the header part of a condition; true if the condition has no such part. */
export function meetsHeader({ header }: Pick<Condition, 'header'>, headers: HttpHeaders): boolean {
  return !header || holds(header, headerValue(headers, header.name));
}

/** Whether a status meets a condition. */
export function meetsStatus({ path, status }: Condition, actual: number): boolean {
  const pattern = status ?? (path === undefined ? undefined : '2xx');
  return pattern === undefined || isStatus(actual, pattern);
}

/** Whether a value meets a comparison. A missing value meets only `!=`. */
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

/** Parses a number. An integer becomes a bigint, which compares exactly with any other number. */
function toNumber(text: string): number | bigint | undefined {
  if (/^\s*[+-]?\d+\s*$/.test(text)) return BigInt(text.trim().replace('+', ''));
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}
