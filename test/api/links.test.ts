import { expect, test } from 'vitest';
import { lifecycleText } from '../../src/api/contract.ts';
import { linkTarget } from '../../src/api/http.ts';
import type { OperationId } from '../../src/api/nouns.ts';
import { operations } from '../../src/api/operations.ts';

test.each([
  ['</pets?after=2>; rel="next"', '/pets?after=2'],
  ['<a>; rel=prev, <b>; rel=next', 'b'],
  ['<a>;rel="prev next"', 'a'],
  ['<a>; title="x, <b>; rel=next"; rel="NEXT"', 'a'],
  ['<a;b,c>; rel=next', 'a;b,c'],
  ['<a>; rel=next; rel=prev', 'a'],
  ['<a>; rel=prev; rel=next', undefined],
  ['<a>; rel=next; anchor="/other"', undefined],
  ['<a>; rel="nextish"', undefined],
  ['<<<;;; rel="next', undefined],
  ['', undefined],
  [undefined, undefined],
])('the next page of %s is %s', (field, target) => {
  expect(linkTarget(field, 'next')).toBe(target);
});

test('a hostile field of the maximum length names no next page', () => {
  for (const piece of ['; x="', '<', ' ;a', '<a>;"'])
    expect(linkTarget(`<a>${piece.repeat(16_384 / piece.length)}`, 'next')).toBeUndefined();
});

test('linkTarget finds the first link of any of several relations', () => {
  const field = '</a>; rel=prev, </openapi.json>; rel="service-desc", </meta>; rel=describedby';
  expect(linkTarget(field, 'describedby', 'service-desc')).toBe('/openapi.json');
});

const both = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };

test.each<[id: OperationId, headers: Record<string, string>, notice: string | undefined]>([
  ['listPets', {}, undefined],
  ['updateOrder', {}, 'updateOrder is beta and may change'],
  ['getPet', {}, 'getPet is deprecated'],
  ['getPet', both, 'getPet is deprecated and ends on 2030-01-01'],
  ['listPets', { sunset: both.sunset }, 'listPets is deprecated and ends on 2030-01-01'],
  ['listPets', { deprecation: 'true', sunset: 'when it ends' }, 'listPets is deprecated'],
  ['updateOrder', both, 'updateOrder is deprecated and ends on 2030-01-01 and is beta and may change'],
])('%s with %j: %s', (id, headers, notice) => {
  expect(lifecycleText(operations[id], headers)).toBe(notice);
});
