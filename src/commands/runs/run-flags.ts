import {
  type Guards,
  parseRowLimit,
  parseShard,
  type RowLimit,
  type RunFlags,
  type RunHeader,
} from '../../bulk/run-header.ts';
import { choice, flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { thousandsSeparators } from '../../config/setting-values.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../process/errors.ts';
import { parseDurationFlag } from '../arguments.ts';

const input = { group: 'Input flags:' };
const plan = { group: 'Plan flags:' };
const writing = { group: 'Writing flags:' };

/** Flags for reading the input. */
export const inputFlags = {
  map: values(
    '--map <field=column>',
    'column that holds petId, quantity or expected under another name; its number without a header',
    input,
  ),
  thousands: choice(
    '--thousands <separator>',
    'separator that groups the digits of a number',
    thousandsSeparators,
    input,
  ),
  skipInvalid: flag('--skip-invalid', 'go on without the rows that are invalid', input),
  sum: flag('--sum', 'with --relative: add up several rows of one pet', input),
  shard: value('--shard <i/n>', 'take only part i of n of the pets, to share a file between machines', {
    ...input,
    parse: parseShard,
  }),
};

const relative = flag('--relative', 'the rows are changes, such as +24 or -3, instead of counts', plan);
const delivery = value(
  '--delivery <number>',
  'with --relative: the number of the delivery, which is booked once',
  { ...plan, parse: parseDelivery },
);
const again = flag('--again', 'with --relative: book what was booked before once more', plan);

const createMissing = flag('--create-missing', 'create the entry of a pet that has none', plan);

/** The limits of a plan. */
const guardFlagsIn = (place: HelpPlace) => ({
  maxChanges: value('--max-changes <n or n%>', 'stop a plan that changes more rows', {
    ...place,
    parse: parseRowLimit,
  }),
  maxDelta: value('--max-delta <n>', 'stop a plan that changes one count by more', {
    ...place,
    parse: parseDelta,
  }),
  allowZero: flag('--allow-zero', 'let more than half of ten or more counts go to 0', place),
});

/** Where help shows a flag for writing: under its heading, or by name alone with the topic that explains it. */
type HelpPlace = { readonly group: string; readonly topic?: string };

/** Flags of every command that reads or writes many counts. */
const paceFlagsIn = (place: HelpPlace) => ({
  concurrency: value('--concurrency <n>', 'requests in flight at a time (default 8)', place),
  rate: value('--rate <n>', 'send at most n requests a second, retries included', place),
});

/** Flags of every command that writes. */
const writeFlagsIn = (place: HelpPlace) => ({
  ...paceFlagsIn(place),
  maxErrors: value('--max-errors <n or n%>', 'stop when so many writes have failed (default 100)', {
    ...place,
    parse: parseErrorLimit,
  }),
  lockWait: value('--lock-wait <duration>', 'wait for another run on the same target (default 0)', {
    ...place,
    parse: (text, name) => (text === '0' ? 0 : parseDurationFlag(text, name)),
  }),
});

const fileFlagsIn = (place: HelpPlace) => ({
  rejects: value('--rejects <file>', 'write rows that failed to this file (default <input>.rejects.<ext>)', {
    ...place,
    offers: 'file',
  }),
});

const inTopic = { ...writing, topic: 'bulk' };

/** The rest of the flags of apply. */
export const planFlags = { relative, delivery, again, createMissing, ...guardFlagsIn(plan) };
export const diffPlanFlags = { relative, delivery, createMissing };
export const bulkWriteFlags = { ...writeFlagsIn(writing), ...fileFlagsIn(writing) };
/** The flags of an update from a file. */
const { sum: _, map: __, thousands: ___, ...recordInputFlags } = inputFlags;
export const updateFileFlags = {
  ...recordInputFlags,
  maxChanges: guardFlagsIn(plan).maxChanges,
  ...bulkWriteFlags,
};
/** An undo has no rejects. */
export const undoFlags = { ...guardFlagsIn({ ...plan, topic: 'bulk' }), ...writeFlagsIn(inTopic) };
export const resumeFlags = {
  ...undoFlags,
  createMissing: { ...createMissing, ...inTopic },
  ...fileFlagsIn(inTopic),
};
export const editFlags = { ...guardFlagsIn(inTopic), ...writeFlagsIn(inTopic), ...fileFlagsIn(inTopic) };

export type WriteFlags = Partial<
  ValuesOf<ReturnType<typeof writeFlagsIn> & ReturnType<typeof fileFlagsIn> & ReturnType<typeof guardFlagsIn>>
>;
export type ApplyFlags = WriteFlags & Partial<ValuesOf<typeof inputFlags & typeof planFlags>>;

function parseDelta(text: string, name: string): number {
  if (!/^\d{1,16}$/.test(text)) throw new UsageError(`${name} '${text}': must be a whole number`);
  return Number(text);
}

function parseErrorLimit(text: string, name: string): RowLimit {
  const limit = parseRowLimit(text, name);
  if (('rows' in limit ? limit.rows : limit.percent) === 0)
    throw new UsageError(`${name} ${text}: must be more than nothing`);
  return limit;
}

/** An empty number would take every delivery for the one before it. */
function parseDelivery(text: string): string {
  if (text.trim() !== '') return text;
  throw new UsageError(
    '--delivery: the number is empty',
    'give the number of the delivery note, or leave --delivery out',
  );
}

/** The flags that decide what a run writes. @throws UsageError for flags that cannot be combined. */
export function toRunFlags(flags: ApplyFlags, map: RunFlags['map']): RunFlags {
  const { relative: isRelative = false, createMissing = false, skipInvalid = false, sum = false } = flags;
  const { thousands = null, shard = null, again = false } = flags;
  if (!isRelative) {
    if (sum) throw new UsageError('--sum: only with --relative');
    if (again) throw new UsageError('--again: only with --relative');
    if (flags.delivery !== undefined) throw new UsageError('--delivery: only with --relative');
  }
  return { map, thousands, sum, skipInvalid, shard, relative: isRelative, again, createMissing };
}

/** The guards of a run. @param earlier those of the run that goes on, or is undone */
export function runGuards(flags: WriteFlags, earlier?: Guards): Guards {
  const { maxChanges = earlier?.maxChanges, maxDelta = earlier?.maxDelta } = flags;
  return { maxChanges, maxDelta, allowZero: flags.allowZero ?? earlier?.allowZero ?? false };
}

/** The pace of a run. @param earlier that of the run that goes on, or is undone */
export function runPace({ settings, flags }: Context, earlier?: RunHeader['pace']): RunHeader['pace'] {
  const { concurrency, rate } = flags;
  return {
    concurrency: earlier && concurrency === undefined ? earlier.concurrency : settings.get('concurrency'),
    rate: earlier && rate === undefined ? earlier.rate : (settings.get('rate') ?? null),
  };
}
