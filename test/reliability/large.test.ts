import { expect, test } from 'vitest';
import { answerJson, misbehave } from '../helpers/misbehaving-server.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';

test('a page of 150,000 categories is read like any other', async () => {
  const categories = Array.from({ length: 150_000 }, (_, id) => ({ id, name: `Kind ${id}` }));
  await using server = await recordingServer({ '/categories': categories }, () => ({ body: [] }));
  const run = await runCli(['pets', 'list', '--category', 'kind 149999', '--base-url', server.url]);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(server.calls()).toContain('GET /pets?categoryId=149999');
}, 30_000);

/** Nearly 60 MiB, with one number that a double cannot hold. */
function hugePage(): string {
  const rows = Array.from(
    { length: 950_000 },
    (_, id) => `{"petId":${id},"quantity":1,"status":"available"}`,
  );
  return `[${rows.join(',')},{"petId":12345678901234567,"quantity":1,"status":"sold"}]`;
}

test('reading a huge page ends at the deadline, and at a signal', async () => {
  const page = hugePage();
  await using server = await misbehave({ onRequest: (exchange) => answerJson(exchange, page) });
  const list = ['inventory', 'list', '-o', 'ids', '--base-url', server.url, '--retries', '0'];
  const late = await outcomeOf(startCli([...list, '--timeout', '1s']));
  expect(late).toMatchObject({ code: 6, stdout: '' });
  expect(late.stderr).toContain('no answer within 1 s');
  expect(late.milliseconds).toBeLessThan(4000);
  const child = startCli([...list, '--timeout', '60s']);
  const outcome = outcomeOf(child);
  while (server.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const signalled = performance.now();
  child.kill('SIGINT');
  expect((await outcome).code).toBe(130);
  expect(performance.now() - signalled).toBeLessThan(3000);
}, 60_000);

test('every digit of a huge page is kept', async () => {
  const page = hugePage();
  await using server = await misbehave({ onRequest: (exchange) => answerJson(exchange, page) });
  const run = await outcomeOf(
    startCli(['inventory', 'list', '-o', 'ids', '--base-url', server.url, '--timeout', '60s']),
  );
  expect(run.code).toBe(0);
  expect(run.stdout.endsWith('\n12345678901234567\n')).toBe(true);
}, 60_000);
