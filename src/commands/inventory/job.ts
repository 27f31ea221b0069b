import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { JournalHeader } from '../../bulk/journal-lines.ts';
import { readJournal } from '../../bulk/journal-reader.ts';
import { type RowInput, type RowIssues, readKeys, readRows } from '../../bulk/read.ts';
import { defaultFlags, type Guards, type RunFlags } from '../../bulk/run-flags.ts';
import { infoOf, RunStore } from '../../bulk/runs.ts';
import type { Job } from '../../bulk/session.ts';
import { toUndoRows } from '../../bulk/undo.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { openSource, type Source } from '../../input/source.ts';
import { ManyError, UsageError } from '../../process/errors.ts';
import { realFile } from '../../process/files.ts';
import { counted, groupDigits } from '../../process/text.ts';

export function runStore({ io }: Context): RunStore {
  return new RunStore(resolvePaths(io).stateDir);
}

/** Opens an input for the time of the work. @throws as `openSource` */
export async function withSource<Value>(
  { io }: Context,
  path: string,
  work: (source: Source) => Promise<Value>,
): Promise<Value> {
  const source = await openSource(io, path);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

interface JobOptions {
  readonly guards: Guards;
  /** Accepts an input without rows. */
  readonly allowEmpty?: boolean | undefined;
}

/** The job of the rows of an input. @throws UsageError, or ManyError of several, if the input cannot be used */
export async function readJob(
  context: Context,
  source: Source,
  flags: RunFlags,
  { guards, allowEmpty = false }: JobOptions,
): Promise<Job> {
  // Without a service to call, a large input need not be read first.
  await context.client('bulk');
  const table = flags.key && (await withSource(context, flags.key.file, readKeys));
  const input = await readRows(source, { ...flags, ids: table?.ids });
  await checkInput(context, input, allowEmpty);
  const { rows, layout, sha256 } = input;
  if (rows.hasExpectations && flags.blind)
    throw new UsageError(`${source.name}: --blind reads no counts to compare with the column expected`);
  const identified: RunFlags = {
    ...flags,
    format: layout?.format ?? null,
    delimiter: layout?.delimiter ?? null,
    key: flags.key && {
      ...flags.key,
      file: resolve(context.io.cwd, flags.key.file),
      sha256: table?.sha256 ?? '',
    },
  };
  return {
    identity: { kind: 'apply', sha256, target: await targetOf(context), flags: identified },
    name: source.name,
    file: source.path ?? null,
    rows,
    guards: [guards],
    input,
  };
}

/**
 * Warns of rows that are left out.
 *
 * @throws ManyError of UsageErrors, one for each row that is wrong, unless those are to be skipped.
 */
async function checkInput(context: Context, input: RowInput, allowEmpty: boolean): Promise<void> {
  const { source, options, issues, conflicts, rows, same, overruled } = input;
  const { name } = source;
  if (issues.count > 0 && !options.skipInvalid)
    throw refusal(name, issues, {
      what: `${counted(issues.count, 'row', 'rows')} of ${rows.length} invalid`,
      hint: '--skip-invalid goes on without them',
    });
  if (conflicts.count > 0)
    throw refusal(name, conflicts, {
      what: `${counted(conflicts.count, 'row', 'rows')} at odds with another row for the same pet`,
      hint: options.relative
        ? '--on-duplicate sum adds them up'
        : '--on-duplicate first or last says which one counts',
    });
  if (rows.length === 0 && !allowEmpty)
    throw new UsageError(`${name}: no data rows`, '--allow-empty lets that pass');
  const warn = (text: string) => context.notice(`warning: ${text}`);
  for (const text of issueTexts(name, issues)) await warn(text);
  const more = issues.count - issues.first.length;
  if (more > 0) await warn(`${name}: and ${counted(more, 'more invalid row', 'more invalid rows')}`);
  if (same > 0) await warn(`${name}: ${counted(same, 'row', 'rows')} repeated, counted once`);
  const how = options.relative ? 'added to another row' : 'skipped because of another row';
  if (overruled > 0) await warn(`${name}: ${counted(overruled, 'row', 'rows')} ${how} for the same pet`);
}

function refusal(
  name: string,
  issues: RowIssues,
  { what, hint }: { readonly what: string; readonly hint: string },
): ManyError {
  const more = issues.count - issues.first.length;
  const summary = `${name}: ${what}${more > 0 ? ` (the first ${issues.first.length} are above)` : ''}, nothing was sent`;
  const errors = issueTexts(name, issues).map((text) => new UsageError(text));
  return new ManyError(summary, [...errors, new UsageError(summary, hint)], 0);
}

function issueTexts(name: string, { first }: RowIssues): string[] {
  return first.map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
}

/** The job that takes a run back; its lock is to be held. */
export async function readUndoJob(context: Context, run: string): Promise<Job> {
  const runs = runStore(context);
  const image = await readJournal(runs.pathOf(run));
  const { state, by, isPartial } = infoOf(image);
  if (state === 'undone' && !isPartial) throw new UsageError(`undo ${run}: run ${by} has undone it already`);
  const { operations } = (await context.client('bulk')).contract;
  const { rows, createsEntries, staying } = toUndoRows(image, operations.has('deleteInventory'));
  if (staying.length > 0) await context.notice(stayingText(staying));
  const { target, flags } = image.header;
  return {
    identity: {
      kind: 'undo',
      sha256: createHash('sha256').update(run).digest('hex'),
      target,
      // An undo reads no input; it touches the pets of its run's shard.
      flags: { ...defaultFlags, shard: flags.shard, createMissing: createsEntries },
    },
    name: run,
    file: null,
    rows,
    guards: [],
    input: undefined,
    entriesLeft: staying.length,
  };
}

/** Names the pets whose entries an undo leaves, because the service as it is bound cannot remove entries. */
function stayingText(pets: readonly bigint[]): string {
  const isOne = pets.length === 1;
  const named = pets.slice(0, 20);
  const more = pets.length - named.length;
  const others = more > 0 ? ` and ${groupDigits(more)} more` : '';
  return `warning: ${counted(pets.length, 'entry', 'entries')} that the run made ${isOne ? 'stays' : 'stay'}, because the service offers no deleteInventory: ${isOne ? 'pet' : 'pets'} ${named.join(', ')}${others}`;
}

/** The target of writes for the journal: the base URL, or the file of the embedded store. */
export async function targetOf(context: Context): Promise<string> {
  const settings = await context.settings();
  if (settings.offline) {
    const store = resolvePaths(context.io).offlineStore;
    return `offline:${store === ':memory:' ? store : realFile(store)}`;
  }
  return settings.get('base-url') ?? '';
}

/** A run can only be resumed or undone on its own target. @throws UsageError on any other. */
export async function refuseOtherTarget(context: Context, { run, target }: JournalHeader): Promise<void> {
  const here = await targetOf(context);
  if (here === target) return;
  const goes = here === '' ? 'this command has no service to go to' : `this command goes to ${here}`;
  throw new UsageError(`run ${run} wrote to ${target}, and ${goes}`, placeHint(target));
}

function placeHint(target: string): string {
  return target.startsWith('offline:')
    ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
    : `give --base-url ${target}, or --profile with the profile of that run`;
}
