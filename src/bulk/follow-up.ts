import { nouns } from '../api/nouns.ts';
import { type CommandFlags, followUpCommand, showCommand } from '../context.ts';
import { countText, flagName } from '../process/text.ts';
import { isOpen } from './list-runs.ts';
import { type Run, shardName } from './run.ts';
import { hasStoppedRun, type RunRow, rowName, waitingFor } from './run-row.ts';

/** What a session could not write, if the next step depends on it. */
export type UnwrittenPart = 'rejects' | 'journal';

interface FollowUp {
  readonly command: string;
  readonly hint: string;
}

/** Finds the next step with a run that is open. @param unwritten what its last session could not write. */
export function followUpOf(
  context: CommandFlags,
  run: Run,
  rows: readonly RunRow[],
  unwritten?: UnwrittenPart,
): FollowUp | undefined {
  const { id, header } = run;
  const { noun, undoes } = header;
  const continueWith = (...words: readonly string[]) => {
    const command = followUpCommand(context, words);
    return { command, hint: `continue with: ${command}` };
  };
  const again = undoes === undefined ? ['resume', id] : ['undo', undoes];
  if (!isOpen(run) || unwritten === 'journal') return undefined;
  // The file of rejects could not be written, so the user names another.
  if (unwritten === 'rejects') return continueWith(...again, '--rejects', '<file>');
  const openRows = rows.flatMap((row) => {
    const wait = waitingFor(row);
    return wait === undefined ? [] : [{ row, wait }];
  });
  // A resume would send the next count to a service that adds.
  const added = rows.find(hasStoppedRun);
  if (added) return byHandFollowUp(context, id, [rowName(added)]);
  const first = openRows[0]?.row;
  if (!first || openRows.some(({ wait }) => wait === 'resume')) {
    const { command, hint } = continueWith(...again);
    if (!first || openRows.some((open) => open.row.state.kind !== 'unknown')) return { command, hint };
    const byHand = byHandFollowUp(context, id, [rowName(first)]);
    return { command, hint: `${hint}; if it stays unknown, ${byHand.hint}` };
  }
  const waits = openRows.map(({ row, wait }) =>
    typeof wait === 'object' ? wait : { run: id, row: rowName(row) },
  );
  const [{ run: runId, row } = { run: id }] = waits;
  if (row === undefined) return continueWith('undo', runId);
  const findCommand =
    runId === id && first.id === undefined ? showCommand(context, nouns[noun], first) : undefined;
  const names = waits.flatMap((wait) => (wait.run === runId ? (wait.row ?? []) : []));
  return byHandFollowUp(context, runId, names, findCommand);
}

const maxNames = 10;

/**
 * Returns the step in which a person says what happened to rows.
 *
 * @param rows their names: see `rowName`.
 * @param findCommand the command that finds the record of the first row, if its id is unknown.
 */
export function byHandFollowUp(
  context: CommandFlags,
  run: string,
  [first = '', ...others]: readonly string[],
  findCommand?: string,
): FollowUp {
  // A row that is named by its line has created a record, whose id the person must give. Each such record is looked for by itself.
  const names = first.startsWith('line:')
    ? [`${first}=<id>`]
    : [first, ...others.filter((name) => !name.startsWith('line:'))].slice(0, maxNames);
  const command = followUpCommand(context, ['runs', 'settle', run, ...names, '--as', 'applied']);
  const records = names.length > 1 ? 'records' : 'record';
  const firstStep =
    findCommand === undefined ? `look at the ${records}, then` : `look for the record: ${findCommand}; then`;
  const otherCount = others.length + 1 - names.length;
  const rest =
    otherCount > 0 ? `; ${countText(otherCount, 'more row', 'more rows')} must be settled too` : '';
  return { command, hint: `${firstStep} say what happened: ${command}, or the same with --as failed${rest}` };
}

/** Returns the command that applies a file of rejects, with the flags of the run. */
export function rejectsCommand(context: CommandFlags, { header, counts }: Run, file: string): string {
  const { kind, noun, delivery } = header;
  // The user corrects the invalid rows, so `skipInvalid` is left out. The shard is kept only for a delivery: others may have booked the other shards.
  const { map = {}, shard, skipInvalid, ...settings } = header.flags;
  if (noun !== 'inventory') return followUpCommand(context, [noun, kind, '--from', file]);
  const flags = Object.entries({ ...settings, delivery }).flatMap(([name, setting]) => {
    if (typeof setting === 'string') return [flagName(name), setting];
    return setting ? [flagName(name)] : [];
  });
  // An invalid record that is corrected may belong to any shard.
  if (shard && delivery !== undefined)
    flags.push('--shard', counts.invalid > 0 ? `<i>/${shard.count}` : shardName(shard));
  const columns = Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]);
  return followUpCommand(context, ['inventory', 'apply', file, ...columns, ...flags]);
}
