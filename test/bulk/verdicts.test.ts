import { expect, test } from 'vitest';
import { recordShop } from '../helpers/record-shop.ts';

// One function writes: for the same service, a command on one record and a run give the same verdict, and a true one. The tables of
// `decide` and `next` have the rules; here each verdict on an answer passes through both commands once.

const page = '<html><title>Backend fetch failed</title></html>';

/** How the first write is answered, whether the service has done it, and what becomes of the row. */
type Answer = readonly [status: number | 'reset', isDone: boolean, verdict: string, body?: unknown];
const answers: readonly Answer[] = [
  ...[404, 409, 412, 422, 429, 501].map((status) => [status, false, 'failed'] as const),
  ...(['reset', 406, 502] as const).flatMap((status) => [
    [status, true, 'applied'] as const,
    [status, false, 'unknown'] as const,
  ]),
  [404, true, 'applied', page],
  [404, false, 'unknown', page],
  [200, true, 'applied', { success: true }],
  [200, false, 'unknown', { success: true }],
  [202, true, 'unknown', { success: true }],
];

/** Of a command on one record, and of a run with a file. */
const writes: readonly (readonly [single: string, run: string, file: string])[] = [
  ['inventory set 1 8', 'inventory apply file.csv', 'petId,quantity\n1,8\n'],
  ['inventory adjust 1 +3', 'inventory apply file.csv --relative --delivery LS-1', 'petId,change\n1,+3\n'],
  ['pets update 1 --name Rex', 'pets update --from file.csv', 'id,name\n1,Rex\n'],
  ['pets create --name Rex --category 1', 'pets create --from file.csv', 'name,categoryId\nRex,1\n'],
  ['pets delete 1', 'pets delete --from file.csv', 'id\n1\n'],
];

const cases = writes.flatMap(([single, run, file]) =>
  answers.map(([status, isDone, verdict, body]) => {
    // No reading can show a record whose id no answer told.
    const ends = verdict === 'applied' && single.startsWith('pets create') ? 'unknown' : verdict;
    return { single, run, file, status, isDone, body, ends };
  }),
);

test.each(cases)(
  '$single and $run, answered $status $body, done: $isDone, end as $ends',
  async ({ single, run, file, status, isDone, body, ends }) => {
    const states = ['applied', 'failed', 'unknown'];
    for (const line of [single, run]) {
      await using shop = await recordShop({
        '/pets': [{ id: 1, name: 'Luna', categoryId: 1, status: 'available' }],
        '/categories': [{ id: 1, name: 'Dogs' }],
        '/store/inventory': [{ petId: 1, quantity: 5, status: 'available' }],
      });
      shop.write('file.csv', file);
      shop.misbehave = ({ method, perform }) => {
        if (method === 'GET' || shop.writes().length > 1) return undefined;
        if (isDone) perform();
        if (status === 'reset') return status;
        const headers = { 'content-type': body === page ? 'text/html' : 'application/json' };
        return { status, headers, body: body ?? { code: 'no', message: 'no', status } };
      };
      const { code, error, ...report } = await shop.report(`${line} --yes --retries 0`);
      const { applied = code === 0 ? 'applied' : 'failed' } = { ...error };
      const found = line === single ? [applied] : states.filter((state) => report[state] === 1);
      expect(found, line).toEqual([ends]);
    }
  },
);
