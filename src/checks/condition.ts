import type { HttpResponse } from '../api/http.ts';
import { ValueError } from '../process/errors.ts';
import { printJson, valueAt } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten } from '../process/text.ts';
import { type CheckAnswer, type Finding, fail, statusText } from './check.ts';

/** A requirement of `--expect` or `--wait-for` for an answer, which must meet every part of it. */
export interface Condition {
  /** The text of the flag. */
  readonly text: string;
  /** The path below the base URL, if the condition names a request. */
  readonly path?: string | undefined;
  /** `200`, or `2xx` for a whole class. A condition with a path and without a status requires a 2xx. */
  readonly status?: string | undefined;
  readonly comparisons: readonly PartComparison[];
}

interface PartComparison {
  /** `header` and its name, the JSON pointer of a value (RFC 6901), or `text`. */
  readonly part: string;
  /** One of `=`, `!=` and `*=`, which means that the part contains the text. */
  readonly operator: string;
  readonly value: string;
}

/** The parts of an answer that conditions look at. */
type ConditionAnswer = Pick<CheckAnswer, 'status' | 'headers' | 'text' | 'json'>;

const grammar =
  '[GET path] [status] [header <name><op><value>] [/<pointer><op><value>] [text<op><value>]; see `petstore help checks`';
const head = /^(?:GET\s+(?<path>(?:https?:\/)?\/\S*)(?:\s+|$))?(?:(?<status>[1-5](?:\d\d|xx))(?:\s+|$))?/;
const comparison = new RegExp(
  String.raw`^(?<part>header\s+[\w.-]+|text|\/(?:[^\s=!*<>^"~]|~[01])*)` +
    String.raw`(?<operator>=|!=|\*=)(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]*))(?:\s+|$)`,
);

/** Parses a condition. @throws ValueError with the grammar, and the text from the first mistake on. */
export function parseCondition(text: string): Condition {
  let rest = text.trim();
  const { 0: { length } = '', groups: { path, status } = {} } = head.exec(rest) ?? {};
  const comparisons: PartComparison[] = [];
  rest = rest.slice(length);
  while (rest !== '' || length + comparisons.length === 0) {
    const match = comparison.exec(rest);
    if (!match)
      throw new ValueError(`'${shorten(rest, 100)}' is not a part of a condition`, {
        hint: `write ${grammar}`,
      });
    const { part = '', operator = '', quoted, bare = '' } = match.groups ?? {};
    comparisons.push({ part, operator, value: quoted ?? bare });
    rest = rest.slice(match[0].length);
  }
  return { text, path, status, comparisons };
}

/** Returns a failure for the first part of a condition that an answer does not meet. */
export function differenceTo(condition: Condition, answer: ConditionAnswer, mask: Mask): Finding | undefined {
  const { path, status, comparisons } = condition;
  const text = answer.text.trim();
  const prefix = path === undefined ? '' : `GET ${path}: `;
  if (!meetsStatus(condition, answer.status))
    return fail(`${prefix}answered ${statusText(answer.status)}`, { expected: status ?? 'a 2xx', got: text });
  for (const { part, operator, value } of comparisons) {
    const isPointer = part.startsWith('/');
    if (isPointer && answer.json === undefined)
      return fail(`${prefix}the body is not JSON`, { expected: 'JSON', got: text });
    const actual = partOf(answer, part);
    if (holds(operator, value, actual)) continue;
    const clause = actual === undefined ? 'absent' : shorten(mask(actual), 200) || 'empty';
    return fail(`${prefix}${part === 'text' ? 'the text' : part} is ${clause}`, {
      expected: `${part}${operator}${value}`,
      got: actual ?? 'no such value',
      pointer: isPointer ? part : undefined,
    });
  }
  return undefined;
}

/** Returns a failure if a header of an answer does not meet a condition. An answer without the header passes. */
export function headerDifference(
  { text, comparisons }: Condition,
  { headers }: Pick<HttpResponse, 'headers'>,
  mask: Mask,
): Finding | undefined {
  const answer = { status: 0, headers, text: '' };
  const sent = comparisons.filter(
    ({ part }) => part.startsWith('header') && partOf(answer, part) !== undefined,
  );
  return differenceTo({ text, comparisons: sent }, answer, mask);
}

function partOf({ headers, text, json }: ConditionAnswer, part: string): string | undefined {
  if (part === 'text') return text.trim();
  const [, header] = part.split(/\s+/);
  if (header !== undefined) return headers[header.toLowerCase()];
  const value = json === undefined ? undefined : valueAt(json, part);
  return value === undefined || typeof value === 'string' ? value : printJson(value);
}

/** Returns true if a part meets a comparison. A missing part meets only `!=`. */
function holds(operator: string, value: string, actual: string | undefined): boolean {
  if (actual === undefined) return operator === '!=';
  return operator === '*=' ? actual.includes(value) : (actual === value) === (operator === '=');
}

export function meetsStatus({ path, status }: Condition, actual: number): boolean {
  const pattern = status ?? (path === undefined ? undefined : '2xx');
  return pattern === undefined || matchesStatus(actual, pattern);
}

/** Returns true if a status matches a pattern: `200`, or `2xx` for a whole class. */
export function matchesStatus(status: number, pattern: string): boolean {
  return new RegExp(`^${pattern.replace('xx', '\\d\\d')}$`).test(String(status));
}
