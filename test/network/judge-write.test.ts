import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { HttpResponse } from '../../src/api/http.ts';
import { operations } from '../../src/api/operations.ts';
import type { Fields } from '../../src/api/record-values.ts';
import { isMetBy } from '../../src/api/same-values.ts';
import type { OperationCall, ServiceOptions } from '../../src/client/call.ts';
import { judgeWrite } from '../../src/client/judge-write.ts';
import { CliError } from '../../src/process/errors.ts';
import { type JsonValue, parseItem } from '../../src/process/exact-json.ts';
import { createSecrets } from '../../src/process/secrets.ts';

const facts = { contract: builtInContract, baseUrl: 'http://shop.example', secrets: createSecrets() };
const service = facts as ServiceOptions;

function judgeUpdate(values: Fields, body: object) {
  const request = { method: 'PUT', url: `${service.baseUrl}/pets/1`, headers: {} };
  const headers = { 'content-type': 'application/json' };
  const call = { service, operation: operations.updatePet, recordId: 1n, request, options: {} };
  return judgeCall(call, values, { status: 200, headers, body: JSON.stringify(body) });
}

function judgeCall(call: OperationCall, values: Fields, response: HttpResponse, error?: CliError) {
  const { request } = call;
  const attempt = { request, response, sender: 'service', isSent: true, number: 1, elapsedMs: 1 } as const;
  return judgeWrite(call, { values }, { call, attempts: [attempt], request, ...response, error });
}

const pet = { id: 1, name: 'Luna', categoryId: 2, status: 'sold' };

describe('the answer of an update', () => {
  test.each([
    ['further fields', { name: 'Luna' }, { ...pet, version: 4, updatedAt: 'now' }],
    ['no field for null', { description: null }, pet],
    ['no field for undefined', { description: undefined }, pet],
    ['the id of a category', { categoryId: 2n, 'category.name': 'Dogs' }, pet],
    ['the same instant', { born: '2027-01-01T11:00:00+01:00' }, { ...pet, born: '2027-01-01T10:00:00Z' }],
    ['a default that is left out', { status: 'available' }, { ...pet, status: undefined }],
    [
      'a default in place of a field that was removed',
      { status: undefined },
      { ...pet, status: 'available' },
    ],
    ['an object with further fields', { tags: [{ name: 'a' }] }, { ...pet, tags: [{ id: 3, name: 'a' }] }],
  ])('shows the intent by what the user set alone: %s', (_, values, body) => {
    expect(judgeUpdate(values, body).verdict).toBe('shown');
  });

  test('shows something else, and in which fields', () => {
    const cases: readonly (readonly [Fields, object, string])[] = [
      [{ tags: ['a', 'b'] }, { ...pet, tags: ['a'] }, 'tags'],
      [{ nickname: 'Lu' }, pet, 'nickname'],
      [{ name: ' Luna', status: 'new' }, pet, 'name, status'],
    ];
    for (const [values, body, names] of cases)
      expect(judgeUpdate(values, body)).toMatchObject({
        record: { fields: { name: 'Luna' } },
        reason: { message: `the answer does not show what was sent: ${names}` },
      });
  });
});

test('the id of a new record is in a Location with a last slash', () => {
  const operation = { ...operations.getPet, path: '/pets/{petId}/' };
  const contract = { ...builtInContract, operations: new Map([['getPet' as const, operation]]) };
  const response = { status: 201, headers: { location: '/pets/5/' }, body: '' };
  const request = { method: 'POST', url: `${service.baseUrl}/pets/`, headers: {} };
  const call = { service: { ...service, contract }, operation: operations.createPet, request, options: {} };
  expect(judgeCall(call, {}, response)).toMatchObject({ verdict: 'empty', id: 5n });
});

const exact = (text: string) => parseItem(text).value;

test.each<[expected: JsonValue, actual: JsonValue | undefined, isMet: boolean]>([
  [5, 5n, true],
  [exact('5e0'), 5, true],
  [0.0000001, exact('1.0E-7'), true],
  [exact('-0.50'), -0.5, true],
  [exact('1.5e300'), exact('1.5e301'), false],
  ['5', 5, true],
  [5, '5', false],
  [[1], '[1]', false],
  ['5e0', 5, false],
  [{ a: 1 }, { a: 1, b: null }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [[{ a: 1, b: 2 }], [{ a: 1 }], false],
  ['{"a":1}', { a: 1 }, true],
  ['2026-01-01', '2026-01-01T00:00:00Z', false],
  [9007199254740993n, 9007199254740992n, false],
  [null, undefined, true],
  ['', null, false],
  ['Rex ', 'Rex', false],
  ['x', undefined, false],
  [0, null, false],
  [false, null, false],
])('a field that should be %o and is %o is met: %s', (expected, actual, isMet) => {
  expect(isMetBy({ name: expected }, { name: actual }, {})).toBe(isMet);
});

test('dates are compared as instants', () => {
  expect(isMetBy({ shipDate: '2026-01-01' }, { shipDate: '2026-01-01T01:00:00+01:00' }, {})).toBe(true);
  expect(isMetBy({ shipDate: '2026-01-01' }, { shipDate: '2026-01-01T01:00:00Z' }, {})).toBe(false);
});

test.each([
  ['deletePet', 'missing'],
  ['createInventory', 'rejected'],
  ['updatePet', 'rejected'],
] as const)('a 404 of the service to a POST of %s is %s', (id, verdict) => {
  const request = { method: 'POST', url: `${service.baseUrl}/pets/1/delete`, headers: {} };
  const response = { status: 404, headers: {}, body: '{}' };
  const call = { service, operation: operations[id], request, options: {} };
  expect(judgeCall(call, {}, response, new CliError('not-found', 'no')).verdict).toBe(verdict);
});
