import { basename } from 'node:path';
import { nouns } from '../api/nouns.ts';
import { shownCode } from '../client/reasons.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { counted, flagName, groupDigits } from '../process/text.ts';
import { showCommand } from '../writes/decide.ts';
import type { RunInfo } from './list-runs.ts';
import { isResumable, needsPerson, type RowCounts, type RunRow, rowCountOf, rowName } from './row.ts';
import type { Run, RunHeader } from './run.ts';

/** The facts of a run after a session, and what the session did. */
export interface Report extends RunInfo {
  readonly rows: readonly RunRow[];
  /** The time of the writing of this session. */
  readonly seconds: number;
  readonly stop: CliError | undefined;
  /** The path of the file of rejects, as the user may type it. */
  readonly rejects: string | undefined;
  readonly unwritten: Unwritten | undefined;
}

/** The part of its end that a session could not write. A resume writes it, unless the whole journal is gone. */
interface Unwritten {
  readonly what: 'rejects' | 'end' | 'journal';
  readonly error: CliError;
}

/** The facts of a run as JSON: in the list of runs, and in the report of a session. */
export function toRunJson({
  id,
  header,
  started,
  state,
  counts,
  left,
  undo,
}: Partial<RunInfo> & Pick<RunInfo, 'header' | 'counts'>): JsonObject {
  const { kind, noun, undoes, target, delivery, flags, profile, name } = header;
  const { shard } = flags;
  return {
    id,
    kind,
    noun,
    file: undoes ?? basename(name),
    shard: shard ? `${shard.index}/${shard.count}` : undefined,
    target,
    profile: profile ?? undefined,
    delivery: delivery ?? undefined,
    started,
    state,
    rows: rowCountOf(counts),
    ...counts,
    left,
    undoneBy: undo?.id,
  } as JsonObject;
}

/**
 * A report as one JSON object: the facts of the run, and those of the session.
 *
 * @param commands.next the command that goes on with the run, unless it is finished.
 * @param commands.undo the command that takes it back, if it wrote rows and can be undone.
 */
export function toReportJson(
  report: Report,
  commands: { readonly next: string | undefined; readonly undo: string | undefined },
): JsonObject {
  const { header, rows, seconds, rejects, stop } = report;
  const { idField } = nouns[header.noun];
  return {
    ...toRunJson(report),
    seconds,
    rejects,
    ...commands,
    stopped: stop?.message,
    failures: groupFailures(rows).map(({ example: { id, ...example }, ...group }) => ({
      ...group,
      example: { ...example, [idField]: id },
    })),
  } as JsonObject;
}

/** The rows that failed, or are unknown, for the same reason. */
export type FailureGroup = ReturnType<typeof groupFailures>[number];

/**
 * Groups the rows that failed or are unknown by reason, the largest group first, each with its first row as an example.
 * `kind` is status and code, such as `409 in_use`, or a code alone, such as `timeout`.
 */
