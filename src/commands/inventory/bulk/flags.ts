import { parseColumnMap } from '../../../bulk/columns.ts';
import { type DuplicateRule, duplicateRules } from '../../../bulk/duplicates.ts';
import { type Guards, parseRowLimit, type RowLimit } from '../../../bulk/guards.ts';
import type { ReadOptions } from '../../../bulk/read-rows.ts';
import { parseShard } from '../../../bulk/shard.ts';
import { parseSetting } from '../../../config/keys.ts';
import { UsageError } from '../../../errors.ts';
import { type RecordFormat, recordFormats } from '../../../input/records.ts';
import { type ProgressMode, progressModes } from '../../../output/progress.ts';
import { collect, Option } from '../../command.ts';

/** How the input is read. */
export interface InputFlags {
  readonly format?: RecordFormat | undefined;
  readonly delimiter?: string | undefined;
  readonly map?: readonly string[] | undefined;
  readonly skipInvalid?: true | undefined;
  readonly onDuplicate?: DuplicateRule | undefined;
  readonly allowEmpty?: true | undefined;
  readonly shard?: string | undefined;
}

/** What is planned, and what the plan must keep to. */
export interface PlanFlags {
  readonly blind?: true | undefined;
  readonly createMissing?: true | undefined;
  readonly maxChanges?: string | undefined;
  readonly maxDelta?: string | undefined;
  readonly allowZero?: true | undefined;
  readonly restart?: true | undefined;
}

/** How it is written, and what is told of it. */
export interface RunFlags {
  readonly maxRetryWait?: string | undefined;
  readonly maxErrors?: string | undefined;
  readonly failFast?: true | undefined;
  readonly verify?: true | undefined;
  readonly rejects?: string | undefined;
  readonly events?: string | undefined;
  readonly progress?: ProgressMode | undefined;
  readonly force?: true | undefined;
}

export function inputOptions(): Option[] {
  return grouped('Input flags:', [
    new Option('--format <format>', 'format of the input (default: by its name or its text)').choices(
      recordFormats,
    ),
    new Option('--delimiter <character>', 'character between the cells of a CSV (default: by its header)'),
    new Option(
      '--map <field=column>',
      'column that holds petId, quantity or expected, where its name is another',
    ).argParser(collect),
    new Option('--skip-invalid', 'go on without the rows that are invalid'),
    new Option('--on-duplicate <rule>', 'which of several rows for one pet counts (default error)').choices(
      duplicateRules,
    ),
    new Option('--allow-empty', 'accept an input without rows'),
    new Option('--shard <i/n>', 'take only part i of n of the pets, to share a file between machines'),
  ]);
}

export function planOptions(): Option[] {
  return grouped('Plan flags:', [
    new Option('--blind', 'read no current counts: send every row; cannot be undone'),
    new Option('--create-missing', 'create the entry of a pet that has none'),
    new Option('--max-changes <n or n%>', 'refuse a plan that changes more rows'),
    new Option('--max-delta <n>', 'refuse a plan that changes one count by more'),
    new Option('--allow-zero', 'let more than half of the rows go to 0'),
    new Option('--restart', 'start anew, not where an unfinished run of the same input stopped'),
  ]);
}

export function readingOptions(): Option[] {
  return grouped('Pace flags:', [
    new Option('--concurrency <n>', 'requests in flight at a time (default 8)'),
    new Option('--rate <n>', 'send at most n requests a second, retries included'),
    new Option('--max-retry-wait <duration>', 'stop when the service asks to wait longer (default 120s)'),
  ]);
}

export function runOptions(): Option[] {
  return [
    ...readingOptions(),
    ...grouped('Run flags:', [
      new Option('--max-errors <n or n%>', 'stop when so many rows have failed (default 100)'),
      new Option('--fail-fast', 'stop at the first row that fails'),
      new Option('--verify', 'read every count back at the end'),
      new Option('--rejects <file>', 'write rows that failed to this file (default <input>.rejects.<ext>)'),
      new Option('--events <file or ->', 'write a JSON line for the outcome of every row'),
      new Option('--progress <mode>', 'how progress is shown').choices(progressModes),
      new Option('--force', 'replace the files of --rejects and --events'),
    ]),
  ];
}

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

function grouped(heading: string, options: readonly object[]): Option[] {
  for (const option of options as Option[]) option.helpGroup(heading);
  return options as Option[];
}
