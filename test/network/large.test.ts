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

/** One record has a number that a double cannot hold. */
function page(length: number): string {
  const rows = Array.from({ length }, (_, id) => `{"petId":${id},"quantity":1,"status":"available"}`);
  return `[${rows.join(',')},{"petId":12345678901234567,"quantity":1,"status":"sold"}]`;
}

test('a page that is longer than 32 MiB is refused', async () => {
  const long = page(700_000);
  await using server = await misbehave({ onRequest: (exchange) => answerJson(exchange, long) });
  const run = await runAt(server, 'inventory list -o ids --retries 0');
  expect(run).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('longer than 32 MiB') });
});

test('every digit of a large page is kept', async () => {
  const large = page(50_000);
  await using server = await misbehave({ onRequest: (exchange) => answerJson(exchange, large) });
  const { code, stdout } = await runAt(server, 'inventory list -o ids --timeout 60s');
  expect(code).toBe(0);
  expect(stdout.endsWith('\n12345678901234567\n')).toBe(true);
});
