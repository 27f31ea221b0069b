import { type Reject, writeRejects } from '../input/rejects.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { FileName } from '../process/new-file.ts';
import { countFieldsOf } from './count-layout.ts';
import { isLeft } from './rows.ts';
import type { Run } from './run.ts';

/**
 * Writes the rejects of a session, if there are any.
 *
 * @returns the name of the file, with a number if the name was in use.
 */
export async function writeRejectsOf(run: Run, file: FileName): Promise<string | undefined> {
  const { format, flags } = run.header;
  const rejects = rejectsOf(run);
  if (rejects.length === 0) return undefined;
  return writeRejects(file, format, rejects, flags.sum ? undefined : run.original);
}

/**
 * The rows to correct by hand: they were settled since the last end of the run, and failed, are unknown or invalid. A run
 * that adds has fewer: `resume` books the rest, and a row must not be booked both ways. An undo has none.
 */
function rejectsOf({ header, rows, invalid, journal }: Run): Reject[] {
  if (header.kind === 'undo') return [];
  const rejects: Reject[] = journal?.hasEnded ? [] : invalid.map(toInvalidReject);
  for (const row of rows) {
    const { outcome } = row;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') continue;
    if (journal?.rows.get(row.id)?.outcomeAtEnd === outcome) continue;
    if (header.flags.relative && (outcome.state === 'unknown' || isLeft(row))) continue;
    const { line, id, intent } = row;
    const isRecord = intent.kind === 'set' && typeof intent.value === 'object';
    const fields = isRecord ? { id, ...intent.value } : countFieldsOf(row);
    rejects.push({ line, id, state: outcome.state, reason: outcome.reason, fields });
  }
  return rejects;
}

function toInvalidReject({ line, column, message, fields = {} }: Run['invalid'][number]): Reject {
  const reason = { code: 'invalid', message };
  return { line, column, state: 'invalid', reason, fields: fields as Readonly<Record<string, JsonValue>> };
}
