import {
  findNextCommand,
  groupFailures,
  type NextCommands,
  type Report,
  toReportJson,
  toRunError,
  toRunJson,
} from '../../bulk/report.ts';
import { fates, madeIdOf, rowCountOf, rowTotals } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import type { RunInfo } from '../../bulk/run-store.ts';
import { type Context, followUpCommand } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import type { Style } from '../../output/style.ts';
import { CliError, OutputClosedError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { createRowView, describeExample, rowWords } from './row-view.ts';

const shownColumns: readonly Column<JsonObject>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'kind', value: ({ kind }) => kind },
  { name: 'file', value: ({ file, shard }) => (shard === undefined ? file : `${file} ${shard}`) },
  { name: 'started', value: ({ started }) => started, isTime: true },
  { name: 'state', value: ({ state }) => state, isStatus: true },
  { name: 'applied', value: ({ applied }) => applied, align: 'right' },
  { name: 'rows', value: ({ rows }) => rows, align: 'right' },
];

/** The columns that are printed if `--fields` names them. Only the report of a session has figures such as `requests`. */
const namedColumns = [
  ...[
    'noun',
    'shard',
    'target',
    'profile',
    'delivery',
    ...fates.filter((fate) => fate !== 'applied'),
    'left',
    'undoneBy',
  ],
  ...['requests', 'retries', 'seconds', 'rejects', 'next', 'undo'],
];

/** The columns of a run, in the list of runs and in the report of a session. */
export const reportView: View<JsonObject> = {
  plural: 'runs',
  columns: [
    ...shownColumns,
    ...namedColumns.map((name): Column<JsonObject> => ({ name, value: (run) => run[name], isHidden: true })),
  ],
};

/**
 * Reports a session: prints its summary on stdout, and hints on stderr.
 *
 * @throws CliError if not every row is as the run wants it.
 */
export async function printReport(context: Context, report: Report): Promise<void> {
  const { info, run, stop, rejects, earlier } = report;
  const words = findNextCommand(run);
  const commands = nextCommands(context, report, words);
  let { problem }: { problem: Error | undefined } = report;
  try {
    await printSummary(context, report, commands);
  } catch (error) {
    // The run is done although nobody reads its summary.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  const error = toRunError(info, { stop, hint: hintOf(context, report, commands, words) });
  if (earlier)
    await context.warn(
      `note: ${counted(earlier.open, 'row', 'rows')} of ${earlier.file} still to be written`,
    );
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && commands.undo !== undefined) await context.warn(`undo with: ${commands.undo}`);
  if (error && problem && !error.message.includes(problem.message))
    await context.warn(`warning: ${problem.message}`);
  if (error) throw error;
  const hint = commands.next && `go on with: ${commands.next}`;
  if (problem) throw problem instanceof CliError ? problem.with({ hint }) : problem;
}

function nextCommands(
  context: Context,
  { info: { id, header, written }, lacks }: Report,
  words: readonly string[] | undefined,
): NextCommands {
  const canUndo = header.kind !== 'undo' && header.kind !== 'delete' && written > 0;
  const verb = header.undoes === null ? ['resume', id] : ['undo', header.undoes];
  const next = lacks === 'rejects' ? [...verb, '--rejects', '<file>'] : (words ?? (lacks && verb));
  return {
    next: next && followUpCommand(context, next),
    undo: canUndo ? followUpCommand(context, ['undo', id]) : undefined,
  };
}

/** Says what the user can do next: one command. Undefined if there is nothing to do. */
function hintOf(
  context: Context,
  { run: { header, rows }, stop, rejects, lacks }: Report,
  { next: command, undo }: NextCommands,
  words: readonly string[] | undefined,
): string | undefined {
  const next = words && lacks !== 'rejects' ? nextHint(context, words) : command && `go on with: ${command}`;
  if (stop?.hint) return next ? `${stop.hint}; then ${next}` : stop.hint;
  const isStale = rows.some(({ outcome }) => outcome?.reason?.code === 'stale');
  if (next) return isStale ? `petstore help gateways says what may stand between; then ${next}` : next;
  const apply = rejects && followUpCommand(context, applyWords(header, rejects));
  return apply ? `correct the rejected rows, then run: ${apply}` : undo && `set back with: ${undo}`;
}

/** The hint for the command that goes on with a run, or with which a person says what happened to a row. */
export function nextHint(context: Context, words: readonly string[]): string {
  const command = followUpCommand(context, words);
  if (words[1] !== 'settle') return `go on with: ${command}`;
  return `look at the record, and say what happened: ${command}, or --as failed`;
}

/** The words of the command that applies a file of rejects, with the flags of the input. */
function applyWords({ kind, noun, flags, delivery }: RunHeader, file: string): string[] {
  const { map, thousands, decimal, relative, again, sum, createMissing } = flags;
  if (kind === 'create' || kind === 'update' || kind === 'delete') return [noun, kind, '--from', file];
  return [
    'inventory',
    'apply',
    file,
    ...Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]),
    ...(thousands ? ['--thousands', thousands] : []),
    ...(decimal ? ['--decimal', decimal] : []),
    ...(relative ? ['--relative'] : []),
    ...(delivery === null ? [] : ['--delivery', delivery]),
    ...(again ? ['--again'] : []),
    ...(sum ? ['--sum'] : []),
    ...(createMissing ? ['--create-missing'] : []),
  ];
}

async function printSummary(context: Context, report: Report, commands: NextCommands): Promise<void> {
  const { io } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.content === 'text' && fields === undefined && sort === undefined)
    await io.stdout.write(summaryText(report, await context.style('stdout')));
  else if (report.info.header.kind === 'create' && context.settings.get('output') === 'ids')
    await io.stdout.write(
      report.run.rows
        .flatMap((row) => madeIdOf(row) ?? [])
        .map((id) => `${id}\n`)
        .join(''),
    );
  else await printer.record(toReportJson(report, commands), reportView);
}

/** Prints the totals of a run of which nothing is left to do, or that has no rows. A table has only the note before it. */
export async function printNothing(
  context: Context,
  header: RunHeader,
  isPreview: boolean,
  info?: RunInfo,
): Promise<void> {
  const printer = await context.printer();
  if (printer.content === 'text') return;
  if (isPreview) return printer.records([], createRowView(header.noun, false));
  await printer.record(toRunJson(info ?? { header, counts: rowTotals([]).counts }), reportView);
}

/** The summary for a terminal: the run, its session, and the groups of failures. */
function summaryText(report: Report, style: Style): string {
  const { info, run, requests, retries, seconds } = report;
  const { counts, header } = info;
  const { applied, unchanged, booked } = counts;
  const rowCount = rowCountOf(counts);
  const isNothing = unchanged + booked === rowCount;
  const facts = [
    isNothing
      ? `nothing to do: ${counted(rowCount, 'row needs', 'rows need')} no write`
      : `applied ${groupDigits(applied)} of ${counted(rowCount, 'row', 'rows')} in ${seconds.toFixed(2)} s`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
  ].join(', ');
  const others = fates
    .filter((fate) => fate !== 'applied' && counts[fate] > 0 && !(isNothing && fate === 'unchanged'))
    .map((fate) => `${groupDigits(counts[fate])} ${fate}`);
  const lines = [applied === rowCount ? style.green(facts) : facts];
  if (others.length > 0) lines.push(others.join(', '));
  for (const { state, count, kind, example } of groupFailures(run.rows)) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    lines.push(style.dim(`    ${describeExample(example, rowWords(header.noun).record)}`));
  }
  return `${[...lines, style.dim(`run ${info.id}`)].join('\n')}\n`;
}
