import { expect, test } from 'vitest';
import { brokenBound } from '../../src/client/bounds.ts';

test('a text is held against the pattern of a description', () => {
  expect(brokenBound('rex', { pattern: '^[A-Z]' })).toBe('must match ^[A-Z]');
  expect(brokenBound('Rex', { pattern: '^[A-Z]' })).toBeUndefined();
});

test('a pattern that takes years leaves the judgement to the service', () => {
  expect(brokenBound(`${'a'.repeat(60)}!`, { pattern: '^(a+)+$' })).toBeUndefined();
});
