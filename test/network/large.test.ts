import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';

test('a page of 150,000 categories is read', async () => {
  const categories = Array.from({ length: 150_000 }, (_, id) => ({ id, name: `Kind ${id}` }));
  await using server = await recordingServer({ '/categories': categories }, () => ({ body: [] }));
  const run = await runAt(server, ['pets', 'list', '--category', 'kind 149999']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(server.calls()).toContain('GET /pets?categoryId=149999&limit=1000');
});
