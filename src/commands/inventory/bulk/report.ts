import { resolve } from 'node:path';
import { errorOf } from '../../../bulk/ending.ts';
import type { NewFile } from '../../../bulk/new-file.ts';
import { defaultRejectsPath, writeRejects } from '../../../bulk/rejects.ts';
import type { Keeper } from '../../../bulk/run-keeper.ts';
import type { Session } from '../../../bulk/session.ts';
import type { Summary } from '../../../bulk/summary.ts';
import type { Context } from '../../../context.ts';
import { OutputClosedError } from '../../../errors.ts';
import { delimiters } from '../../../input/records.ts';
import { printJson } from '../../../json.ts';
import { commandLine } from '../../../records/command-line.ts';
import type { BulkJob, BulkRun } from './job.ts';
import { type SummaryRecord, summaryText, summaryView, toSummaryJson } from './summary-view.ts';

interface Ended {
  readonly session: Session;
  readonly keeper: Keeper;
  /** The one of `--rejects`. */
  readonly file: NewFile | undefined;
}

interface SavedRejects {
  /** As the user may type it; undefined where nothing was rejected. */
  readonly path?: string | undefined;
  readonly error?: Error | undefined;
}

/** Writes the rows that failed or are unknown where the user, or the default, has them; never rejects. */
export async function saveRejects(context: Context, run: BulkRun, ended: Ended): Promise<SavedRejects> {
  const { job, flags } = run;
  const { session, keeper, file } = ended;
  const { rows, errorCount } = session.ledger;
  if (errorCount === 0 || (!job.input && !file)) return {};
  try {
    const named = flags.rejects ?? (await defaultName(context, job));
    const target = file ?? {
      path: resolve(context.io.cwd, named),
      name: named,
      flag: '--rejects',
      mayReplace: false,
    };
    const count = await writeRejects(target, { rows, journal: keeper.journal, input: job.input });
    return count > 0 ? { path: named } : {};
  } catch (error) {
    return { error: error as Error };
  }
}

/**
 * Tells what became of a run: the summary on stdout, in the format asked for.
 *
 * @throws CliError where not every row is as the job wants it.
 */
export async function report(context: Context, run: BulkRun, facts: Reported): Promise<void> {
  const { summary, rejects } = facts;
  const resume = resumeCommand(context, run, summary);
  const mayUndo = summary.run !== undefined && summary.applied > 0 && !run.job.write.blind;
  const undo = mayUndo ? commandLine(context, ['inventory', 'undo', summary.run ?? '']) : undefined;
  const unprinted = await problemOfPrinting(context, run, { ...summary, rejects, resume, undo });
  const problem = facts.problem ?? unprinted;
  if (undo !== undefined) await context.notice(`undo with: ${undo}`);
  const again = againCommand(context, run, facts);
  if (rejects) await context.notice(`rejected rows are in ${rejects}`);
  const then = summary.stop?.hint === undefined ? '' : `${summary.stop.hint}; then `;
  const hint = resume ? `${then}go on with: ${resume}` : again && `when the reasons are gone: ${again}`;
  const error = errorOf(summary, hint);
  if (error && problem) await context.notice(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

interface Reported {
  readonly summary: Summary;
  readonly rejects: string | undefined;
  /** Why a file beside the run could not be written. */
  readonly problem: Error | undefined;
}

/** Why the summary could not be printed; a reader that has gone away is no problem. */
async function problemOfPrinting(
  context: Context,
  run: BulkRun,
  summary: SummaryRecord,
): Promise<Error | undefined> {
  try {
    await printSummary(context, run, summary);
  } catch (error) {
    if (!(error instanceof OutputClosedError)) return error as Error;
  }
  return undefined;
}

/** For people the summary leaves stdout to `--events -`; as JSON it is its last line. */
async function printSummary(context: Context, { flags }: BulkRun, summary: SummaryRecord): Promise<void> {
  const { io } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.format === 'table' && fields === undefined && sort === undefined) {
    const name = flags.events === '-' ? 'stderr' : 'stdout';
    const { columns } = io[name];
    await io[name].write(summaryText(summary, { style: await context.style(name), columns }));
  } else if (printer.format === 'jsonl' || flags.events === '-')
    await io.stdout.write(`${printJson(toSummaryJson(summary))}\n`);
  else await printer.record(toSummaryJson(summary), summaryView);
}

/** The flags by which rejected rows are read, and written, as their input was. */
function inputWords({ identity, input, write }: BulkJob): string[] {
  const { delimiter, map } = identity.input;
  const isDetected = !delimiter || (delimiters as readonly string[]).includes(delimiter);
  const named = Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]);
  if (!input) return [];
  const creation = write.createMissing ? ['--create-missing'] : [];
  return [...(isDetected ? [] : ['--delimiter', delimiter]), ...named, ...creation];
}

/** The command that tries what failed once more. */
function againCommand(
  context: Context,
  { job }: BulkRun,
  { summary, rejects }: Reported,
): string | undefined {
  const isUndo = job.identity.kind === 'undo' && summary.failed + summary.unknown > 0;
  if (isUndo) return commandLine(context, ['inventory', 'undo', job.name]);
  return rejects && commandLine(context, ['inventory', 'apply', rejects, ...inputWords(job)]);
}

function resumeCommand(
  context: Context,
  { job }: BulkRun,
  { run, unprocessed }: Summary,
): string | undefined {
  if (run === undefined || unprocessed === 0) return undefined;
  const command = commandLine(context, ['inventory', 'resume', run]);
  return job.input && job.file === null ? `${command} (with the same input on stdin)` : command;
}

/** Beside the input; in the current folder for what came through a pipe. */
function defaultName({ io }: Context, { file, name, input }: BulkJob): Promise<string> {
  const stem = file === null ? 'stdin' : name;
  return defaultRejectsPath(stem, { folder: io.cwd, format: input?.layout.format ?? 'csv' });
}
