import { expect, test } from 'vitest';
import { mayHaveBeenApplied, retryAfter, retryDelay } from '../../src/client/retry.ts';

const now = Date.parse('2027-01-01T00:00:00Z');

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

test('a write may have been applied unless nothing was sent or its answer proves a refusal', () => {
  const may = (status: number, fields = {}) => mayHaveBeenApplied('PUT', { status, fields });
  const refusals = [301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 409, 412, 422, 425, 429, 501, 505];
  expect(refusals.filter((status) => may(status))).toEqual([]);
  const open = [200, 201, 202, 204, 206, 304, 408, 500, 502, 503, 504, 507, 599];
  expect(open.filter((status) => !may(status))).toEqual([]);
  expect(may(503, { 'retry-after': '1' })).toBe(false);
  expect(mayHaveBeenApplied('POST', { sent: true })).toBe(true);
  expect(mayHaveBeenApplied('POST', { sent: false })).toBe(false);
  expect(mayHaveBeenApplied('GET', { sent: true })).toBe(false);
});
