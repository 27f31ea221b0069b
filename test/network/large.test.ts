import { expect, test } from 'vitest';
import { answerJson, misbehave } from '../helpers/misbehaving-server.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';

test('a page of 150,000 categories is read', async () => {
  const categories = Array.from({ length: 150_000 }, (_, id) => ({ id, name: `Kind ${id}` }));
  await using server = await recordingServer({ '/categories': categories }, () => ({ body: [] }));
  const run = await runAt(server, ['pets', 'list', '--category', 'kind 149999']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(server.calls()).toContain('GET /pets?categoryId=149999&limit=1000');
});

test('every digit of a large page is kept', async () => {
  const rows = Array.from({ length: 50_000 }, (_, id) => `{"petId":${id},"quantity":1,"status":"available"}`);
  const large = `[${rows.join(',')},{"petId":12345678901234567,"quantity":1,"status":"sold"}]`;
  await using server = await misbehave({ onRequest: (exchange) => answerJson(exchange, large) });
  const { code, stdout } = await runAt(server, 'inventory list -o ids --timeout 60s');
  expect(code).toBe(0);
  expect(stdout.endsWith('\n12345678901234567\n')).toBe(true);
});
