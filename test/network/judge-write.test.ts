import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { isSameValue } from '../../src/api/values.ts';
import { judgeWrite } from '../../src/client/judge-write.ts';

/** The judgement of an answer; a text is sent as it is, anything else as JSON. */
function judge(
  operation: keyof typeof operations,
  intent: Partial<Parameters<typeof judgeWrite>[1]>,
  [status, body = '', type = 'application/json']: readonly [status: number, body?: unknown, type?: string],
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = { status, fields: { 'content-type': type }, body: text };
  return judgeWrite(operations[operation], { id: 1n, values: {}, ...intent }, response, (words) => words);
}

const pet = { id: 1, name: 'Luna', categoryId: 2, status: 'sold' };
const entry = { petId: 1, quantity: 6, status: 'sold' };

test('the answer of a delete that has only the id of an order shows nothing', () => {
  expect(judge('deleteOrder', {}, [200, { id: 1, deleted: false }])).toMatchObject({ shows: 'nothing' });
});

describe('the answer of an update', () => {
  test.each([
    [{ name: 'Luna' }, { ...pet, version: 4, updatedAt: 'now' }],
    [{ name: ' Luna' }, pet],
    [{ description: '' }, pet],
    [{ description: undefined }, pet],
    [{ categoryId: { id: 2n, name: 'Dogs' } }, pet],
    [{ categoryId: { name: 'Dogs' } }, { ...pet, category: 'Dogs' }],
    [{ born: '2027-01-01T11:00:00+01:00' }, { ...pet, born: '2027-01-01T10:00:00Z' }],
    [{ tags: [{ name: 'a' }] }, { ...pet, tags: [{ id: 3, name: 'a' }] }],
  ])('shows the intent, by the values that the user set alone: case %#', (values, body) => {
    expect(judge('updatePet', { values }, [200, body])).toMatchObject({ shows: 'intent' });
  });

  test('shows the intent if it has no body', () => {
    expect(judge('updatePet', { values: { name: 'Rex' } }, [204])).toEqual({ shows: 'intent', id: 1n });
  });

  test('shows something else, with both values', () => {
    expect(judge('updatePet', { values: { name: 'Rex', status: 'sold' } }, [200, pet])).toMatchObject({
      shows: 'other',
      record: { name: 'Luna' },
      reason: 'the service answered name Luna, not Rex',
    });
    expect(judge('updateInventory', { values: { quantity: 7 } }, [200, entry])).toMatchObject({
      shows: 'other',
      reason: 'the service answered quantity 6, not 7',
    });
    expect(
      judge('updatePet', { values: { tags: ['a', 'b'] } }, [200, { ...pet, tags: ['a'] }]),
    ).toMatchObject({
      shows: 'other',
    });
  });

  test.each([
    ['false', [200, { success: false }]],
    ['a list', [200, []]],
    ['a page', [200, '<html>Sign in</html>', 'text/html']],
    ['another record', [200, { ...pet, id: 7 }]],
    ['the record without the field', [200, pet]],
  ] as const)('shows nothing if it is %s', (_, answer) => {
    const { shows, reason } = judge('updatePet', { values: { nickname: 'Lu' } }, answer);
    expect(shows).toBe('nothing');
    expect(reason).toMatch(/\w/);
  });

  test('is accepted and not yet done if it is 202', () => {
    expect(judge('updatePet', { values: { name: 'Rex' } }, [202, { job: 1 }])).toMatchObject({
      shows: 'accepted',
    });
  });
});

describe('the answer of a create', () => {
  const create = { id: undefined, values: { name: 'Luna', categoryId: 2n } };

  test('shows the record, and its id', () => {
    expect(judge('createPet', create, [201, pet])).toMatchObject({
      shows: 'intent',
      id: 1n,
      record: { id: 1n },
    });
    expect(judge('createPet', create, [201])).toEqual({ shows: 'intent', id: undefined });
  });

  test('shows nothing but the id if that is all it has', () => {
    for (const body of [{ id: 5 }, 5, { id: 5, ok: true }])
      expect(judge('createPet', create, [201, body])).toMatchObject({ shows: 'nothing', id: 5n });
    for (const body of [{ ok: true }, '"5"', [], { id: 'abc' }])
      expect(judge('createPet', create, [201, body])).toMatchObject({ shows: 'nothing', id: undefined });
  });
});

test('a value is the same in another spelling, and an empty one is none', () => {
  expect(isSameValue(5, 5n)).toBe(true);
  expect(isSameValue(9007199254740993n, 9007199254740992n)).toBe(false);
  expect(isSameValue(null, undefined)).toBe(true);
  expect(isSameValue('', null)).toBe(true);
  expect(isSameValue('x', undefined)).toBe(false);
  expect(isSameValue(0, null)).toBe(false);
  expect(isSameValue(false, null)).toBe(false);
});
