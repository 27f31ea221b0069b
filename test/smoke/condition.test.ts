import { expect, test } from 'vitest';
import { differenceTo, parseCondition } from '../../src/checks/condition.ts';

const answer = {
  status: 200,
  url: 'http://host/version',
  headers: { 'x-commit': '4f2a9c1', 'x-load': '0.5' },
  text: ' 4f2a9c1 release\n',
  json: { big: 9007199254740993n, status: 'ok', parts: [{ up: true }] },
};

const reasonOf = (text: string, status = 200) =>
  differenceTo(parseCondition(text), { ...answer, status }, (each) => each)?.reason;

test.each([
  'GET /version',
  'GET /version 2xx header x-commit=4f2a9c1 /status=ok text*=4f2',
  '/big=9007199254740993',
  'header x-commit=4f2a9c1 header x-load!=1',
  '/parts/0/up=true',
  '/gone!=x',
  'text="4f2a9c1 release"',
  '/status!=DOWN',
])('%s holds', (text) => {
  expect(reasonOf(text)).toBeUndefined();
});

test.each([
  ['GET /version 4xx', 'GET /version: answered 200 OK'],
  ['header x-commit=new', 'header x-commit is 4f2a9c1'],
  ['header x-gone=1', 'header x-gone is absent'],
  ['/big=9007199254740992', '/big is 9007199254740993'],
  ['/gone=1', '/gone is absent'],
  ['/status!=ok', '/status is ok'],
  ['text=release', 'the text is 4f2a9c1 release'],
])('%s does not hold: %s', (text, reason) => {
  expect(reasonOf(text)).toBe(reason);
});

test('a condition on a path without a status needs a 2xx', () => {
  expect(reasonOf('GET /version /status=ok', 503)).toBe('GET /version: answered 503 Service Unavailable');
  expect(reasonOf('/status=ok', 503)).toBeUndefined();
});

const grammar = expect.stringMatching(/^write \[GET path\] .*see `petstore help checks`$/);

test.each([
  ['', "'' is not a part of a condition"],
  ['POST /pets 201', "'POST /pets 201' is not a part of a condition"],
  [
    'GET ftp://elsewhere.example/health 200',
    "'GET ftp://elsewhere.example/health 200' is not a part of a condition",
  ],
  ['GET /health 200 204', "'204' is not a part of a condition"],
  ['x-commit=4f2a9c1', "'x-commit=4f2a9c1' is not a part of a condition"],
  ['/status=not ok', "'ok' is not a part of a condition"],
  ['200 GET /health', "'GET /health' is not a part of a condition"],
])('%j is refused, with the place where it stopped and the grammar', (text, why) => {
  const parse = () => parseCondition(text);
  expect(parse).toThrow(why);
  expect(parse).toThrow(
    expect.objectContaining({ kind: 'usage', details: { code: 'invalid_flag', hint: grammar } }),
  );
});
