import { expect, test } from 'vitest';
import { makePlan } from '../../src/bulk/plan.ts';
import { newRow } from '../../src/bulk/run.ts';
import { Pace } from '../../src/client/pace.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { Stop } from '../../src/process/signals.ts';
import type { RecordPort } from '../../src/writes/port.ts';

/** Plans rows that set pet n to n, against a list in which every pet has 4. Returns the lines of the plan. */
async function planned(fileIds: readonly number[], listIds: readonly number[]): Promise<string[]> {
  const rows = fileIds.map((id) => newRow({ line: id, id: BigInt(id), intent: { kind: 'set', value: id } }));
  const port: Partial<RecordPort> = {
    canList: true,
    canGet: false,
    async *list() {
      for (const petId of listIds) yield [{ petId, quantity: 4 }];
    },
    idOf: ({ petId }: JsonObject) => BigInt(petId as number),
    valueOf: (_, record) => (record ? (record.quantity as number) : null),
  };
  const plan = await makePlan(port as RecordPort, rows, {
    rules: { mayCreate: false, isUndo: false, createsByPut: true },
    claims: new Map(),
    pace: new Pace({ concurrency: 1, rate: null }, new Stop()),
    progress: { recordsRead: 0 },
  });
  return [...plan.rows].map(({ id, state }) =>
    state.at === 'settled' ? `${id} ${state.outcome.state}` : `${id} ${state.at}`,
  );
}

test.each([
  [[1, 2, 4, 6, 9]],
  [[1, 2, 2, 4, 6, 9]],
  [[9, 6, 4, 2, 1]],
  [[2, 9, 1, 4, 6]],
  [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
])('a plan finds every row in a list of the pets %j, in whichever order the rows are', async (listIds) => {
  const fates = ['1 planned', '2 planned', '3 planned', '4 unchanged', '8 failed', '9 planned'];
  const expected = fates.map((fate) => {
    const id = Number(fate.split(' ')[0]);
    return listIds.includes(id) ? fate.replace('failed', 'planned') : `${id} failed`;
  });
  expect(await planned([1, 2, 3, 4, 8, 9], listIds)).toEqual(expected);
  expect(await planned([9, 8, 4, 3, 2, 1], listIds)).toEqual(expected.toReversed());
});
