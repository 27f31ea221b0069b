import { expect, test } from 'vitest';
import { Collection } from '../../src/server/collection.ts';
import { below, createRandom, oneOf } from '../../src/server/random.ts';

interface Thing {
  readonly id: bigint;
  readonly colour: string;
  readonly shape: string;
}
const colours = ['red', 'green', 'blue'] as const;
const shapes = ['round', 'square'] as const;

function createThings(): Collection<Thing, 'colour' | 'shape'> {
  return new Collection('thing', ['colour', 'shape']);
}

function idsOf(
  things: Collection<Thing, 'colour' | 'shape'>,
  filters: { colour?: string; shape?: string },
): bigint[] {
  const ids: bigint[] = [];
  let after: bigint | undefined;
  do {
    const page = things.page({ ...filters, limit: 7, after });
    ids.push(...page.stored.map(({ id }) => id));
    after = page.after;
  } while (after !== undefined);
  return ids;
}

test('every page of every filter equals that of a plain list, after records were added, changed and removed', () => {
  const random = createRandom(7);
  const things = createThings();
  const plain = new Map<bigint, Thing>();
  for (let step = 0; step < 6000; step += 1) {
    const id = BigInt(below(random, 3000)) ** 3n;
    if (random() < 0.3) {
      things.delete(id);
      plain.delete(id);
    } else {
      const thing = { id, colour: oneOf(random, colours), shape: oneOf(random, shapes) };
      things.put(id, thing);
      plain.set(id, thing);
    }
  }
  const sorted = [...plain.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  expect(Array.from(things.all(), ({ record }) => record)).toEqual(sorted);
  for (const colour of [undefined, ...colours, 'black']) {
    for (const shape of [undefined, ...shapes]) {
      const expected = sorted.filter(
        (thing) => (colour ?? thing.colour) === thing.colour && (shape ?? thing.shape) === thing.shape,
      );
      expect(idsOf(things, { ...(colour && { colour }), ...(shape && { shape }) })).toEqual(
        expected.map(({ id }) => id),
      );
      expect(things.some({ colour, shape })).toBe(expected.length > 0);
    }
  }
});

test('a page begins after an id that does not exist, and after the largest id', () => {
  const things = createThings();
  for (const id of [1n, 5n, 9223372036854775807n]) things.put(id, { id, colour: 'red', shape: 'round' });
  const after = (after: bigint) => things.page({ limit: 10, after }).stored.map(({ id }) => id);
  expect(after(0n)).toEqual([1n, 5n, 9223372036854775807n]);
  expect(after(3n)).toEqual([5n, 9223372036854775807n]);
  expect(after(9223372036854775807n)).toEqual([]);
});

test('a changed record loses the text of the one before', () => {
  const things = createThings();
  things.put(1n, { id: 1n, colour: 'red', shape: 'round' }).text = 'red';
  things.put(1n, { id: 1n, colour: 'blue', shape: 'round' });
  expect(things.page({}).stored[0]).toMatchObject({ record: { colour: 'blue' }, text: undefined });
});

test('counts changes, but not the removal of a record that does not exist', () => {
  const things = createThings();
  things.put(1n, { id: 1n, colour: 'red', shape: 'round' });
  things.delete(2n);
  things.delete(1n);
  expect(things.changes).toBe(2);
});
