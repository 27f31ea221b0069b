import { parseColumnMap } from '../../../bulk/columns.ts';
import { duplicateRules } from '../../../bulk/duplicates.ts';
import { type Guards, parseRowLimit, type RowLimit } from '../../../bulk/guards.ts';
import type { ReadOptions } from '../../../bulk/read-rows.ts';
import { parseShard } from '../../../bulk/shard.ts';
import { choice, flag, type ValuesOf, value, values } from '../../../cli/flag.ts';
import { parseSetting } from '../../../config/keys.ts';
import { UsageError } from '../../../errors.ts';
import { recordFormats } from '../../../input/records.ts';
import { progressModes } from '../../../output/progress.ts';

const input = { group: 'Input flags:' };
const plan = { group: 'Plan flags:' };
const pace = { group: 'Pace flags:' };
const run = { group: 'Run flags:' };

/** How the input is read. */
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
  skipInvalid: flag('--skip-invalid', 'go on without the rows that are invalid', input),
  onDuplicate: choice(
    '--on-duplicate <rule>',
    'which of several rows for one pet counts (default error)',
    duplicateRules,
    input,
  ),
  allowEmpty: flag('--allow-empty', 'accept an input without rows', input),
  shard: value('--shard <i/n>', 'take only part i of n of the pets, to share a file between machines', input),
};

/** What is planned, and what the plan must keep to. */
export const planFlags = {
  blind: flag('--blind', 'read no current counts: send every row; cannot be undone', plan),
  createMissing: flag('--create-missing', 'create the entry of a pet that has none', plan),
  maxChanges: value('--max-changes <n or n%>', 'refuse a plan that changes more rows', plan),
  maxDelta: value('--max-delta <n>', 'refuse a plan that changes one count by more', plan),
  allowZero: flag('--allow-zero', 'let more than half of the rows go to 0', plan),
  restart: flag('--restart', 'start anew, even if a run of the same input is unfinished', plan),
};

export const paceFlags = {
  concurrency: value('--concurrency <n>', 'requests in flight at a time (default 8)', pace),
  rate: value('--rate <n>', 'send at most n requests a second, retries included', pace),
  maxRetryWait: value(
    '--max-retry-wait <duration>',
    'stop when the service asks to wait longer (default 120s)',
    pace,
  ),
};

/** How it is written, and what is told of it. */
export const runFlags = {
  ...paceFlags,
  maxErrors: value('--max-errors <n or n%>', 'stop when so many rows have failed (default 100)', run),
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

export type InputFlags = Partial<ValuesOf<typeof inputFlags>>;
export type PlanFlags = Partial<ValuesOf<typeof planFlags>>;
export type PaceFlags = Partial<ValuesOf<typeof paceFlags>>;
export type RunFlags = Partial<ValuesOf<typeof runFlags>>;

/** @throws UsageError that names the flag. */
export function toReadOptions(flags: InputFlags): ReadOptions {
  return {
    format: flags.format,
    delimiter: flags.delimiter,
    map: parseColumnMap(flags.map ?? []),
    onDuplicate: flags.onDuplicate ?? 'error',
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
  };
}

/** @throws UsageError that names the flag. */
export function toGuards({ maxChanges, maxDelta, allowZero, blind }: PlanFlags): Guards {
  if (maxDelta !== undefined && blind)
    throw new UsageError('--max-delta: with --blind no current counts are read to compare with');
  if (maxDelta !== undefined && !/^\d{1,16}$/.test(maxDelta))
    throw new UsageError(`--max-delta '${maxDelta}': must be a whole number`);
  return {
    maxChanges: maxChanges === undefined ? undefined : parseRowLimit(maxChanges, '--max-changes'),
    maxDelta: maxDelta === undefined ? undefined : Number(maxDelta),
    allowZero: allowZero === true,
  };
}

/** @throws UsageError that names the flag. */
export function toErrorLimit({ maxErrors, failFast }: RunFlags): RowLimit {
  if (failFast) return { rows: 1 };
  const limit = parseRowLimit(maxErrors ?? '100', '--max-errors');
  if (('rows' in limit ? limit.rows : limit.percent) === 0)
    throw new UsageError(`--max-errors ${maxErrors}: must be more than nothing`);
  return limit;
}

/** Milliseconds. @throws UsageError that names the flag. */
export function toRetryWait({ maxRetryWait }: RunFlags): number {
  return parseSetting('timeout', maxRetryWait ?? '120s', '--max-retry-wait');
}
