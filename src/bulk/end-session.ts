import { resolve } from 'node:path';
import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import { CliError, systemReason } from '../process/errors.ts';
import { shownCode } from '../writes/reasons.ts';
import { type Doubt, type Outcome, reasonOf } from '../writes/row.ts';
import type { UnwrittenPart } from './follow-up.ts';
import type { Journal } from './journal.ts';
import type { Report } from './report.ts';
import { isReject, type RunLog } from './run.ts';
import type { RunEvent } from './run-events.ts';
import type { RunRow } from './run-row.ts';

/** Keeps the last outcomes of a session, writes its rejects, and then its end into the journal. */
export function endSession(
  rowsToWrite: readonly RunRow[],
  journal: Journal,
  folder: string,
  rejectsFile?: string,
): Pick<Report, 'rejects' | 'unwritten'> {
  let part: UnwrittenPart | undefined;
  try {
    const interrupted = rowsToWrite.flatMap(({ line, state }): RunEvent | [] =>
      state.kind === 'unsettled' ? { kind: 'outcome', row: line, outcome: toUnknown(state.doubt) } : [],
    );
    journal.append(interrupted);
    journal.sync();
    // An end says that the rejects are written. If they cannot be written, it is left out, and a resume writes both.
    part = 'rejects';
    const rejects = writeNewRejects(journal.log, folder, rejectsFile);
    part = undefined;
    journal.appendEnd(rejects && resolve(folder, rejects));
    return { rejects, unwritten: undefined };
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : new CliError('failed', systemReason(thrown));
    return { rejects: undefined, unwritten: { error, part: journal.isInPlace ? part : 'journal' } };
  }
}

/**
 * Writes the rejects of a run that no earlier session has written.
 *
 * @param folder the current folder.
 * @param givenName the name of the file of rejects. By default they go beside the input: see `rejectsName`.
 * @returns the name of the file, with a number if the name was in use, or undefined if there are no rejects.
 * @throws CliError `failed`, or the error of the system.
 */
function writeNewRejects(
  { header, rows, invalid, rejectedLines }: RunLog,
  folder: string,
  givenName?: string,
): string | undefined {
  const { format, columns, name, file: path } = header;
  const rejects: Reject[] = [];
  for (const { line, text, message } of invalid)
    if (!rejectedLines.has(line))
      rejects.push({ line, text, state: 'invalid', reason: { code: 'invalid', message } });
  for (const row of rows) {
    const { line, text = '' } = row;
    if (!isReject(header, row) || rejectedLines.has(line)) continue;
    const reason = reasonOf(row.state);
    rejects.push({ line, text, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) } });
  }
  const file = { folder, name: givenName ?? rejectsName({ name, path }, format, folder) };
  return rejects.length > 0 ? writeRejects(file, format, columns, rejects) : undefined;
}

function toUnknown(doubt: Doubt): Outcome {
  const message = 'an earlier command may have sent it, and petstore was stopped before it read the record';
  return { kind: 'unknown', reason: { code: 'interrupted', message }, doubt };
}
