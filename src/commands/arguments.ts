import type { PetStatus } from '../api/schemas.ts';
import { petStatuses } from '../api/values.ts';
import {
  type Argument,
  choice,
  choices,
  type Flag,
  type Offers,
  optional,
  parsed,
  value,
  values,
} from '../cli/flag.ts';
import { parseDuration } from '../config/values.ts';
import { UsageError } from '../errors.ts';
import {
  type IdOrName,
  parseCondition,
  parseId,
  parseIdOrName,
  parseLimit,
  parseQuantity,
  parseText,
} from '../records/values.ts';

/** The id of one record. */
export function idArgument(noun: string, offers: Offers = []): Argument<bigint> {
  return parsed('<id>', `id of ${noun}`, (text) => parseId(text, 'id'), { offers });
}

/** One or several ids. */
export function idsArgument(noun: string, offers: Offers = []): Argument<readonly bigint[]> {
  return parsed('<id...>', `ids of ${noun}`, (text) => parseId(text, 'id'), { offers });
}

/** Ids; empty if a file has them. */
export function idsOrFileArgument(noun: string, offers: Offers = []): Argument<readonly bigint[]> {
  return parsed('[id...]', `ids of ${noun}`, (text) => parseId(text, 'id'), { offers });
}

/** The id of one record, or its name. */
export function idOrNameArgument(noun: string, offers: Offers = []): Argument<IdOrName> {
  return parsed('<id or name>', `id or name of ${noun}`, (text) => parseIdOrName(text, 'id'), { offers });
}

/** One or several ids or names. */
export function idsOrNamesArgument(noun: string, offers: Offers = []): Argument<readonly IdOrName[]> {
  return parsed('<id or name...>', `ids or names of ${noun}`, (text) => parseIdOrName(text, 'id'), {
    offers,
  });
}

/** Ids or names; empty if a file has the ids. */
export function idsOrNamesOrFileArgument(noun: string, offers: Offers = []): Argument<readonly IdOrName[]> {
  return parsed('[id or name...]', `ids or names of ${noun}`, (text) => parseIdOrName(text, 'id'), {
    offers,
  });
}

export const petIdArgument = parsed(
  '<petId>',
  'id or name of the pet',
  (text) => parseIdOrName(text, 'petId'),
  { offers: 'pet' },
);

export const petIdsArgument = parsed(
  '<petId...>',
  'ids or names of pets',
  (text) => parseIdOrName(text, 'petId'),
  { offers: 'pet' },
);

export const quantityArgument = parsed('<quantity>', 'the stock count', (text) => parseQuantity(text));

export const watchFlag = optional(
  '--watch [interval]',
  'poll again and show changes (default: every 5s)',
  /^[^-]/,
  parseInterval,
);

/** The flags of every list. */
export const listFlags = {
  limit: value('--limit <n>', 'show at most n (default: all)', parseLimit),
  watch: watchFlag,
  failIf: choice('--fail-if <which>', 'exit 8 if there are records, or none', ['any', 'none'], {
    conflicts: ['watch'],
  }),
};

export const untilFlag = value(
  '--until <field=value>',
  'poll every 2s until the field has this value, at most --timeout',
  parseCondition,
);

/** The interval of --watch in milliseconds. */
function parseInterval(text: string): number {
  if (text === '') return 5000;
  const intervalMs = parsedDuration(text);
  if (intervalMs === undefined || intervalMs < 1000)
    throw new UsageError(`--watch '${text}': must be a duration of at least 1s, such as 5s or 2m`);
  return intervalMs;
}

function parsedDuration(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

/** `--status` of a list; it can be repeated, and a record with any of the values matches. */
export function statusesFlag(summary: string): Flag<readonly PetStatus[] | undefined> {
  return choices('--status <status>', `${summary}; can be repeated`, petStatuses);
}

/** `--from`, which excludes the flags with these keys. */
export function fromFlag(summary: string, others: readonly string[] = []) {
  return value('--from <file or ->', summary, parseText('--from'), { conflicts: others, offers: 'file' });
}

export const fieldFlag = values(
  '--field <name=value>',
  'a field of the service that has no flag; JSON or text',
);
