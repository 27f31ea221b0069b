import { describe, expect, test } from 'vitest';
import { mayHaveBeenApplied, retryAfter, retryDelay } from '../../src/client/attempt.ts';

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

const answered = (status: number, headers = {}) => ({
  isSent: true,
  response: { status, headers, body: '' },
});
const lost = { isSent: true, response: undefined };
const unsent = { isSent: false, response: undefined };

describe('a write', () => {
  test.each([307, 308, 400, 401, 403, 404, 405, 409, 412, 422, 425, 429, 501, 505])(
    'that is answered %i was not applied',
    (status) => expect(mayHaveBeenApplied('PUT', [answered(status)])).toBe(false),
  );

  test.each([200, 201, 202, 204, 206, 301, 302, 303, 304, 408, 500, 502, 503, 504, 507, 599])(
    'that is answered %i may have been applied',
    (status) => expect(mayHaveBeenApplied('PUT', [answered(status)])).toBe(true),
  );

  test('that is answered 503 with Retry-After was not applied', () => {
    expect(mayHaveBeenApplied('PUT', [answered(503, { 'retry-after': '1' })])).toBe(false);
  });

  test('may have been applied if an attempt was sent, and a later refusal does not take that back', () => {
    expect(mayHaveBeenApplied('POST', [])).toBe(false);
    expect(mayHaveBeenApplied('POST', [unsent, unsent])).toBe(false);
    expect(mayHaveBeenApplied('POST', [unsent, lost])).toBe(true);
    expect(mayHaveBeenApplied('DELETE', [lost, answered(404)])).toBe(true);
    expect(mayHaveBeenApplied('DELETE', [answered(429), answered(404)])).toBe(false);
  });
});

test.each(['GET', 'HEAD', 'OPTIONS'])('%s changes nothing', (method) => {
  expect(mayHaveBeenApplied(method, [lost])).toBe(false);
});
