import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import type { FileName } from '../process/files.ts';
import { shownCode } from '../writes/reasons.ts';
import { failureCodeOf, isLeft, type Run } from './run.ts';

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
export type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, if there are any. A row whose reject an earlier session has written is written again only
 * if it failed in another way.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
 */
export function writeRunRejects(run: Run, { folder, name: given }: RejectsFile): string | undefined {
  const { format, columns, name, file: path } = run.header;
  const rejects = toRejects(run);
  if (rejects.length === 0) return undefined;
  const file = { folder, name: given ?? rejectsName({ name, path: path ?? undefined }, format) };
  return writeRejects(file, format, columns, rejects);
}

/**
 * The rows to correct by hand: they failed or are invalid. In a run that adds or creates, rows that `resume` tries again are
 * not rejects, because a row must not be done both ways. An undo has no rejects. Unknown rows are none: `resume` takes them.
 */
function toRejects({ header, rows, invalid, rejected }: Run): Reject[] {
  if (header.kind === 'undo') return [];
  const rejects: Reject[] = rejected ? [] : invalid.map(toInvalidReject);
  const isOnce = header.flags.relative || header.kind === 'create';
  for (const row of rows) {
    const { state, line, text = '' } = row;
    if (state.at !== 'settled' || state.outcome.state !== 'failed') continue;
    if (isOnce && isLeft(row)) continue;
    if (rejected?.get(row.line) === failureCodeOf(row)) continue;
    const { reason } = state.outcome;
    rejects.push({ line, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) }, text });
  }
  return rejects;
}

function toInvalidReject({ line, text, message }: Run['invalid'][number]): Reject {
  return { line, state: 'invalid', reason: { code: 'invalid', message }, text };
}
