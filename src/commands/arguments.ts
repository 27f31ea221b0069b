import { type PetStatus, petStatuses } from '../api/schemas.ts';
import { type Argument, choices, type Flag, type Offers, parsed, value, values } from '../cli/flag.ts';
import {
  type IdOrName,
  parseId,
  parseIdOrName,
  parseLimit,
  parseQuantity,
  parseText,
} from '../records/values.ts';

/** One or several ids. */
export function idsArgument(noun: string, offers: Offers = []): Argument<readonly bigint[]> {
  return parsed('<id...>', `ids of ${noun}`, (text) => parseId(text, 'id'), { offers });
}

/** Ids, or none if a file has them. */
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

/** Ids or names, or none if a file has the ids. */
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

export const limitFlag = value('--limit <n>', 'show at most n (default: all)', parseLimit);

/** `--status` of a list: given again, a record of any of these will do. */
export function statusesFlag(summary: string): Flag<readonly PetStatus[] | undefined> {
  return choices('--status <status>', `${summary} (several: any of them)`, petStatuses);
}

/** `--from`, which stands instead of the flags with these keys. */
export function fromFlag(summary: string, others: readonly string[] = []) {
  return value('--from <file or ->', summary, parseText('--from'), { conflicts: others, offers: 'file' });
}

export const fieldFlag = values(
  '--field <name=value>',
  'a field of the service that has no flag; JSON or text',
);
