import { UsageError } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { valueAt } from '../process/pointer.ts';
import { shorten } from '../process/text.ts';

/** A comparison with a text; `<` and `>` compare numbers. */
interface Comparison {
  readonly operator: string;
  readonly value: string;
}

/** A comparison with the value at a JSON pointer (RFC 6901). */
export interface ValueComparison extends Comparison {
  readonly pointer: string;
}

const recordGrammar = '<field><op><value>, such as complete=true or quantity>5';

const comparison = String.raw`(?<operator>=|!=|\^=|\*=|<|>)(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]*))(?=\s|$)`;
const pointerText = String.raw`(?:[^\s=!^*<>"~]|~[01])*`;
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

function refusal({ text, flag, rest, reason, hint }: Refusal): UsageError {
  return new UsageError(`${flag} '${text}': ${reason}, at '${shorten(rest, 100)}'`, hint);
}

function readComparison({ operator = '', quoted, bare = '' }: Readonly<Record<string, string | undefined>>) {
  return { operator, value: quoted ?? bare };
}

function isComparable({ operator, value }: Comparison): boolean {
  return !/[<>]/.test(operator) || toNumber(value) !== undefined;
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
