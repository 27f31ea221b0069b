import { describe, expect, test } from 'vitest';
import { flagSets, smokeOf } from './run.ts';
import { type Change, changing, counting, on, refusing } from './service.ts';

// Faults that come and go: only once, or on one replica of ten.

const stale = changing((record: object) => ({ ...record, name: 'Before' }));

const isFirst = (count: number) => count === 1;

const once: readonly (readonly [id: string, reason: RegExp, spoil: () => Change])[] = [
  [
    'op/getCategory',
    /^name differs from what listCategories shows, once in 2 looks$/,
    () => on('/categories/1', counting(isFirst, stale)),
  ],
  [
    'op/getCategory',
    /^answered 404 Not Found, and listCategories shows categoryId 1, once in 2 looks$/,
    () => on('/categories/1', counting(isFirst, refusing(404))),
  ],
];

describe.concurrent('a fault that is seen once is flaky, because another client may have caused it', () => {
  test.for(once)('%s: %s', async ([id, reason, spoil]) => {
    const run = await smokeOf(spoil(), []);
    expect(run.code).toBe(0);
    expect(run.check(id)).toMatchObject({ result: 'flaky', reason: expect.stringMatching(reason) });
    expect(run.ids('flaky')).toEqual([id]);
    expect((await smokeOf(spoil(), ['--strict'])).code).toBe(7);
  });
});

describe.concurrent('one replica of ten', () => {
  const replica = (change: Change) => counting((count) => count % 10 === 4, change);

  test('that answers 500 is red under every flag', async () => {
    for (const flags of flagSets) {
      const run = await smokeOf(replica(refusing(500)), flags);
      expect(run.code).toBe(7);
      expect(run.ids('fail').join()).toMatch(/op|error/);
    }
  });

  test('that answers 503 is flaky, and red with --strict', async () => {
    const run = await smokeOf(replica(refusing(503)), []);
    expect(run.code).toBe(0);
    expect(run.ids('flaky').length).toBeGreaterThan(1);
    expect((await smokeOf(replica(refusing(503)), ['--strict'])).code).toBe(7);
  });
});
