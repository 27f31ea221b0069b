import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { Store } from '../../src/server/store.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { smoke, smokeOf } from './run.ts';
import { type Change, on, refusal, startService, withFields } from './service.ts';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const late =
  (ms: number): Change =>
  async (answer) => {
    await sleep(ms);
    return answer;
  };

describe.concurrent('time', () => {
  test('--timeout is one call, so a check of many slow calls passes', async () => {
    const run = await smokeOf(late(250), ['--write', '--timeout', '2s', '--only', 'write/pet']);
    expect(run.code).toBe(0);
    expect(run.check('write/pet').result).toBe('pass');
  });

  test('--max-time ends the run, skips what has not run, and fails', async () => {
    const run = await smokeOf(late(200), ['--max-time', '900ms']);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['run/complete']);
    expect(run.check('run/complete').reason).toMatch(
      /^the time of 900 ms is over \(--max-time\) before \d+ checks$/,
    );
    expect(run.check('error/not-found')).toMatchObject({
      result: 'skip',
      reason: 'the time of 900 ms is over (--max-time)',
    });
  });

  test('what a run wrote before --max-time is removed', async () => {
    await using service = await startService({ spoil: late(100) });
    const { length } = service.store.categories.all;
    const flags = ['--write', '--only', 'write/category', '--max-time', '1s'];
    const run = await smoke(service.url, flags);
    expect(run.code).toBe(7);
    expect(run.check('write/cleanup').result).toBe('pass');
    expect(service.store.categories.all.length).toBe(length);
  });

  test('a call that needed another attempt is measured by its first, which has no good answer', async () => {
    let answers = 0;
    const run = await smokeOf(
      on('/store/orders', (answer) => {
        answers += 1;
        return answers % 2 === 0 ? refusal(answer, 503) : answer;
      }),
      ['--only', 'latency/listOrders', '--max-latency', '30s', '--retries', '3'],
    );
    expect(run.check('latency/listOrders')).toMatchObject({ result: 'fail' });
    expect(run.check('latency/listOrders').reason).toContain('had no answer: answered 503');
  });

  test('one slow call in fifty is no failure', async () => {
    let answers = 0;
    const run = await smokeOf(
      async (answer) => {
        answers += 1;
        if (answers % 50 === 0) await sleep(1500);
        return answer;
      },
      ['--max-latency', '700ms'],
    );
    expect(run.code).toBe(0);
    expect(run.ids('pass').filter((id) => id.startsWith('latency/'))).toHaveLength(8);
  });

  test('the latency of several runs is that of requests, not of checks', async () => {
    const run = await smokeOf(late(60), ['--repeat', '2', '--only', 'op/listOrders']);
    const { latency } = run.check('op/listOrders');
    expect(latency?.median).toBeGreaterThan(0.05);
    // The check sends several requests one after another.
    const whole = run.checks.find(({ id }) => id === 'op/listOrders') as unknown as { seconds: number };
    expect(whole.seconds).toBeGreaterThan(4 * (latency?.median ?? 0));
  });
});

describe('a very long answer', () => {
  const count = 60_000;
  const pets = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `Pet ${index + 1}`,
    categoryId: 1 + (index % 6),
    status: 'available',
  }));
  /** All records in one answer, whatever page is asked for. */
  const whole = on(/^\/pets(\?|$)/, (answer, { target }) => {
    const query = new URL(target, 'http://any').searchParams;
    const matching = pets.filter(({ categoryId }) =>
      [String(categoryId), null].includes(query.get('categoryId')),
    );
    return { ...withFields(answer, { link: undefined }), body: JSON.stringify(matching) };
  });
  const shop = () => {
    const store = new Store();
    store.categories.put(1n, { id: 1n, name: 'Dogs' });
    for (const pet of pets.slice(0, 3))
      store.pets.put(BigInt(pet.id), { ...pet, id: BigInt(pet.id), categoryId: 1n, status: 'available' });
    return store;
  };

  test('is checked', async () => {
    await using service = await startService({ store: shop(), spoil: whole });
    const run = await smoke(service.url, ['--only', 'op/listPets,op/getPet']);
    expect(run.check('op/listPets').reason).toContain('60,000 records');
    expect(run.check('op/getPet').result).toBe('pass');
  });

  test('does not keep a signal from ending the run', async () => {
    const io = fakeIo();
    await using service = await startService({
      store: shop(),
      spoil: (answer, request) => {
        setTimeout(() => io.raise('SIGTERM'), 50);
        return whole(answer, request);
      },
    });
    expect(await main(['smoke', '--base-url', service.url], io)).toBe(143);
    expect(io.written('stdout')).toMatch(/^fail {3}run\/complete: stopped by SIGTERM before/);
  });
});
