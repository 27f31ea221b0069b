import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { smoke, smokeOf } from './run.ts';
import { type Change, on, startService, withBody } from './service.ts';

const late =
  (ms: number): Change =>
  async (answer) =>
    setTimeout(ms, answer);

describe.concurrent('time', () => {
  test('--timeout limits one call, so a check of many slow calls passes', async () => {
    const run = await smokeOf(late(60), ['--write', '--timeout', '2s', '--only', 'write/*']);
    expect(run.code).toBe(0);
    expect(run.requests.length * 60).toBeGreaterThan(2000);
  });

  test('--max-time stops the checks, skips the checks that have not begun, and fails', async () => {
    const run = await smokeOf(late(200), ['--max-time', '900ms']);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['run/complete']);
    const reason = 'the time of 900 ms is over (--max-time)';
    expect(run.check('run/complete').reason).toBe(reason);
    expect(run.check('error/not-found')).toMatchObject({ result: 'skip', reason });
  });

  test('records that were written before --max-time are removed', async () => {
    await using service = await startService({ spoil: on(/^\/categories\//, () => 'hang', 'PUT') });
    const count = service.store.categories.all.length;
    const flags = ['--write', '--only', 'write/category', '--max-time', '3s', '--timeout', '1m'];
    const run = await smoke(service.url, flags);
    expect(run.code).toBe(7);
    expect(run.check('write/cleanup')).toMatchObject({ result: 'pass', reason: '1 removed' });
    expect(service.store.categories.all.length).toBe(count);
  });
});

test('a very long answer does not keep a signal from ending the command', async () => {
  const io = fakeIo();
  const pets = Array.from({ length: 60_000 }, (_, index) => ({
    ...{ id: index + 1, name: `Pet ${index + 1}`, categoryId: 1, status: 'available' },
  }));
  await using service = await startService({
    spoil: on('/pets', (answer) => {
      void setTimeout(50).then(() => io.raise('SIGTERM'));
      return withBody(answer, pets);
    }),
  });
  expect(await main(['smoke', '--base-url', service.url], io)).toBe(143);
  expect(io.written('stdout')).toMatch(/^fail {3}run\/complete: stopped by SIGTERM$/m);
});
