import { describe, expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { flagSets, smokeOf } from './run.ts';
import { type Change, changing, counting, on, refusing, startService } from './service.ts';

// Faults that come and go: in another record each time, only once, or on one replica of ten. Each is reported under every
// flag.

/** Changes each list at another record. The order of the records is fixed, so that the test does not depend on chance. */
const scattered = (change: (records: object[], at: number) => object[]) => (): Change => {
  let answers = 0;
  return changing((records: object[]) => {
    answers += 1;
    return change(records, (answers * 7 + 3) % Math.max(records.length, 1));
  });
};
const twice = scattered((records, at) => [...records.slice(at), ...records]);
const stale = changing((record: object) => ({ ...record, name: 'Before' }));

const isFirst = (count: number) => count === 1;
const isEven = (count: number) => count % 2 === 0;
const lists = /^\/pets(\?|$)/;

type Row = readonly [title: string, line: RegExp, spoil: () => Change];

const random: readonly Row[] = [
  ['another record twice in every list', /op\/listPets: the list has an id twice/, () => on(lists, twice())],
  [
    'a filter that is ignored at times',
    /op\/listPets: the filter status=available lets other records through/,
    () =>
      on(
        /status=/,
        counting(
          (count) => !isEven(count),
          changing(() => [{ id: 3, name: 'Rex', categoryId: 1, status: 'sold' }]),
        ),
      ),
  ],
];

describe.concurrent('a fault that comes and goes fails the command, and the first line names it', () => {
  test.for(random)('%s', async ([, line, spoil]) => {
    for (const flags of flagSets) {
      await using service = await startService({ spoil: spoil() });
      const { code, stdout } = await runCli(['smoke', '--base-url', service.url, ...flags]);
      const [first = ''] = stdout.split('\n');
      expect(first, stdout).toMatch(line);
      expect(code, stdout).toBe(7);
    }
  });
});

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
