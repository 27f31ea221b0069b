import { nouns } from '../api/nouns.ts';
import { type Context, followUpCommand, lookUpCommand } from '../context.ts';
import { flagName } from '../process/text.ts';
import { reasonOf } from '../writes/row.ts';
import type { Run, RunHeader } from './run.ts';
import { isKnown, isResumable, needsPerson, rowName } from './run-row.ts';

/** The part of its end that a session could not write. */
export type UnwrittenPart = 'rejects' | 'end' | 'journal';

/** The next step with a run. */
interface FollowUp {
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
export function followUpOf(
  context: Context,
  { id = '', header, rows }: Pick<Run, 'id' | 'header' | 'rows'>,
  unwritten?: UnwrittenPart,
): FollowUp | undefined {
  const { noun, undoes } = header;
  const goOn = (...words: readonly string[]) => {
    const command = followUpCommand(context, words);
    return { command, hint: `continue with: ${command}` };
  };
  const { rate, concurrency } = context.flags;
  const pace = Object.entries({ rate, concurrency }).flatMap(([name, value]) =>
    value === undefined ? [] : [flagName(name), value],
  );
  const again = [...(undoes === null ? ['resume', id] : ['undo', undoes]), ...pace];
  if (unwritten === 'journal') return undefined;
  // Another file, because this session could not write its file.
  if (unwritten === 'rejects') return goOn(...again, '--rejects', '<file>');
  const openRows = rows.filter((row) => isResumable(row) || needsPerson(row));
  if (unwritten === undefined && openRows.length === 0) return undefined;
  // A resume would do to the next row what was wrong with this one.
  const knownRow = openRows.find(isKnown);
  if (knownRow) return settleFollowUp(context, id, rowName(knownRow));
  // Each row may wait for a person or for another run.
  const waits = openRows.flatMap(
    (row) => (needsPerson(row) ? { run: id, row: rowName(row) } : reasonOf(row.state)?.waitsFor) ?? [],
  );
  const [firstWait] = waits;
  if (!firstWait || waits.length < openRows.length) return goOn(...again);
  if (firstWait.row === undefined) return goOn('undo', firstWait.run);
  const createRow = openRows.find((row) => row.id === undefined && rowName(row) === firstWait.row);
  const isOwn = createRow && firstWait.run === id;
  const findCommand = isOwn ? lookUpCommand(context, nouns[noun], createRow) : undefined;
  return settleFollowUp(context, firstWait.run, firstWait.row, findCommand);
}

/**
 * Returns the step in which a person says what happened to a row.
 *
 * @param row its name: see `rowName`.
 * @param findCommand the command that finds the record of the row, if its id is unknown.
 */
export function settleFollowUp(context: Context, run: string, row: string, findCommand?: string): FollowUp {
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
  // The file has only rows of the shard, so `shard` is left out. The user corrects the invalid rows, so `skipInvalid` is left out.
  const { map, shard, skipInvalid, field, ...settings } = header.flags;
  if (noun !== 'inventory') {
    const values = field.flatMap((text) => ['--field', text]);
    return followUpCommand(context, [noun, kind, '--from', file, ...values]);
  }
  const flags = Object.entries({ ...settings, delivery }).flatMap(([name, setting]) => {
    if (typeof setting === 'string') return [flagName(name), setting];
    return setting ? [flagName(name)] : [];
  });
  const columns = Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]);
  return followUpCommand(context, ['inventory', 'apply', file, ...columns, ...flags]);
}
