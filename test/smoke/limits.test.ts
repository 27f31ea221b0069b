import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { Store } from '../../src/server/store.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { smoke, smokeOf } from './run.ts';
import { type Change, on, startService, withHeaders } from './service.ts';

const late =
  (ms: number): Change =>
  async (answer) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer;
  };

describe.concurrent('time', () => {
  test('--timeout limits one call, so a check of many slow calls passes', async () => {
    const run = await smokeOf(late(150), ['--write', '--timeout', '4s', '--only', 'write/*']);
    expect(run.code).toBe(0);
    expect(run.requests.length * 150).toBeGreaterThan(4000);
  });

  test('--max-time stops the checks, skips the checks that have not begun, and fails', async () => {
    const run = await smokeOf(late(200), ['--max-time', '900ms']);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['run/complete']);
    const reason = 'the time of 900 ms is over (--max-time)';
    expect(run.check('run/complete').reason).toMatch(/^the time of 900 ms .* before \d+ checks$/);
    expect(run.check('error/not-found')).toMatchObject({ result: 'skip', reason });
  });

  test('records that were written before --max-time are removed', async () => {
    await using service = await startService({ spoil: on(/^\/categories\//, () => 'hang', 'PUT') });
    const count = service.store.categories.all.length;
    const flags = ['--write', '--only', 'write/category', '--max-time', '4s', '--timeout', '1m'];
    const run = await smoke(service.url, flags);
    expect(run.code).toBe(7);
    expect(run.check('write/cleanup')).toMatchObject({ result: 'pass', reason: '1 removed' });
    expect(service.store.categories.all.length).toBe(count);
  });
});

describe('a very long answer', () => {
  const pets = Array.from({ length: 60_000 }, (_, index) => ({
    ...{ id: index + 1, name: `Pet ${index + 1}`, categoryId: 1 + (index % 6), status: 'available' as const },
  }));
  /** All records in one answer, whatever page is asked for. */
  const whole = on(/^\/pets(\?|$)/, (answer, { target }) => {
    const category = new URL(target, 'http://any').searchParams.get('categoryId');
    const matching = pets.filter(({ categoryId }) => [String(categoryId), null].includes(category));
    return { ...withHeaders(answer, { link: undefined }), body: JSON.stringify(matching) };
  });
  const shop = () => {
    const store = new Store();
    store.categories.put(1n, { id: 1n, name: 'Dogs' });
    for (const pet of pets.slice(0, 3))
      store.pets.put(BigInt(pet.id), { ...pet, id: BigInt(pet.id), categoryId: 1n });
    return store;
  };

  test('is checked', async () => {
    await using service = await startService({ store: shop(), spoil: whole });
    const run = await smoke(service.url, ['--only', 'op/listPets,op/getPet', '--timeout', '1m']);
    expect(run.check('op/listPets').reason).toContain('60,000 records');
    expect(run.check('op/getPet').result).toBe('pass');
  });

  test('does not keep a signal from ending the command', async () => {
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
