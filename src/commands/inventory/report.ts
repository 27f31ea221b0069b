import type { NewFile } from '../../bulk/new-file.ts';
import { defaultRejectsFile, hasRejects, writeRejects } from '../../bulk/rejects.ts';
import { type State, states } from '../../bulk/rows.ts';
import type { Job, Session } from '../../bulk/session.ts';
import { errorOf, type Summary } from '../../bulk/summary.ts';
import type { Context } from '../../context.ts';
import { commandLine } from '../../context.ts';
import { delimiters } from '../../input/records.ts';
import type { Column, View } from '../../output/columns.ts';
import { wrap } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { CliError, OutputClosedError } from '../../process/errors.ts';
import { type JsonObject, printJson } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import type { SessionFlags } from './flags.ts';
import { exampleText } from './totals.ts';

/**
 * Writes the rows that failed, are unknown or were invalid to the file of --rejects or the default one.
 *
 * @param named the file of --rejects.
 * @returns the file as the user may type it; undefined if nothing was rejected.
 * @throws CliError if it could not be written.
 */
export async function saveRejects(
  { io }: Context,
  session: Session,
  named: NewFile | undefined,
): Promise<string | undefined> {
  const { input, file, name } = session.job;
  if ((!input && !named) || !hasRejects(session)) return undefined;
  // The whole delivery must be applied again, and the rejects would add some rows twice.
  if (session.flags.relative && session.stop.reason && !session.ledger.journal) return undefined;
  const format = input?.layout?.format ?? 'csv';
  // Next to the input; in the current folder if the input came through a pipe.
  const free = named ?? (await defaultRejectsFile(file === null ? 'stdin' : name, io.cwd, format));
  return (await writeRejects(free, session)) ? free.name : undefined;
}

interface Reported {
  readonly summary: Summary;
  /** The file of rejected rows, as the user may type it. */
  readonly rejects: string | undefined;
  /** True if `resume` can continue the run. */
  readonly isOpen: boolean;
  /** Why an output file could not be written, or rows not be read back. */
  readonly problem: Error | undefined;
}

/** A summary and the next steps for the user. */
interface SummaryRecord extends Summary {
  /** The file of rejected rows. */
  readonly rejects: string | undefined;
  /** The command that resumes the run, if that is possible. */
  readonly resume: string | undefined;
  /** The command that undoes it, if that is possible. */
  readonly undo: string | undefined;
}

/**
 * Reports the result of a run: prints the summary on stdout, in the format asked for.
 *
 * @throws CliError if not every row is as the job wants it.
 */
export async function report(
  context: Context,
  job: Job,
  flags: SessionFlags,
  reported: Reported,
): Promise<void> {
  const { summary, rejects, isOpen } = reported;
  const { run, stop } = summary;
  const mayGoOn = isOpen || (job.identity.flags.relative && summary.unknown > 0);
  const command = (verb: string) => run && commandLine(context, ['inventory', verb, run]);
  const resume = mayGoOn ? command('resume') : undefined;
  const mayUndo = summary.applied + summary.unknown > 0 && !job.identity.flags.blind;
  const undo = mayUndo ? command('undo') : undefined;
  let { problem } = reported;
  try {
    await printSummary(context, flags, { ...summary, rejects, resume, undo });
  } catch (error) {
    // A reader that has gone away is not a problem.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  if (undo !== undefined) await context.notice(`undo with: ${undo}`);
  if (rejects) await context.notice(`rejected rows are in ${rejects}`);
  const again = againCommand(context, job, reported);
  const then = stop?.hint === undefined ? '' : `${stop.hint}; then `;
  const stdin = job.input && job.file === null ? ' (with the same input on stdin)' : '';
  const begin = stop && !run ? 'the same command again' : again;
  const hint = resume ? `${then}go on with: ${resume}${stdin}` : begin && `fix the cause, then run: ${begin}`;
  const error = errorOf(summary, hint ?? stop?.hint) ?? leftError(job);
  if (error && problem) await context.notice(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

/** The error of an undo that set every count back and leaves entries; a warning before the plan has named them. */
function leftError({ name, entriesLeft = 0 }: Job): CliError | undefined {
  if (entriesLeft === 0) return undefined;
  const stay = `${counted(entriesLeft, 'entry', 'entries')} that the run made ${entriesLeft === 1 ? 'stays' : 'stay'}`;
  return new CliError('partial', `undo ${name}: ${stay}, because the service offers no deleteInventory`);
}

/** The command that tries the failed rows again. */
function againCommand(context: Context, job: Job, { summary, rejects }: Reported): string | undefined {
  if (job.identity.kind === 'undo' && summary.failed + summary.unknown > 0)
    return commandLine(context, ['inventory', 'undo', job.name]);
  return rejects && commandLine(context, ['inventory', 'apply', rejects, ...inputWords(job)]);
}

/** The flags with which rejected rows must be read and written, the same as for their input. */
function inputWords({ identity: { flags }, input }: Job): string[] {
  if (!input) return [];
  const { delimiter, map, key, thousands, onDuplicate } = flags;
  const isDetected = !delimiter || (delimiters as readonly string[]).includes(delimiter);
  return [
    ...(isDetected ? [] : ['--delimiter', delimiter]),
    ...Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]),
    ...(key ? ['--key', `${key.column}=${key.file}`] : []),
    ...(thousands ? ['--thousands', thousands] : []),
    ...(flags.relative ? ['--relative'] : []),
    ...(onDuplicate === 'sum' ? ['--on-duplicate', 'sum'] : []),
    ...(flags.createMissing ? ['--create-missing'] : []),
  ];
}

/** With `--events -`, the summary for people goes to stderr; as JSON it is the last line of stdout. */
async function printSummary(context: Context, flags: SessionFlags, summary: SummaryRecord): Promise<void> {
  const { io } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.format === 'table' && fields === undefined && sort === undefined) {
    const name = flags.events === '-' ? 'stderr' : 'stdout';
    const { isTerminal, width } = io[name];
    const style = await context.style(name);
    await io[name].write(isTerminal ? shortSummary(summary, style, width ?? 80) : fullSummary(summary));
  } else if (printer.format === 'jsonl' || flags.events === '-')
    await io.stdout.write(`${printJson(toSummaryJson(summary))}\n`);
  else await printer.record(toSummaryJson(summary), summaryView);
}

