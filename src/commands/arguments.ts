import * as v from 'valibot';
import { DateTime, IdText } from '../api/schemas.ts';
import { type Argument, type Offers, parsed, value } from '../cli/flag.ts';
import { UsageError } from '../errors.ts';

/** The id of one record of a noun, as `<id>` or under the name that the noun has for it. */
export function idArgument(noun: string, offers: Offers = [], name = 'id'): Argument<bigint> {
  return parsed(`<${name}>`, `id of ${noun}`, (text) => parseId(text, name), { offers });
}

/** One or several ids. */
export function idsArgument(noun: string, offers: Offers = [], name = 'id'): Argument<readonly bigint[]> {
  return parsed(`<${name}...>`, `ids of ${noun}`, (text) => parseId(text, name), { offers });
}

export const quantityArgument = parsed('<quantity>', 'the stock count', (text) => parseQuantity(text));

export const limitFlag = value('--limit <n>', 'show at most n (default: all)', parseLimit);

/**
 * @param what the argument or flag that holds it, for the error.
 * @throws UsageError for what is no integer from 0 to 9223372036854775807.
 */
export function parseId(text: string, what: string): bigint {
  const { output, issues } = v.safeParse(IdText, text);
  if (issues) throw badValue(what, text, 'must be an integer from 0 to 9223372036854775807');
  return output as bigint;
}

/** A count from 0 to 2^53 - 1, decimal digits only: `12.0`, `1e3` and an empty text are refused, not rounded. */
export function parseQuantity(text: string, what = 'quantity'): number {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw badValue(what, text, 'must be an integer from 0 to 9007199254740991');
  return value;
}

/** `--limit`: at least 1. */
export function parseLimit(text: string): number {
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw badValue('--limit', text, 'must be an integer from 1 to 9007199254740991');
  return value;
}

/** A signed difference, as `+5` or `-3`. */
export function parseChange(text: string): bigint {
  if (!/^[+-]?\d{1,16}$/.test(text)) throw badValue('change', text, 'must be an integer such as +5 or -5');
  return BigInt(text.replace('+', ''));
}

/** A date-time of RFC 3339, or a date, which means its first moment in UTC. */
export function parseShipDate(text: string, what = '--ship-date'): string {
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (!v.is(DateTime, moment)) {
    throw badValue(what, text, 'must be a date such as 2027-01-15 or 2027-01-15T09:00:00Z');
  }
  return moment;
}

/** Text that means something: what is empty is most often a variable that was not set. */
export function parseText(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() === '') throw new UsageError(`${flag}: must not be empty`);
    return text;
  };
}

/** `--from`, which stands instead of the flags with these keys. */
export function fromFlag(others: readonly string[]) {
  return value(
    '--from <file or ->',
    'create one for each record of this file (JSON, JSON lines), in its order',
    parseText('--from'),
    { conflicts: others, offers: 'file' },
  );
}

function badValue(what: string, text: string, why: string): UsageError {
  return new UsageError(`${what} '${text}': ${why}`);
}
