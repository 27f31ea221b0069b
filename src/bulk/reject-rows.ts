import { type Reject, writeRejects } from '../input/rejects.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { FileName } from '../process/new-file.ts';
import { countFieldsOf } from './count-layout.ts';
import { isRetriable } from './rows.ts';
import type { Run } from './run.ts';

/**
 * Writes the rejects of a session, if there are any.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
 */
export async function writeRunRejects(run: Run, file: FileName): Promise<string | undefined> {
  const { format, flags } = run.header;
  const rejects = toRejects(run);
  if (rejects.length === 0) return undefined;
  return writeRejects(file, format, rejects, flags.sum ? undefined : run.input);
}

/**
 * The rows to correct by hand: the session has settled them, and they failed, are unknown or invalid. In a run that adds,
 * rows that `resume` processes again are not rejects, because a row must not be booked both ways. An undo has no rejects.
 */
function toRejects({ header, rows, invalid, journal }: Run): Reject[] {
  if (header.kind === 'undo') return [];
  const rejects: Reject[] = journal?.hasEnded ? [] : invalid.map(toInvalidReject);
  for (const row of rows) {
    const { outcome } = row;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') continue;
    if (journal?.rows.get(row.id)?.outcomeAtEnd === outcome) continue;
    if (header.flags.relative && (outcome.state === 'unknown' || isRetriable(row))) continue;
    const { line, id, intent } = row;
    const isRecord = intent.kind === 'set' && typeof intent.value === 'object';
    const fields = isRecord ? { id, ...intent.value } : countFieldsOf(row);
    rejects.push({ line, id, state: outcome.state, reason: outcome.reason, fields });
  }
  return rejects;
}

function toInvalidReject({ line, message, fields = {} }: Run['invalid'][number]): Reject {
  const reason = { code: 'invalid', message };
  return { line, state: 'invalid', reason, fields: fields as Readonly<Record<string, JsonValue>> };
}
