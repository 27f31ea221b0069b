import { expect, test } from 'vitest';
import { describeLifecycle } from '../../src/api/contract.ts';
import type { OperationId } from '../../src/api/nouns.ts';
import { operations } from '../../src/api/operations.ts';

const both = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };

test.each<[id: OperationId, headers: Record<string, string>, notice: string | undefined]>([
  ['listPets', {}, undefined],
  ['updateOrder', {}, 'updateOrder is beta and may change'],
  ['getPet', {}, 'getPet is deprecated'],
  ['getPet', both, 'getPet is deprecated as of 2026-01-01 and ends on 2030-01-01'],
  ['listPets', { sunset: both.sunset }, 'listPets is deprecated and ends on 2030-01-01'],
  [
    'updateOrder',
    both,
    'updateOrder is deprecated as of 2026-01-01 and ends on 2030-01-01 and is beta and may change',
  ],
])('%s with %j: %s', (id, headers, notice) => {
  expect(describeLifecycle(operations[id], headers)).toBe(notice);
});

test.each(['', '@', '@x', '@99999999999999999999', 'soon', '1767225600', '@1.5', 'true'])(
  'a Deprecation header of %j is ignored',
  (deprecation) => {
    const headers = { deprecation, sunset: 'when it ends' };
    expect(describeLifecycle(operations.listPets, headers)).toBeUndefined();
  },
);
