import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { Store } from '../../src/server/store.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { smoke } from './run.ts';
import { on, startService, withFields } from './service.ts';

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
