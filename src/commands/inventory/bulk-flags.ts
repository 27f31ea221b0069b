import {
  type Guards,
  parseColumnMap,
  parseColumnNames,
  parseRowLimit,
  parseShard,
  type RowLimit,
  type RunFlags,
} from '../../bulk/run-flags.ts';
import { choice, type Flag, flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { thousandsSeparators } from '../../config/setting-values.ts';
import { UsageError } from '../../process/errors.ts';
import { parseDurationFlag } from '../arguments.ts';

const input = { group: 'Input flags:' };
const plan = { group: 'Plan flags:' };
const writing = { group: 'Writing flags:' };

/** Flags for reading the input. */
export const inputFlags = {
  delimiter: value(
    '--delimiter <character>',
    'character between the cells of a CSV (default: by its header)',
    input,
  ),
  map: values(
    '--map <field=column>',
    'column that holds petId, quantity or expected under another name',
    input,
  ),
  columns: value('--columns <names>', 'names of the columns of a file without a header: petId,quantity', {
    ...input,
    parse: parseColumnNames,
  }),
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
const again = flag('--again', 'book the same --relative rows once more within 7 days', plan);

/** The rest of the flags for the plan, which `diff` takes too. */
const limits = {
  createMissing: flag('--create-missing', 'create the entry of a pet that has none', plan),
  maxChanges: value('--max-changes <n or n%>', 'stop a plan that changes more rows', {
    ...plan,
    parse: parseRowLimit,
  }),
  maxDelta: value('--max-delta <n>', 'stop a plan that changes one count by more', {
    ...plan,
    parse: parseDelta,
  }),
  allowZero: flag('--allow-zero', 'let more than half of the rows go to 0', plan),
};

export const diffPlanFlags = { relative, ...limits };
export const planFlags = { relative, again, ...limits };

/** Flags of every command that reads or writes many counts. */
export const paceFlags = {
  concurrency: value('--concurrency <n>', 'requests in flight at a time (default 8)', writing),
  rate: value('--rate <n>', 'send at most n requests a second, retries included', writing),
};

/** Flags for writing and for files. */
export const bulkWriteFlags = {
  ...paceFlags,
  maxErrors: value('--max-errors <n or n%>', 'stop when so many writes have failed (default 100)', {
    ...writing,
    parse: parseErrorLimit,
  }),
  lockWait: value('--lock-wait <duration>', 'wait for another run on the same target (default 0)', {
    ...writing,
    parse: (text, name) => (text === '0' ? 0 : parseDurationFlag(text, name)),
  }),
  rejects: value('--rejects <file>', 'write rows that failed to this file (default <input>.rejects.<ext>)', {
    ...writing,
    offers: 'file',
  }),
  force: flag('--force', 'replace the file of --rejects', writing),
};

/** The same flags where the help of a verb only names them. */
const inTopic = <Flags extends Readonly<Record<string, Flag>>>(flags: Flags): Flags =>
  Object.fromEntries(
    Object.entries(flags).map(([key, each]) => [key, { ...each, topic: 'bulk' }]),
  ) as unknown as Flags;

const { rejects: _, force: __, ...withoutFiles } = bulkWriteFlags;

export const resumeFlags = inTopic(bulkWriteFlags);
/** An undo has no rejects. */
export const undoFlags = inTopic(withoutFiles);

export type WriteFlags = Partial<ValuesOf<typeof bulkWriteFlags>>;
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

/** The flags that decide what a run writes. @throws UsageError for flags that cannot be combined. */
export function toRunFlags(flags: ApplyFlags): RunFlags {
  const { relative: isRelative = false, createMissing = false, skipInvalid = false, sum = false } = flags;
  const { delimiter = null, columns = null, thousands = null, shard = null } = flags;
  if (sum && !isRelative) throw new UsageError('--sum: only with --relative');
  if (flags.again && !isRelative) throw new UsageError('--again: only with --relative');
  const map = parseColumnMap(flags.map ?? []);
  return { delimiter, map, columns, thousands, sum, skipInvalid, shard, relative: isRelative, createMissing };
}

export function toGuards({ maxChanges, maxDelta, allowZero = false }: ApplyFlags): Guards {
  return { maxChanges, maxDelta, allowZero };
}
