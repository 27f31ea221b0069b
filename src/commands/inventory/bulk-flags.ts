import { parseColumnMap } from '../../bulk/columns.ts';
import { type DuplicateRule, duplicateRules } from '../../bulk/duplicates.ts';
import { type Guards, parseRowLimit, type RowLimit } from '../../bulk/guards.ts';
import type { ReadOptions } from '../../bulk/read-rows.ts';
import { parseShard } from '../../bulk/shard.ts';
import { parseSetting } from '../../config/settings.ts';
import { UsageError } from '../../errors.ts';
import { type RecordFormat, recordFormats } from '../../input/records.ts';
import { type ProgressMode, progressModes } from '../../output/progress.ts';
import { Option } from '../command.ts';

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
    new Option('--format <format>', 'what the input is; else its name or its text tells').choices(
      recordFormats,
    ),
    new Option('--delimiter <character>', 'what parts the cells of a csv; else the header tells'),
    new Option(
      '--map <field=column>',
      'the column of petId, quantity or expected, where it has another name',
    ).argParser(collect),
    new Option('--skip-invalid', 'go on without the rows that are invalid'),
    new Option('--on-duplicate <rule>', 'which of several rows for one pet counts').choices(duplicateRules),
    new Option('--allow-empty', 'an input without rows is no error'),
    new Option('--shard <i/n>', 'take only part i of n of the pets, to share a file between machines'),
  ]);
}

export function planOptions(): Option[] {
  return grouped('Plan flags:', [
    new Option('--blind', 'read no current counts: send every row'),
    new Option('--create-missing', 'make an entry for a pet that has none'),
    new Option('--max-changes <n or n%>', 'refuse a plan that changes more rows'),
    new Option('--max-delta <n>', 'refuse a plan that changes one count by more'),
    new Option('--allow-zero', 'let more than half of the rows go to 0'),
    new Option('--restart', 'do not go on with an unfinished run of the same input'),
  ]);
}

export function readingOptions(): Option[] {
  return grouped('Pace flags:', [
    new Option('--concurrency <n>', 'requests in flight at a time (default 8)'),
    new Option('--rate <n>', 'at most so many requests a second, every attempt counted'),
    new Option('--max-retry-wait <duration>', 'stop when the service asks to wait longer (default 120s)'),
  ]);
}

export function runOptions(): Option[] {
  return [
    ...readingOptions(),
    ...grouped('Run flags:', [
      new Option('--max-errors <n or n%>', 'stop when so many rows have failed (default 100)'),
      new Option('--fail-fast', 'stop at the first row that fails'),
      new Option('--verify', 'read everything back when it is written'),
      new Option('--rejects <file>', 'where rows that failed go (default <input>.rejects.<ext>)'),
      new Option('--events <file or ->', 'a JSON line for every outcome'),
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
  if ('rows' in limit && limit.rows === 0) throw new UsageError('--max-errors 0: must be at least 1');
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

function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before : []), value];
}
