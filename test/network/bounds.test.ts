import { expect, test } from 'vitest';
import { brokenBound } from '../../src/client/bounds.ts';

test('a text must match the pattern of a description', () => {
  expect(brokenBound('rex', { pattern: '^[A-Z]' })).toBe('must match ^[A-Z]');
  expect(brokenBound('Rex', { pattern: '^[A-Z]' })).toBeUndefined();
});

test('a value whose pattern takes too long to match is left to the service', () => {
  expect(brokenBound(`${'a'.repeat(60)}!`, { pattern: '^(a+)+$' })).toBeUndefined();
});

test('a long pattern is shown in part, and the other bounds hold whatever the pattern costs', () => {
  const pattern = `^${'x'.repeat(10_000)}$`;
  expect(brokenBound('Rex', { pattern })?.length).toBeLessThan(300);
  const text = `${'a'.repeat(60)}!`;
  expect(brokenBound(text, { pattern: '^(a+)+$', maxLength: 9 })).toBe('must have at most 9 characters');
});
