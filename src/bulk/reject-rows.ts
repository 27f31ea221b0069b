import { textColumn } from '../input/field-columns.ts';
import { type Reject, writeRejects } from '../input/rejects.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { FileName } from '../process/files.ts';
import type { Row } from '../writes/decide.ts';
import { shownCode } from '../writes/reasons.ts';
import { isFields } from '../writes/value.ts';
import { countFieldsOf } from './count-layout.ts';
import { failureCodeOf, isLeft, type Run } from './run.ts';

/**
 * Writes the rejects of a session, if there are any. A row whose reject an earlier session has written is written again only
 * if it failed in another way.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
 */
export function writeRunRejects(run: Run, file: FileName): string | undefined {
  const { format } = run.header;
  const rejects = toRejects(run);
  if (rejects.length === 0) return undefined;
  return writeRejects(file, format, rejects, run.originals);
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
    const { state, line } = row;
    if (state.at !== 'settled' || state.outcome.state !== 'failed') continue;
    if (isOnce && isLeft(row)) continue;
    if (rejected?.get(row) === failureCodeOf(row)) continue;
    const { reason } = state.outcome;
    rejects.push({
      line,
      state: 'failed',
      reason: reason && { ...reason, code: shownCode(reason) },
      fields: rejectFields(row),
    });
  }
  return rejects;
}

/** The columns that the command reads, with the values of a row. */
function rejectFields({ id, intent }: Row): Reject['fields'] {
  const fields = intent.kind === 'create' ? intent.fields : intent.kind === 'set' ? intent.value : null;
  if (fields !== null && isFields(fields)) {
    const entries = Object.entries(fields).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined,
    );
    return { ...(id === undefined ? {} : { id }), ...Object.fromEntries(entries) };
  }
  if (intent.kind === 'remove' || intent.kind === 'create' || id === undefined)
    return id === undefined ? {} : { id };
  return countFieldsOf({ id, intent });
}

function toInvalidReject({ line, text, message }: Run['invalid'][number]): Reject {
  return { line, state: 'invalid', reason: { code: 'invalid', message }, fields: { [textColumn]: text } };
}
