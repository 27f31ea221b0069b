import { type HttpHeaders, headerValue } from '../api/http.ts';
import { UsageError } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { valueAt } from '../process/pointer.ts';
import { shorten } from '../process/text.ts';

// The grammar of conditions, which `smoke --wait-for`, `smoke --expect` and `get --until` share. The smallest form is
// `complete=true`, a condition on a record.

/** A requirement for an answer. An answer must meet every part that is set. */
export interface Condition {
  /** The text of the flag. */
  readonly text: string;
  /** The path below the base URL; undefined if the condition names no request. */
  readonly path?: string | undefined;
  /** `200`, or `2xx`. A condition with a path and without a status requires a 2xx. */
  readonly status?: string | undefined;
  readonly header?: (Comparison & { readonly name: string }) | undefined;
  readonly values: readonly ValueComparison[];
  /** A comparison with the text of the body, without the spaces around it. */
  readonly body?: Comparison | undefined;
}

/** A comparison with a text; `<` and `>` compare numbers. */
interface Comparison {
  readonly operator: string;
  readonly value: string;
}

/** A comparison with the value at a JSON pointer (RFC 6901). */
export interface ValueComparison extends Comparison {
  readonly pointer: string;
}

const answerGrammar =
  '[GET path] [status] [header <name><op><value>] [/<pointer><op><value>] [text<op><value>]; see `petstore help checks`';
const recordGrammar = '<field><op><value>, such as complete=true or quantity>5';

const comparison = String.raw`(?<operator>=|!=|\^=|\*=|<|>)(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]*))(?=\s|$)`;
const pointerText = String.raw`(?:[^\s=!^*<>"~]|~[01])*`;
const patterns = {
  request: /^(?<method>[A-Z]+)\s+(?<path>\/\S*)(?=\s|$)/,
  status: /^(?<status>[1-5](?:\d\d|xx))(?=\s|$)/,
  header: new RegExp(String.raw`^header\s+(?<name>[\w.-]+)${comparison}`),
  text: new RegExp(`^text${comparison}`),
  value: new RegExp(String.raw`^(?<pointer>\/${pointerText})${comparison}`),
} as const;
const partNames = Object.keys(patterns) as (keyof typeof patterns)[];

/** Parses a condition on an answer. @throws UsageError with the grammar, and the text from the first mistake on. */
export function parseCondition(text: string, flag: string): Condition {
  let condition: Condition = { text, values: [] };
  const usedParts = new Set<string>();
  let rest = text.trim();
  const refuse = (reason: string, hint?: string) => refusal({ text, flag, rest, reason, hint });
  do {
    const part = partNames.find((name) => patterns[name].test(rest));
    if (part === undefined) throw refuse('this is not a part of a condition');
    if (usedParts.has(part) && part !== 'value') throw refuse(`duplicate ${part}`);
    const match = patterns[part].exec(rest);
    const { method, path, status, name = '', pointer = '', ...words } = match?.groups ?? {};
    if (method !== undefined && method !== 'GET')
      throw refuse('only GET is sent', 'petstore smoke changes nothing but with --write');
    if (path !== undefined && usedParts.size > 0) throw refuse('method and path come first');
    const comparison = readComparison(words);
    if (!isComparable(comparison)) throw refuse(`${comparison.operator} needs a number`);
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

const recordPattern = new RegExp(`^(?<pointer>${pointerText})${comparison}`);

/**
 * Parses a condition on a record: one or more comparisons with its values. A name without a slash is that of a field:
 * `complete=true` means `/complete=true`.
 *
 * @throws UsageError with the grammar, and the text from the first mistake on.
 */
export function parseRecordCondition(text: string, flag: string): readonly ValueComparison[] {
  const comparisons: ValueComparison[] = [];
  let rest = text.trim();
  do {
    const match = recordPattern.exec(rest);
    const { pointer = '', ...words } = match?.groups ?? {};
    const reason = 'this is not a condition on a field';
    if (pointer === '') throw refusal({ text, flag, rest, reason, hint: `write ${recordGrammar}` });
    const comparison = readComparison(words);
    if (!isComparable(comparison))
      throw refusal({ text, flag, rest, reason: `${comparison.operator} needs a number` });
    comparisons.push({ pointer: pointer.startsWith('/') ? pointer : `/${pointer}`, ...comparison });
    rest = rest.slice(match?.[0].length).trimStart();
  } while (rest !== '');
  return comparisons;
}

interface Refusal {
  readonly text: string;
  readonly flag: string;
  /** The text from the mistake on. */
  readonly rest: string;
  readonly reason: string;
  readonly hint?: string | undefined;
}

function refusal({ text, flag, rest, reason, hint = `write ${answerGrammar}` }: Refusal): UsageError {
  return new UsageError(`${flag} '${text}': ${reason}, at '${shorten(rest, 100)}'`, hint);
}

function readComparison({ operator = '', quoted, bare = '' }: Readonly<Record<string, string | undefined>>) {
  return { operator, value: quoted ?? bare };
}

function isComparable({ operator, value }: Comparison): boolean {
  return !/[<>]/.test(operator) || toNumber(value) !== undefined;
}

/** Prints a comparison as it is typed. @param name such as `text`, or a pointer. */
export function comparisonText(name: string, { operator, value }: Comparison): string {
  return `${name}${operator}${value}`;
}

/** A comparison that a JSON value does not meet. */
interface UnmetComparison {
  readonly comparison: ValueComparison;
  /** The value as text. Undefined if there is none at the pointer. */
  readonly actual: string | undefined;
}

/** Returns the first comparison that a JSON value does not meet; undefined if it meets all. */
export function findUnmet(
  comparisons: readonly ValueComparison[],
  json: JsonValue,
): UnmetComparison | undefined {
  for (const comparison of comparisons) {
    const value = valueAt(json, comparison.pointer);
    const actual = value === undefined || typeof value === 'string' ? value : printJson(value);
    if (!holds(comparison, actual)) return { comparison, actual };
  }
  return undefined;
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

/** Whether a status matches a pattern: `200`, or `2xx` for a whole class. */
export function isStatus(status: number, pattern: string): boolean {
  return new RegExp(`^${pattern.replace('xx', '\\d\\d')}$`).test(String(status));
}

/** Whether a value meets a comparison. A missing value meets only `!=`. */
export function holds({ operator, value }: Comparison, actual: string | undefined): boolean {
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