/** The states in the order of a report: successes, then the others. */
const reported: readonly State[] = [...states.slice(1), 'unprocessed'];

/** For formats with columns: one line for the run. */
export const summaryView: View<JsonObject> = {
  noun: 'runs',
  columns: [
    ...['run', 'name', 'target', 'rows', ...reported],
    ...['requests', 'retries', 'seconds', 'rowsPerSecond'],
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** A run as one JSON object; empty facts other than counts are left out. */
function toSummaryJson({ stop, failures, ...rest }: SummaryRecord): JsonObject {
  const facts = Object.entries({ ...rest, stopped: stop?.message, failures });
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** A run for people at a terminal: its facts in a few lines. */
function shortSummary(summary: SummaryRecord, style: Style, columns: number): string {
  const { rows, applied, requests, retries, verified } = summary;
  const facts = [
    `applied ${groupDigits(applied)} of ${counted(rows, 'row', 'rows')} in ${secondsText(summary.seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(verified === undefined ? [] : [`${groupDigits(verified)} read back`]),
    ...(summary.seconds >= 1 ? [`${groupDigits(summary.rowsPerSecond)} rows/s`] : []),
  ];
  const others = reported
    .filter((state) => state !== 'applied' && summary[state] > 0)
    .map((state) => {
      const word = state === 'unprocessed' ? 'not processed' : state;
      return paintState(style, state)(`${groupDigits(summary[state])} ${word}`);
    });
  const first = facts.join(', ');
  const lines = [
    applied === rows && rows > 0 ? style.green(first) : first,
    ...(others.length > 0 ? [others.join(', ')] : []),
  ];
  for (const failure of summary.failures) {
    const paint = failure.state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(failure.count)} x  ${sanitize(`${failure.state}: ${failure.kind}`)}`));
    const text = wrap(exampleText(failure.example), Math.max(20, columns - 4), (each) => each.length);
    lines.push(...text.map((line) => style.dim(`    ${line}`)));
  }
  return `${lines.join('\n')}\n`;
}

function secondsText(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : groupDigits(Math.round(seconds))} s`;
}

/** The same as lines for a log or a script, with every count. */
function fullSummary(summary: SummaryRecord): string {
  const { verified, run, failures } = summary;
  const line = (name: string, value: number | string) => `${name.padEnd(11)}  ${value}`;
  const number = (name: string, value: number) => line(name, String(value).padStart(12));
  const mostOfAKind = failures.reduce((most, { count }) => Math.max(most, count), 0);
  const width = groupDigits(mostOfAKind).length;
  const lines = [
    number('rows', summary.rows),
    ...reported.map((state) => number(state, summary[state])),
    '',
    number('requests', summary.requests),
    number('retries', summary.retries),
    ...(verified === undefined ? [] : [number('read back', verified)]),
    number('seconds', summary.seconds),
    number('rows/s', summary.rowsPerSecond),
    ...(run === undefined ? [] : [line('run', run)]),
    ...(failures.length === 0 ? [] : ['']),
    ...failures.flatMap(({ count, state, kind, example }) => {
      const head = `${groupDigits(count).padStart(width)} x  ${sanitize(`${state}: ${kind}`)}`;
      return [head, `${' '.repeat(width + 4)}${exampleText(example)}`];
    }),
  ];
  return `${lines.join('\n')}\n`;
}

function paintState(style: Style, state: State): (text: string) => string {
  if (state === 'applied') return style.green;
  if (state === 'failed' || state === 'invalid') return style.red;
  return state === 'unchanged' ? (text) => text : style.yellow;
}
