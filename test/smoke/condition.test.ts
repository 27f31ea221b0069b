import { expect, test } from 'vitest';
import { differenceTo } from '../../src/checks/condition-difference.ts';
import { findUnmet, parseCondition, parseRecordCondition } from '../../src/input/condition.ts';
import { UsageError } from '../../src/process/errors.ts';

const answer = {
  status: 200,
  url: 'http://host/version',
  headers: { 'x-commit': '4f2a9c1', 'x-load': '0.5' },
  text: ' 4f2a9c1 release\n',
  json: {
    big: 9007199254740993n,
    status: 'ok',
    n: 5,
    text: '7',
    parts: [{ up: true }],
    none: null,
    'a b': 1,
  },
};

const reasonOf = (text: string, status = 200) =>
  differenceTo(parseCondition(text, '--expect'), { ...answer, status }, (each) => each)?.reason;

test.each([
  'GET /version',
  'GET /version 200',
  'GET /version 2xx header x-commit=4f2a9c1 /status=ok text^=4f2',
  'header x-commit^=4f2a',
  'header X-Commit*=a9c',
  'header x-load<1',
  'header x-gone!=anything',
  '/n>4 /n<6 /text>6',
  '/n=5',
  '/big>9007199254740992',
  '/big<9007199254740994',
  '/big>9007199254740992.5',
  '/none=null',
  '/parts/0/up=true',
  '/gone!=x',
  'text="4f2a9c1 release"',
  'text*=release',
  '/status!=DOWN',
])('%s holds', (text) => {
  expect(reasonOf(text)).toBeUndefined();
});

test.each([
  ['GET /version 404', 'GET /version answered 200 OK'],
  ['GET /version 4xx', 'GET /version answered 200 OK'],
  ['header x-commit=new', 'x-commit is 4f2a9c1'],
  ['header x-gone=1', 'there is no header x-gone'],
  ['header x-load>1', 'x-load is 0.5'],
  ['/n>5', '/n is 5'],
  ['/big>9007199254740993', '/big is 9007199254740993'],
  ['/status>1', '/status is ok'],
  ['/gone=1', '/gone is absent'],
  ['/gone<1', '/gone is absent'],
  ['/status!=ok', '/status is ok'],
  ['text=release', 'the text is 4f2a9c1 release'],
])('%s does not hold: %s', (text, reason) => {
  expect(reasonOf(text)).toBe(reason);
});

test('a condition on a path without a status needs a 2xx', () => {
  expect(reasonOf('GET /version /status=ok', 503)).toBe('GET /version answered 503 Service Unavailable');
  expect(reasonOf('/status=ok', 503)).toBeUndefined();
});

test.each([
  ['', "at ''"],
  ['GET version', "at 'GET version'"],
  ['POST /pets 201', 'only GET is sent'],
  ['GET http://elsewhere.example/health 200', "at 'GET http://elsewhere.example/health 200'"],
  ['GET /health 700', "at '700'"],
  ['GET /health ok', "at 'ok'"],
  ['GET /health 200 204', 'duplicate status'],
  ['header a=1 header b=2', 'duplicate header'],
  ['text=a text=b', 'duplicate text'],
  ['x-commit=4f2a9c1', "at 'x-commit=4f2a9c1'"],
  ['/status=not ok', "at 'ok'"],
  ['/n<soon', '< needs a number'],
  ['header x-load>', '> needs a number'],
  ['/status~=ok', "at '/status~=ok'"],
  ['200 GET /health', 'method and path come first'],
])('%j is refused, with the place where it stopped and the grammar', (text, why) => {
  const parse = () => parseCondition(text, '--wait-for');
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(`--wait-for '${text}': `);
  expect(parse).toThrow(why);
});

const record = { complete: true, quantity: 9007199254740993n, pet: { name: 'Luna' }, note: 'not yet' };

test.each([
  ['complete=true', undefined],
  ['/complete=true', undefined],
  ['quantity>9007199254740992 complete=true', undefined],
  ['pet/name^=Lu', undefined],
  ['note="not yet"', undefined],
  ['gone!=x', undefined],
  ['complete=false', { pointer: '/complete', actual: 'true' }],
  ['complete=true quantity<5', { pointer: '/quantity', actual: '9007199254740993' }],
  ['gone=x', { pointer: '/gone', actual: undefined }],
])('%s is a condition on a record, whose smallest form is a field and a value', (text, unmet) => {
  const found = findUnmet(parseRecordCondition(text, '--until'), record);
  expect(found && { pointer: found.comparison.pointer, actual: found.actual }).toEqual(unmet);
});

test.each([
  ['', "at ''"],
  ['complete', "at 'complete'"],
  ['=true', "at '=true'"],
  ['complete=not yet', "at 'yet'"],
  ['quantity>many', '> needs a number'],
])('%j is no condition on a record', (text, why) => {
  expect(() => parseRecordCondition(text, '--until')).toThrow(why);
});
