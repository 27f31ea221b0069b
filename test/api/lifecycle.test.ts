import { expect, test } from 'vitest';
import { describeLifecycle } from '../../src/api/lifecycle.ts';
import { type OperationId, operations } from '../../src/api/operations.ts';

const now = new Date('2027-03-01T12:00:00Z');

function told(id: OperationId, headers: Record<string, string> = {}): string | undefined {
  return describeLifecycle(operations[id], headers, now).deprecation;
}

test('a stable operation has no notice, a beta one says so', () => {
  expect(describeLifecycle(operations.listPets, {}, now)).toEqual({ isEnding: false });
  expect(describeLifecycle(operations.updateOrder, {}, now).stability).toBe('is beta and may change');
});

const both = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };
const until2030 = 'ends on 2030-01-01, in 1037 days (deprecated since 2026-01-01)';

test.each<[id: OperationId, headers: Record<string, string>, notice: string]>([
  ['getPet', {}, 'is deprecated'],
  ['getPet', both, until2030],
  ['listPets', both, until2030],
  ['getPet', { sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' }, 'was to end on 2027-01-01, 59 days ago'],
  ['getPet', { sunset: 'Tue, 02 Mar 2027 00:00:00 GMT' }, 'ends on 2027-03-02, in 1 day'],
  ['getPet', { sunset: 'Mon, 01 Mar 2027 18:00:00 GMT' }, 'ends on 2027-03-01, today'],
  ['getPet', { sunset: 'Sun, 28 Feb 2027 23:00:00 GMT' }, 'was to end on 2027-02-28, 1 day ago'],
  ['listPets', { deprecation: '@1830297600' }, 'will be deprecated on 2028-01-01'],
  // The older forms of the header.
  ['listPets', { deprecation: 'true' }, 'is deprecated'],
  ['listPets', { deprecation: 'Thu, 01 Jan 2026 00:00:00 GMT' }, 'is deprecated since 2026-01-01'],
])('%s with %j: %s', (id, headers, notice) => {
  expect(told(id, headers)).toBe(notice);
});

test('the notice names the page that the service links to', () => {
  const link = '</pets?after=1>; rel="next", <https://docs.test/gone>; rel="deprecation"; type="text/html"';
  expect(told('getPet', { link })).toMatch(/\(see https:\/\/docs\.test\/gone\)$/);
  expect(told('getPet', { link: '<javascript:alert(1)>; rel="deprecation"' })).not.toContain('javascript');
});

test.each(['', '@', '@x', '@99999999999999999999', 'soon', '1767225600', '@1.5', 'false'])(
  'a Deprecation header of %j is ignored',
  (deprecation) => {
    expect(told('listPets', { deprecation, sunset: 'when it ends', link: '<<;rel=;' })).toBeUndefined();
  },
);
