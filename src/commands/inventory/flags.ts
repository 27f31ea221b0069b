import {
  duplicateRules,
  type Guards,
  parseColumnMap,
  parseColumnNames,
  parseRowLimit,
  parseShard,
  type RowLimit,
  type RunFlags,
} from '../../bulk/run-flags.ts';
import { choice, flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { thousandsSeparators } from '../../config/values.ts';
import { recordFormats } from '../../input/records.ts';
import { progressModes } from '../../output/progress.ts';
import { UsageError } from '../../process/errors.ts';
import { parseDuration } from '../arguments.ts';

const input = { group: 'Input flags:' };
const plan = { group: 'Plan flags:' };
const pace = { group: 'Pace flags:' };
const run = { group: 'Run flags:' };

/** Flags for reading the input. */
export const inputFlags = {
  format: choice(
    '--format <format>',
    'format of the input (default: by its name or its text)',
    recordFormats,
    input,
  ),
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
  key: value('--key <column=file>', 'look the pet up by this column in a table of two columns, key and id', {
    ...input,
    parse: parseKey,
  }),
  thousands: choice(
    '--thousands <separator>',
    'separator that groups the digits of a number',
    thousandsSeparators,
    input,
  ),
  skipInvalid: flag('--skip-invalid', 'go on without the rows that are invalid', input),
  onDuplicate: choice(
    '--on-duplicate <rule>',
    'which of several rows for one pet counts; sum only with --relative (default error)',
    duplicateRules,
    input,
  ),
  allowEmpty: flag('--allow-empty', 'accept an input without rows', input),
  shard: value('--shard <i/n>', 'take only part i of n of the pets, to share a file between machines', {
    ...input,
    parse: parseShard,
  }),
};

/** Flags for the plan. */
export const planFlags = {
  relative: flag('--relative', 'the rows are changes, as +24 or -3, instead of counts', plan),
  createMissing: flag('--create-missing', 'create the entry of a pet that has none', plan),
};

/** Flags that only a new run takes, and the guards of its plan. */
export const beginFlags = {
  blind: flag('--blind', 'read no current counts: send every row; cannot be undone', plan),
  maxChanges: value('--max-changes <n or n%>', 'refuse a plan that changes more rows', {
    ...plan,
    parse: parseRowLimit,
  }),
  maxDelta: value('--max-delta <n>', 'refuse a plan that changes one count by more', {
    ...plan,
    parse: parseDelta,
  }),
  allowZero: flag('--allow-zero', 'let more than half of the rows go to 0', plan),
  restart: flag('--restart', 'begin a new run although one of the same input is unfinished', plan),
  again: flag('--again', 'book the same --relative file once more within 7 days', plan),
};

export const paceFlags = {
  concurrency: value('--concurrency <n>', 'requests in flight at a time (default 8)', pace),
  rate: value('--rate <n>', 'send at most n requests a second, retries included', pace),
  maxRetryWait: value(
    '--max-retry-wait <duration>',
    'stop when the service asks to wait longer (default 120s)',
    { ...pace, parse: parseDuration },
  ),
};

/** Flags for writing and for output. */
export const runFlags = {
  ...paceFlags,
  lockWait: value('--lock-wait <duration>', 'wait for another run on the same target (default 0)', {
    ...run,
    parse: (text, name) => (text === '0' ? 0 : parseDuration(text, name)),
  }),
  allowOverlap: flag('--allow-overlap', 'run although another run is at work on the same target', run),
  maxErrors: value('--max-errors <n or n%>', 'stop when so many rows have failed (default 100)', {
    ...run,
    parse: parseErrorLimit,
  }),
  failFast: flag('--fail-fast', 'stop at the first row that fails', run),
  verify: flag('--verify', 'read every count back at the end', run),
  rejects: value('--rejects <file>', 'write rows that failed to this file (default <input>.rejects.<ext>)', {
    ...run,
    offers: 'file',
  }),
  events: value('--events <file or ->', 'write a JSON line for the outcome of every row', {
    ...run,
    offers: 'file',
  }),
  progress: choice('--progress <mode>', 'how progress is shown', progressModes, run),
  force: flag('--force', 'replace the files of --rejects and --events', run),
};

export type SessionFlags = Partial<ValuesOf<typeof runFlags>>;
export type ApplyFlags = SessionFlags &
  Partial<ValuesOf<typeof inputFlags & typeof planFlags & typeof beginFlags>>;

function parseKey(text: string) {
  const [, column, file] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (column === undefined || file === undefined)
    throw new UsageError(`--key '${text}': must be <column>=<file>, as SKU=skus.csv`);
  return { column, file, sha256: '' };
}

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

/**
 * The flags that determine what a run writes; format and delimiter as given, and `key` without the hash of its table.
 *
 * @throws UsageError for flags that cannot be combined.
 */
export function toRunFlags(flags: ApplyFlags): RunFlags {
  const { relative = false, blind = false, createMissing = false, skipInvalid = false } = flags;
  const { format = null, delimiter = null, columns = null, key = null, thousands = null } = flags;
  const { onDuplicate = 'error', shard = null } = flags;
  if (relative && blind) throw new UsageError('--relative needs the current counts: not with --blind');
  if (onDuplicate === 'sum' && !relative) throw new UsageError('--on-duplicate sum: only with --relative');
  if (relative && (onDuplicate === 'first' || onDuplicate === 'last'))
    throw new UsageError(
      `--on-duplicate ${onDuplicate}: with --relative only sum, because no row is to be lost`,
    );
  if (flags.again && !relative) throw new UsageError('--again: only with --relative');
  const map = parseColumnMap(flags.map ?? []);
  if (key && map.petId !== undefined)
    throw new UsageError('--key and --map petId both name the column of the pet');
  return {
    format,
    delimiter,
    map,
    columns,
    key,
    thousands,
    onDuplicate,
    skipInvalid,
    shard,
    blind,
    relative,
    createMissing,
  };
}

/** @throws UsageError for flags that cannot be combined. */
export function toGuards({ maxChanges, maxDelta, allowZero = false, blind }: ApplyFlags): Guards {
  if (maxDelta !== undefined && blind)
    throw new UsageError('--max-delta: with --blind no current counts are read to compare with');
  return { maxChanges, maxDelta, allowZero };
}
