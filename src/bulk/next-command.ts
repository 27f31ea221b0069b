import { type Context, followUpCommand } from '../context.ts';
import { flagName } from '../process/text.ts';
import { isForPerson, isForSession } from './row-state.ts';
import { type Run, rowName } from './run.ts';
import type { RunHeader } from './run-header.ts';

/** The command that brings a run nearer to its end. */
export type NextCommand =
  /** `needsRejects`: the session could not write its rejects, so the next one needs another file. */
  | { readonly kind: 'resume' | 'undo'; readonly run: string; readonly needsRejects?: boolean }
  /** A person says what happened to a row. `row` is its name, as `rowName` makes it. */
  | { readonly kind: 'settle'; readonly run: string; readonly row: string };

/** Finds the command for a run whose rows are known, or undefined if the run is finished. */
export function findNextCommand({ id = '', header, rows }: Run): NextCommand | undefined {
  const unfinished = rows.filter((row) => isForSession(row) || isForPerson(row));
  if (unfinished.length === 0) return undefined;
  // Each row may wait for a person or for another run.
  const waiting = unfinished.flatMap((row): NextCommand[] => {
    if (isForPerson(row)) return [{ kind: 'settle', run: id, row: rowName(row) }];
    const { run, row: name } = row.outcome?.reason?.waitsFor ?? {};
    if (run === undefined) return [];
    return [name === undefined ? { kind: 'undo', run } : { kind: 'settle', run, row: name }];
  });
  return waiting.length === unfinished.length ? waiting[0] : goOnCommand({ id, header });
}

/** Returns the command that goes on with a run, whatever its rows wait for. */
export function goOnCommand({
  id = '',
  header: { undoes },
}: Pick<Run, 'id' | 'header'>): Extract<NextCommand, { kind: 'resume' | 'undo' }> {
  return undoes === null ? { kind: 'resume', run: id } : { kind: 'undo', run: undoes };
}

/** Writes the command as a line to type. */
export function nextLine(context: Context, next: NextCommand): string {
  if (next.kind !== 'settle') {
    const rejects = next.needsRejects ? ['--rejects', '<file>'] : [];
    return followUpCommand(context, [next.kind, next.run, ...rejects]);
  }
  const { run, row } = next;
  // A row that is named by its line has created a record, whose id the person must give.
  const name = row.startsWith('line:') ? `${row}=<id>` : row;
  return followUpCommand(context, ['runs', 'settle', run, name, '--as', 'applied']);
}

/**
 * Returns the hint that tells the user to run the command.
 *
 * @param look the command that finds the record of the row, if its id is not known.
 */
export function nextHint(context: Context, next: NextCommand, look?: string): string {
  const line = nextLine(context, next);
  if (next.kind !== 'settle') return `go on with: ${line}`;
  const first = look === undefined ? 'look at the record, and' : `look for the record: ${look}; then`;
  return `${first} say what happened: ${line}, or --as failed`;
}

/** Returns the command that applies a file of rejects, with the flags of the run. */
export function rejectsLine(context: Context, header: RunHeader, file: string): string {
  const { kind, noun, delivery } = header;
  if (kind === 'create' || kind === 'update' || kind === 'delete')
    return followUpCommand(context, [noun, kind, '--from', file]);
  // The file has only rows of the shard, and the user looks at the invalid ones.
  const { map, shard, skipInvalid, ...settings } = header.flags;
  const flags = Object.entries({ ...settings, delivery }).flatMap(([name, setting]) => {
    if (typeof setting === 'string') return [flagName(name), setting];
    return setting ? [flagName(name)] : [];
  });
  const columns = Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]);
  return followUpCommand(context, ['inventory', 'apply', file, ...columns, ...flags]);
}
