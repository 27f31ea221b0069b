import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import type { FileName } from '../process/files.ts';
import { shownCode } from '../writes/reasons.ts';
import { isReject, type Run } from './run.ts';

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
export type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, if there are any: those that no earlier session has written.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
 */
export function writeRunRejects(run: Run, { folder, name: given }: RejectsFile): string | undefined {
  const { header, rows, invalid, rejected } = run;
  const { format, columns, name, file: path } = header;
  const rejects: Reject[] = rejected
    ? []
    : invalid.map(({ line, text, message }) => ({
        ...{ line, text, state: 'invalid' },
        reason: { code: 'invalid', message },
      }));
  for (const row of rows) {
    const { state, line, text = '' } = row;
    if (state.at !== 'settled' || !isReject(run, row) || rejected?.has(line)) continue;
    const { reason } = state.outcome;
    rejects.push({ line, text, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) } });
  }
  if (rejects.length === 0) return undefined;
  const file = { folder, name: given ?? rejectsName({ name, path: path ?? undefined }, format) };
  return writeRejects(file, format, columns, rejects);
}
