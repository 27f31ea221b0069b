import { expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { Operation, RequestBody } from '../../src/api/operations.ts';
import type { Pet } from '../../src/api/schemas.ts';
import {
  categoryFields,
  categoryOf,
  hasField,
  offersField,
  toUpdateBody,
  wholeQueries,
} from '../../src/api/shapes.ts';

const own = builtInContract.operations.get('updatePet') as Operation;
const bound = (body: Partial<RequestBody>, more: Partial<Operation> = {}): Operation => ({
  ...own,
  ...more,
  body: { name: 'NewPet', mediaType: 'application/json', required: [], bounds: {}, ...body },
});
const withObject = bound({ fields: { name: 'Rex', category: { id: 1, name: 'Dogs' } } });
const rex = { id: 7n, name: 'Rex', categoryId: 1n, status: null, tag: 'x', createdAt: 'then' };

test('reads a category from an id or from an object', () => {
  expect(categoryOf({ id: 1n, name: 'Rex', categoryId: 2n })).toEqual({ id: 2n });
  const pet: Pet = { id: 1n, name: 'Rex', category: { id: 2n, name: 'Dogs', since: 1 } };
  expect(categoryOf(pet)).toEqual({ id: 2n, name: 'Dogs' });
  expect(categoryOf({ id: 1n, name: 'Rex', category: null })).toEqual({});
});

test('writes a category in the form of the service, without the name of the previous one', () => {
  expect(categoryFields(own, { id: 2n })).toEqual({ categoryId: 2n });
  expect(categoryFields(withObject, { id: 2n })).toEqual({ category: { id: 2n } });
  expect(categoryFields(withObject, { name: 'Cats' })).toEqual({ category: { name: 'Cats' } });
});

test('counts a category object as categoryId, in records and in bodies', () => {
  expect(hasField({ ...own, fields: ['id', 'category'] }, 'categoryId')).toBe(true);
  expect(hasField({ ...own, fields: ['id', 'name'] }, 'categoryId')).toBe(false);
  expect(hasField(own, 'anything')).toBe(true);
  expect(offersField(withObject, 'categoryId')).toBe(true);
  expect(offersField(withObject, 'status')).toBe(false);
});

test('a PUT sends the record as it was read, without empty and read-only fields', () => {
  expect(toUpdateBody(own, rex, { name: 'Max' })).toEqual({
    categoryId: 1n,
    tag: 'x',
    createdAt: 'then',
    name: 'Max',
  });
  expect(toUpdateBody(bound({ readOnly: ['createdAt'] }), rex, {})).not.toHaveProperty('createdAt');
  const closed = bound({ fields: { name: 'Rex', tag: 'x' }, isClosed: true });
  expect(toUpdateBody(closed, rex, {})).toEqual({ name: 'Rex', tag: 'x' });
});

test('a PATCH sends the changes and the fields that its schema requires', () => {
  const patch = bound({ required: ['name', 'tag'] }, { method: 'PATCH' });
  expect(toUpdateBody(patch, rex, { name: 'Max' })).toEqual({ name: 'Max', tag: 'x' });
});

test('asks a list with a default status for each status, or for the wanted ones', () => {
  const list = builtInContract.operations.get('listPets') as Operation;
  expect(wholeQueries(list, { status: ['sold', 'pending'] })).toEqual([{}]);
  const bounds = { enum: ['available', 'pending', 'sold'] };
  const status = { name: 'status', wireName: 'status', in: 'query', required: false, bounds } as const;
  const narrowed: Operation = { ...list, parameters: [{ ...status, fallback: 'available' }] };
  expect(wholeQueries(narrowed)).toEqual([
    { status: 'available' },
    { status: 'pending' },
    { status: 'sold' },
  ]);
  expect(wholeQueries(narrowed, { status: ['sold', 'pending'] })).toEqual([
    { status: 'sold' },
    { status: 'pending' },
  ]);
  expect(wholeQueries(narrowed, { status: 'sold' })).toEqual([{}]);
  const required: Operation = { ...list, parameters: [{ ...status, required: true }] };
  expect(wholeQueries(required)).toEqual([{}]);
  expect(wholeQueries(required, { status: ['sold', 'pending'] })).toHaveLength(2);
});
