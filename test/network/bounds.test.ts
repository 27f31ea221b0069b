import { expect, test } from 'vitest';
import { brokenBound } from '../../src/client/bounds.ts';

test('a text must match the pattern of a description', () => {
  expect(brokenBound('rex', { pattern: '^[A-Z]' })).toBe('must match ^[A-Z]');
  expect(brokenBound('Rex', { pattern: '^[A-Z]' })).toBeUndefined();
});

test('a value whose pattern takes too long to match is left to the service', () => {
  expect(brokenBound(`${'a'.repeat(60)}!`, { pattern: '^(a+)+$' })).toBeUndefined();
});
