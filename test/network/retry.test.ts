import { describe, expect, test } from 'vitest';
import { type Operation, operations } from '../../src/api/operations.ts';
import { isPerhapsApplied } from '../../src/client/answer-table.ts';
import { senderOf } from '../../src/client/read-answer.ts';
import { permittedDelayMs, retryAfterMsOf } from '../../src/client/retry.ts';
import { runAt } from '../helpers/run-cli.ts';

const now = Date.parse('2027-01-01T00:00:00Z');

test('the delay is random, doubles up to 30 s, and is at least Retry-After', () => {
  const limits = { retries: 50, retriesUnreachable: true };
  const delayOf = (number: number, retryAfterMs: number, random: number) =>
    permittedDelayMs(number, { error: undefined, retryAfterMs }, limits, random);
  expect([1, 2, 3, 4].map((number) => delayOf(number, 0, 1))).toEqual([500, 1000, 2000, 4000]);
  expect(delayOf(1, 0, 0)).toBe(0);
  expect(delayOf(50, 0, 1)).toBe(30_000);
  expect(delayOf(1, 120_000, 1)).toBe(120_000);
  expect(delayOf(4, 1000, 1)).toBe(4000);
  expect(delayOf(51, 0, 1)).toBeUndefined();
});

test.each([
  ['pets get 3', 1],
  ['pets update 3 --name Rex', 1],
  ['pets get 3 --retries 1', 2],
  ['pets update 3 --name Rex --retries 1', 2],
  ['pets delete 3 --yes --retries 1', 2],
])('%s calls a service that cannot be reached: %i times', async (line, attempts) => {
  for (const url of ['http://127.0.0.1:1', 'http://absent.invalid']) {
    const { code, stderr } = await runAt({ url }, `${line} --json`);
    expect({ code, attempts: JSON.parse(stderr).error.attempts }).toEqual({ code: 6, attempts });
  }
});

test.each([
  ['Fri, 01 Jan 2027 00:00:02 GMT', 2000],
  ['Thu, 31 Dec 2026 23:59:59 GMT', 0],
])('Retry-After %s is compared with the Date of its response', (value, ms) => {
  const headers = { 'retry-after': value, date: new Date(now).toUTCString() };
  for (const skewMs of [-300_000, 0, 300_000]) expect(retryAfterMsOf(headers, now + skewMs)).toBe(ms);
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
  expect(retryAfterMsOf({ 'retry-after': value }, now)).toBe(ms);
});

const lost = {
  request: { method: 'PUT', url: 'http://shop.example/pets/1', headers: {} },
  isSent: true,
  number: 1,
  elapsedMs: 1,
};
const answered = (status: number, headers = {}, body = '{"code":"no","message":"no"}') => {
  const response = { status, headers: { 'content-type': 'application/json', ...headers }, body };
  return { ...lost, response, sender: senderOf(response) };
};

describe('a write', () => {
  const page = '<html><title>404 Not Found</title></html>';
  test.each([
    ['text/html', page],
    ['text/plain', '404 page not found'],
    ['text/plain', '404'],
    ['application/json', page],
    ['application/json', ''],
    ['text/plain', ''],
  ])(
    'that is answered 403, 404 or 410 with %s %j may have been applied: a gateway may say so',
    (type, body) => {
      for (const status of [403, 404, 410])
        expect(isPerhapsApplied([answered(status, { 'content-type': type }, body)])).toBe(true);
      for (const status of [307, 400, 401, 405, 409, 412, 413, 429, 501, 505])
        expect(isPerhapsApplied([answered(status, { 'content-type': type }, body)])).toBe(false);
    },
  );

  test.each([
    ['application/problem+json', '{"title":"gone"}'],
    ['application/json; charset=utf-8', '"not found"'],
    ['text/json', '"not found"'],
    ['text/plain', '{"error":"not found"}'],
    ['application/json', '\ufeff[]'],
  ])('that is answered 404 with %s %s was not applied', (type, body) => {
    expect(isPerhapsApplied([answered(404, { 'content-type': type }, body)])).toBe(false);
  });

  test('that is answered 404 with the type that the description states for it was not applied', () => {
    const { response } = answered(404, { 'content-type': 'text/plain; charset=utf-8' }, 'no pet');
    const operation = (responses: object) => ({ ...operations.updatePet, responses }) as Operation;
    const plain = { mediaTypes: ['text/plain'] };
    for (const responses of [{ 404: plain }, { '4XX': plain }])
      expect(senderOf(response, operation(responses))).toBe('service');
    for (const responses of [{}, { 400: plain }, { 404: { mediaTypes: ['application/json'] } }])
      expect(senderOf(response, operation(responses))).toBe('gateway');
    const page = { ...response, headers: { 'content-type': 'application/json' }, body: '<html>' };
    expect(senderOf(page, operation({ 404: { mediaTypes: ['application/json'] } }))).toBe('gateway');
  });
});
