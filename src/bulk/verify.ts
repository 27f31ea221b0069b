import type { Ledger } from './ledger.ts';
import { type CountReading, readCounts } from './read-counts.ts';

/**
 * Reads back every row that is applied, unchanged or unknown, and corrects what is not as the file says; gives how many
 * rows were looked at.
 */
export async function verifyRows(
  options: Omit<CountReading, 'rows' | 'isWanted' | 'found' | 'missing'> & { readonly ledger: Ledger },
): Promise<number> {
  const { ledger } = options;
  const { rows } = ledger;
  let looked = 0;
  const isWanted = (row: number) => ['applied', 'unchanged', 'unknown'].includes(rows.state(row));
  const differs = (row: number, found: string) => {
    const message = `read back ${found}, not ${rows.quantity(row) ?? 'no entry'}`;
    ledger.correct(row, { state: 'failed', code: 'not_as_written', message });
  };
  await readCounts({
    ...options,
    rows,
    isWanted,
    found(row, count) {
      looked += 1;
      if (count !== rows.quantity(row)) differs(row, String(count));
      else if (rows.isState(row, 'unknown')) ledger.correct(row, { state: 'applied' });
    },
    missing(row) {
      looked += 1;
      if (rows.quantity(row) !== null) differs(row, 'no entry');
      else if (rows.isState(row, 'unknown')) ledger.correct(row, { state: 'applied' });
    },
  });
  return looked;
}
