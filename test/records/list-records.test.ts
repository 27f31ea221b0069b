import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';

const bodies: Readonly<Record<string, readonly object[]>> = {
  '/pets': [
    { id: 1, name: 'A', categoryId: 1 },
    { id: 2, name: 'B', categoryId: 2, status: 'sold' },
    { id: 3, name: 'C', categoryId: 2, status: 'pending' },
  ],
  '/store/orders': [{ id: 1, petId: 1, complete: true }, { id: 2, petId: 2, complete: false }, { id: 3 }],
  '/store/inventory': [
    { petId: 4, quantity: 1, status: 'available' },
    { petId: 5, quantity: 9, status: 'sold' },
  ],
};

test.each([
  ['pets list --status sold', '/pets?status=sold&limit=1000', '2'],
  ['pets list --status available', '/pets?status=available&limit=1000', '1'],
  ['pets list --category 2 --limit 1', '/pets?categoryId=2&limit=1', '2'],
  ['orders list --complete', '/store/orders?complete=true&limit=1000', '1'],
  ['orders list --open', '/store/orders?complete=false&limit=1000', '2 3'],
  ['orders list --pet 2', '/store/orders?petId=2&limit=1000', '2'],
  ['inventory list --status sold', '/store/inventory?status=sold&limit=1000', '5'],
])('filters here if the service ignores its own filters: %s', async (words, path, ids) => {
  await using server = await recordingServer({}, (seen) => ({ body: bodies[seen.path.split('?')[0] ?? ''] }));
  const run = await runCli([...words.split(' '), '-o', 'ids', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 0, stdout: ids.replace(/(\d+) ?/g, '$1\n') });
  expect(server.seen[0]?.path).toBe(path);
});
