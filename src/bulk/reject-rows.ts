import type { Reject } from '../input/rejects.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Row } from './decide.ts';
import { isLeft } from './rows.ts';
import type { Run } from './run.ts';

/**
 * The rows that belong into the rejects of this session: those that were settled since the last end of the run and are
 * not as the file says, in the order of their lines. Of a run that adds only those that failed for a reason of their
 * own, because `resume` takes the others, and two ways to book a row would book it twice. An undo has none.
 */
export function rejectsOf({ header, rows, invalid, earlier }: Run): Reject[] {
  if (header.kind === 'undo') return [];
  const rejects: Reject[] = earlier?.hasEnded ? [] : invalid.map(toInvalidReject);
  for (const row of rows) {
    const { outcome } = row;
    if (outcome?.state !== 'failed' && outcome?.state !== 'unknown') continue;
    if (earlier?.rows.get(row.id)?.reported === outcome) continue;
    if (header.flags.relative && (outcome.state === 'unknown' || isLeft(row))) continue;
    const { line, id } = row;
    rejects.push({ line, id, state: outcome.state, reason: outcome.reason, fields: fieldsOf(row) });
  }
  return rejects.sort((a, b) => a.line - b.line);
}

function toInvalidReject({ line, column, message, fields = {} }: Run['invalid'][number]): Reject {
  const reason = { code: 'invalid', message };
  return { line, column, state: 'invalid', reason, fields: fields as Readonly<Record<string, JsonValue>> };
}

/** The columns that the command reads. */
function fieldsOf({ id, intent }: Row): Readonly<Record<string, JsonValue>> {
  if (intent.kind === 'add') return { petId: id, change: intent.change };
  const { value, expected } = intent;
  if (typeof value === 'object') return { id, ...value };
  return { petId: id, quantity: value, ...(expected !== undefined && { expected: expected as number }) };
}
