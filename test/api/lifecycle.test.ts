import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { describeLifecycle, readLifecycle } from '../../src/api/lifecycle.ts';
import type { Operation } from '../../src/api/operations.ts';

const now = new Date('2027-03-01T12:00:00Z');
const getPet = builtInContract.operations.get('getPet')!;
const listPets = builtInContract.operations.get('listPets')!;
const updateOrder = builtInContract.operations.get('updateOrder')!;

function told(operation: Operation, fields: Record<string, string> = {}): string | undefined {
  return describeLifecycle(operation, fields, now).deprecation;
}

describe('the notice about an operation', () => {
  test('is empty if the operation is stable and not deprecated', () => {
    expect(describeLifecycle(listPets, {}, now)).toEqual({ deprecation: undefined, stability: undefined });
  });

  test('comes from the description if the answer has no headers', () => {
    expect(told(getPet)).toBe('ends on 2027-12-31, in 305 days');
    expect(describeLifecycle(updateOrder, {}, now).stability).toBe('is beta and may change');
  });

  test('prefers the headers to the description', () => {
    const fields = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };
    const text = 'ends on 2030-01-01, in 1037 days (deprecated since 2026-01-01)';
    expect(told(getPet, fields)).toBe(text);
    expect(told(listPets, fields)).toBe(text);
  });

  test('reports a sunset that has passed and a deprecation that is still to come', () => {
    expect(told(getPet, { sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' })).toContain(
      'was to end on 2027-01-01, 59 days ago',
    );
    expect(told(listPets, { deprecation: '@1830297600' })).toBe('will be deprecated on 2028-01-01');
  });

  test.each([
    ['Tue, 02 Mar 2027 00:00:00 GMT', 'ends on 2027-03-02, in 1 day'],
    ['Mon, 01 Mar 2027 18:00:00 GMT', 'ends on 2027-03-01, today'],
    ['Sun, 28 Feb 2027 23:00:00 GMT', 'was to end on 2027-02-28, 1 day ago'],
  ])('counts the days to a sunset on %s', (sunset, end) => {
    expect(told(getPet, { sunset })).toBe(end);
  });

  test('names the page that the service links to', () => {
    const link = '</pets?after=1>; rel="next", <https://docs.test/gone>; rel="deprecation"; type="text/html"';
    expect(told(getPet, { link })).toMatch(/\(see https:\/\/docs\.test\/gone\)$/);
    expect(told(getPet, { link: '<javascript:alert(1)>; rel="deprecation"' })).not.toContain('javascript');
  });

  test('accepts the older form of the header', () => {
    expect(told(listPets, { deprecation: 'true' })).toBe('is deprecated');
    expect(told(listPets, { deprecation: 'Thu, 01 Jan 2026 00:00:00 GMT' })).toContain('since 2026-01-01');
  });

  test.each(['', '@', '@x', '@99999999999999999999', 'soon', '1767225600', '@1.5', 'false'])(
    'ignores a Deprecation header of %j',
    (deprecation) => {
      expect(told(listPets, { deprecation, sunset: 'when it ends', link: '<<;rel=;' })).toBeUndefined();
      expect(readLifecycle({ deprecation }).deprecation).toEqual({ text: deprecation, date: undefined });
    },
  );
});