export function groupFailures(rows: Iterable<RunRow>) {
  const groups = new Map<string, ReturnType<typeof firstFailure>>();
  for (const row of rows) {
    const { kind: state } = row.outcome ?? {};
    if (state !== 'failed' && state !== 'unknown') continue;
    const first = firstFailure(row, state);
    const group = groups.get(`${state} ${first.kind}`);
    if (group) group.count += 1;
    else groups.set(`${state} ${first.kind}`, first);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function firstFailure({ line, id, outcome }: RunRow, state: 'failed' | 'unknown') {
  const { status, message = state, requestId } = outcome?.reason ?? {};
  const code = outcome?.reason ? shownCode(outcome.reason) : state;
  const kind = status === undefined || code === String(status) ? code : `${status} ${code}`;
  return { kind, state, count: 1, example: { line, id, message, requestId } };
}

/** Returns the error of a session or of a finished run, unless every row is as the file says. */
export function runError(
  { header, counts }: Pick<RunInfo, 'header' | 'counts'>,
  stop?: CliError | undefined,
  hint?: string | undefined,
): CliError | undefined {
  const states = (['failed', 'unknown', 'invalid', 'unprocessed', 'unsettled'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${groupDigits(counts[state])} ${state}`);
  if (!stop && states.length === 0) return undefined;
  const facts = [
    ...(stop ? [`stopped: ${stop.message}`] : []),
    ...(states.length > 0 ? [`${states.join(', ')} of ${counted(rowCountOf(counts), 'row', 'rows')}`] : []),
  ];
  const subject = header.undoes === null ? header.name : `undo ${header.undoes}`;
  // For the kinds partial and failed the counts decide, because rows may have been written before the stop.
  const stopKind = stop?.kind === 'partial' || stop?.kind === 'failed' ? undefined : stop?.kind;
  return new CliError(stopKind ?? kindOf(counts, header.undoes !== null), `${subject}: ${facts.join('; ')}`, {
    hint,
    mayBeApplied: counts.unknown > 0,
  });
}

/**
 * Returns the kind of error for a run with rows that failed, are unknown or were not processed. It is `partial` if other rows
 * succeeded, and for an undo, which may leave rows alone. It is `unavailable` if every row is unknown.
 */
function kindOf(counts: RowCounts, isUndo: boolean): ErrorKind {
  const { applied, unchanged, booked, failed, unknown, invalid, unprocessed, unsettled } = counts;
  if (applied + unchanged + booked > 0) return 'partial';
  if (unknown === 0) return isUndo ? 'partial' : 'failed';
  return failed + invalid + unprocessed + unsettled === 0 ? 'unavailable' : 'partial';
}

/** The next step with a run. */
interface NextStep {
  /** The command line to type. */
  readonly command: string;
  /** A hint that contains the command. */
  readonly hint: string;
}

/**
 * Finds the next step with a run, unless the run is finished.
 *
 * @param unwritten the part of its end that the run lacks.
 */
export function nextStepOf(
  context: Context,
  { id = '', header, rows }: Pick<Run, 'id' | 'header' | 'rows'>,
  unwritten?: Unwritten['what'],
): NextStep | undefined {
  const { noun, undoes } = header;
  const unfinished = rows.filter((row) => isResumable(row) || needsPerson(row));
  if (unwritten === 'journal' || (unwritten === undefined && unfinished.length === 0)) return undefined;
  // Each row may wait for a person or for another run.
  const waits = unfinished.flatMap(
    (row) => (needsPerson(row) ? { run: id, row: rowName(row) } : row.outcome?.reason?.waitsFor) ?? [],
  );
  const [firstWait] = waits;
  const isWaiting = waits.length === unfinished.length && unwritten !== 'rejects';
  if (firstWait?.row !== undefined && isWaiting) {
    const createRow = rows.find((row) => row.id === undefined && needsPerson(row));
    return settleStep(
      context,
      firstWait.run,
      firstWait.row,
      createRow && followUpCommand(context, showCommand(nouns[noun], createRow)),
    );
  }
  const words = undoes === null ? ['resume', id] : ['undo', undoes];
  // Another file, because the one of this session could not be written.
  const rejects = unwritten === 'rejects' ? ['--rejects', '<file>'] : [];
  const command = followUpCommand(
    context,
    firstWait && isWaiting ? ['undo', firstWait.run] : [...words, ...rejects],
  );
  return { command, hint: `go on with: ${command}` };
}

/**
 * Returns the step in which a person says what happened to a row.
 *
 * @param row its name: see `rowName`.
 * @param findCommand the command that finds the record of the row, if its id is unknown.
 */
export function settleStep(context: Context, run: string, row: string, findCommand?: string): NextStep {
  // A row that is named by its line has created a record, whose id the person must give.
  const name = row.startsWith('line:') ? `${row}=<id>` : row;
  const command = followUpCommand(context, ['runs', 'settle', run, name, '--as', 'applied']);
  const firstStep =
    findCommand === undefined ? 'look at the record, and' : `look for the record: ${findCommand}; then`;
  return { command, hint: `${firstStep} say what happened: ${command}, or --as failed` };
}

/** Returns the command that applies a file of rejects, with the flags of the run. */
export function rejectsLine(context: Context, header: RunHeader, file: string): string {
  const { kind, noun, delivery } = header;
  if (noun !== 'inventory') return followUpCommand(context, [noun, kind, '--from', file]);
  // The file has only rows of the shard, and the user looks at the invalid ones.
  const { map, shard, skipInvalid, ...settings } = header.flags;
  const flags = Object.entries({ ...settings, delivery }).flatMap(([name, setting]) => {
    if (typeof setting === 'string') return [flagName(name), setting];
    return setting ? [flagName(name)] : [];
  });
  const columns = Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]);
  return followUpCommand(context, ['inventory', 'apply', file, ...columns, ...flags]);
}
