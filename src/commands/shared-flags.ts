import { type NamedNoun, nouns } from '../api/nouns.ts';
import type { RowLimit } from '../bulk/guards.ts';
import type { Shard } from '../bulk/run.ts';
import { choice, type Flag, flag, keyFlag, type ValuesOf, value, values } from '../cli/flag.ts';
import { defaultMaxErrors, parseDuration } from '../config/keys.ts';
import { decimalMarks, integerFrom, parseQuantity, thousandsSeparators } from '../input/numbers.ts';
import { ValueError } from '../process/errors.ts';
import { parseIdOrName, parseText } from '../records/record-fields.ts';

const watchInterval = '5s';

export const listFlags = {
  limit: value('--limit <n>', 'show at most n (default: all)', { parse: integerFrom(1) }),
  watchMs: value('--watch [interval]', `print the table again and again (default: every ${watchInterval})`, {
    parse: parseInterval,
  }),
  failIf: choice('--fail-if <which>', 'exit with 8 if there are any records, or none', ['any', 'none'], {
    conflicts: ['watchMs'],
  }),
};

/** Parses the interval of --watch. @returns milliseconds @throws ValueError if it is shorter than a second. */
function parseInterval(text: string): number {
  const intervalMs = parseDuration(text || watchInterval);
  if (intervalMs < 1000) throw new ValueError('must be a duration of at least 1s');
  return intervalMs;
}

/** Creates `--category <id or name>` or `--pet <id or name>`. */
export function referenceFlag(noun: NamedNoun, summary: string) {
  const offers = nouns[noun].singular;
  return value(`--${offers} <id or name>`, summary, {
    parse: (text) => parseIdOrName(parseText(text)),
    offers,
  });
}

/** Creates `--status` of a list. It can be repeated; a record with any of the values matches. */
export function statusesFlag(summary: string) {
  return values('--status <status>', `${summary}, such as available; can be repeated`, {
    offers: 'status',
    isList: true,
  });
}

const inputFlags = {
  map: values('--map <field=column>', 'column of a field, if it has another name, such as petId=SKU'),
  thousands: choice(
    '--thousands <separator>',
    'separator that groups the digits of a number',
    thousandsSeparators,
  ),
  decimal: choice('--decimal <mark>', 'mark before the fraction of a number: 8.000 is 8', decimalMarks),
  skipInvalid: flag('--skip-invalid', 'leave out the rows that are invalid'),
  sum: flag('--sum', 'add up the rows of one pet, such as those of several shelves'),
  shard: value('--shard <i/n>', 'take only part i of n of the rows, to share a file between machines', {
    parse: parseShard,
  }),
};

/** Flags for the meaning of an input. */
const intentFlags = {
  relative: flag('--relative', 'the rows are changes, such as +24 or -3, instead of counts'),
  delivery: value(
    '--delivery <number>',
    'the number of the delivery note; a delivery is booked once; --relative needs it',
    { parse: parseText },
  ),
  again: flag('--again', 'with --relative: book rows even if they were booked before'),
  createMissing: flag('--create-missing', 'create the entry of a pet that has none'),
};

const guardFlags = {
  maxChanges: value('--max-changes <n or n%>', 'refuse a plan that changes more than n rows', {
    parse: parseRowLimit,
  }),
  maxDelta: value('--max-delta <n>', 'refuse a plan that changes a count by more than n', {
    parse: parseQuantity,
  }),
  allowZero: flag('--allow-zero', 'let more than half of ten or more counts go to 0'),
};

const writingFlags = {
  concurrency: keyFlag('concurrency'),
  rate: keyFlag('rate'),
  maxErrors: value(
    '--max-errors <n>',
    `stop when this many writes have failed or are unknown (default: ${defaultMaxErrors})`,
    { parse: integerFrom(1) },
  ),
  lockWaitMs: value(
    '--lock-wait <duration>',
    'wait this long for another run on the same service (default: 0)',
    {
      parse: (text) => (text === '0' ? 0 : parseDuration(text)),
    },
  ),
  rejects: value(
    '--rejects <file>',
    'write invalid and failed rows to this file; if it exists, the name gets a number (default: <input>.rejects.<ext>, .jsonl for JSON)',
    { parse: parseText, offers: 'file' },
  ),
};

/** Adds the help topic that explains the flags. The help of a command then shows only their names. */
function inTopic<Flags extends Readonly<Record<string, Flag>>>(flags: Flags): Flags {
  const entries = Object.entries(flags).map(([key, flag]) => [key, { ...flag, topic: 'runs' }]);
  return Object.fromEntries(entries);
}

export const applyFlags = { ...inputFlags, ...intentFlags, ...guardFlags, ...writingFlags };
const { relative, delivery, createMissing } = intentFlags;
export const diffFlags = { ...inputFlags, relative, delivery, createMissing };
const { skipInvalid, shard } = inputFlags;
const { maxChanges } = guardFlags;
/** The flags of a create, an update or a delete from a file. */
export const fileFlags = inTopic({ skipInvalid, shard, maxChanges, ...writingFlags });
export type FileFlags = Partial<ValuesOf<typeof fileFlags>>;
/** The flags of an edit, a resume and an undo. */
export const sessionFlags = inTopic({ ...guardFlags, ...writingFlags });

export type ApplyFlags = Partial<ValuesOf<typeof applyFlags>>;

/**
 * Parses `i/n`. Part n is part 0, because some tools count from 0 (JOB_COMPLETION_INDEX) and others from 1 (GNU parallel, most CI
 * matrices).
 *
 * @throws ValueError for any other text.
 */
function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (index === undefined || Number(index) > Number(count))
    throw new ValueError('must be <i>/<n>, for example 2/8');
  return { index: Number(index) % Number(count), count: Number(count) };
}

/** Parses `100` or `5%`. @throws ValueError unless the text is a whole number, or a percentage up to 100. */
function parseRowLimit(text: string): RowLimit {
  const [, digits, percent] = /^(\d{1,15}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const value = Number(digits);
  if (digits !== undefined && percent === '%' && value <= 100) return { percent: value };
  if (digits !== undefined && percent === '' && Number.isInteger(value)) return { rows: value };
  throw new ValueError('must be a number of rows or a percentage, such as 100 or 5%');
}
