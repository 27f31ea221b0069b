import { expect, test } from 'vitest';
import { mayHaveBeenApplied, retryAfter, retryDelay } from '../../src/client/retry.ts';

const now = () => new Date('2027-01-01T00:00:00Z');

test('the delay is a random part of half a second, doubled each time, at most 30 s', () => {
  expect([1, 2, 3, 4].map((attempt) => retryDelay(attempt, 0, 1))).toEqual([500, 1000, 2000, 4000]);
  expect(retryDelay(1, 0, 0)).toBe(0);
  expect(retryDelay(50, 0, 1)).toBe(30_000);
});

test('the delay is never shorter than Retry-After', () => {
  expect(retryDelay(1, 120_000, 1)).toBe(120_000);
  expect(retryDelay(4, 1000, 1)).toBe(4000);
});

test.each([
  ['7', 7000],
  ['0', 0],
  ['Fri, 01 Jan 2027 00:00:05 GMT', 5000],
  ['Fri, 01 Jan 2021 00:00:05 GMT', 0],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['', undefined],
])('Retry-After %s is %s ms', (value, ms) => {
  expect(retryAfter({ 'retry-after': value }, now)).toBe(ms);
});

test('a write that was sent and not refused may have been applied', () => {
  const answer = (status: number, fields = {}) => ({ status, fields });
  expect(mayHaveBeenApplied('POST', { sent: true })).toBe(true);
  expect(mayHaveBeenApplied('POST', { sent: false })).toBe(false);
  expect(mayHaveBeenApplied('GET', { sent: true })).toBe(false);
  expect(mayHaveBeenApplied('PUT', answer(502))).toBe(true);
  expect(mayHaveBeenApplied('PUT', answer(503))).toBe(true);
  expect(mayHaveBeenApplied('PUT', answer(503, { 'retry-after': '1' }))).toBe(false);
  expect(mayHaveBeenApplied('PUT', answer(429))).toBe(false);
  expect(mayHaveBeenApplied('PUT', answer(422))).toBe(false);
});
