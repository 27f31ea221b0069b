import type { Row } from './decide.ts';
import type { Attempted, Reading, RecordPort } from './port.ts';

/**
 * Proves a reading: writes what it shows, on the condition of its own strong ETag. Twice is once, so nothing changes if the
 * reading is current. Without a condition nothing is sent, and the reading is believed.
 *
 * If an undo reads that there is no record, a DELETE with the ETag of the answer that created it proves that: the service's
 * own 404 or 410 says so, and a success has taken the record back.
 *
 * @returns `refused` if the condition does not hold (412): the reading was old. An attempt that proves nothing is returned.
 */
export async function prove(
  port: RecordPort,
  row: Row,
  reading: Reading,
  spentMs?: number,
): Promise<'proved' | 'removed' | 'refused' | Attempted> {
  if (row.id === undefined) return 'proved';
  const etag = createdTagOf(row);
  if (!reading.record && (etag === undefined || !port.canRemove)) return 'proved';
  const planned = { action: 'remove', before: null, after: null } as const;
  const write = reading.record
    ? port.rewrite(row, reading)
    : await port.write(row, planned, { record: undefined, etag }, spentMs);
  if (!write.conditions) return 'proved';
  const attempted = await port.send(write, spentMs);
  if (reading.record) return verdictOf(attempted);
  if (attempted.result === 'shown') return 'removed';
  return isGone(attempted) ? 'proved' : verdictOf(attempted);
}

/** The strong ETag of the answer that created the record of a row of an undo. */
function createdTagOf({ intent }: Row): string | undefined {
  return intent.kind === 'remove' ? intent.createdTag : undefined;
}

/** Whether the service itself says that the record is not there. */
function isGone({ result, status }: Attempted): boolean {
  return result === 'refused' && (status === 404 || status === 410);
}

function verdictOf(attempted: Attempted): 'proved' | 'refused' | Attempted {
  if (attempted.result === 'shown') return 'proved';
  return attempted.status === 412 ? 'refused' : attempted;
}
