import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { OperationId } from '../../src/api/nouns.ts';
import type { Operation } from '../../src/api/operations.ts';
import { type CallInput, toHttpRequest } from '../../src/client/call.ts';
import { parseHeaderFlag, requireSecure, toHeaders, toRawRequest } from '../../src/client/user-request.ts';
import { createSecrets } from '../../src/process/secrets.ts';

const target = { baseUrl: 'http://shop.example/api', headers: { accept: 'application/json' } };

function operation(id: OperationId, changes: Partial<Operation> = {}): Operation {
  return { ...builtInContract.operations.get(id)!, ...changes };
}

function requestOf(operation: Operation, input: CallInput) {
  return toHttpRequest(operation, input, target);
}

function urlOf(chosen: Operation, input: CallInput): string {
  return requestOf(chosen, input).url;
}

test('a constant goes into the header that the description names', () => {
  const constant = {
    name: 'x',
    wireName: 'x-dry-run',
    in: 'header',
    required: true,
    constant: 'true',
  } as const;
  expect(requestOf(operation('listPets', { parameters: [constant] }), {}).headers).toMatchObject({
    'x-dry-run': 'true',
  });
});

test('spaces and letters beyond ASCII in the path of a description are sent percent-encoded', () => {
  const boundOperation = operation('getPet', {
    path: '/alle Bären/{Bärnummer}',
    parameters: [{ name: 'id', wireName: 'Bärnummer', in: 'path', required: true }],
  });
  expect(urlOf(boundOperation, { id: 3n })).toBe('http://shop.example/api/alle%20B%C3%A4ren/3');
});

describe('a request of a description is refused if', () => {
  test.each([
    ['/../admin', 'must not contain the segments'],
    ['/%2e%2e/admin', 'must not contain the segments'],
    ['/pets/..%2F../%2E%2E/%2e%2e/.%2e/admin', 'must not contain the segments'],
    ['/.\t./admin', 'must not contain controls'],
    ['@evil.test/', 'must begin with /'],
    ['pets', 'must begin with /'],
  ])('the path %j leaves that of the base URL', (path, why) => {
    expect(() => urlOf(operation('listPets', { path }), {})).toThrow(`the path ${path} ${why}`);
  });

  test('a value would make a dot segment', () => {
    expect(() => urlOf(operation('getPet'), { id: '..' })).toThrow('the path /pets/.. must not');
    expect(urlOf(operation('getPet'), { id: '../x' })).toBe('http://shop.example/api/pets/..%2Fx');
  });

  test.each([
    ['bad name', '1', '"bad name" is not a header name'],
    ['x-id', 'a\r\nb: c', 'must not contain "\\r"'],
    ['Content-Length', '1', 'is set by the connection'],
    ['Host', 'evil.test', 'is set by the base URL'],
  ])('the header %j has the value %j', (wireName, value, why) => {
    const boundOperation = operation('listPets', {
      parameters: [{ name: wireName, wireName, in: 'header', required: true, constant: value }],
    });
    expect(() => urlOf(boundOperation, {})).toThrow(why);
  });
});

describe('a request of the user', () => {
  const raw = (path: string) => toRawRequest({ method: 'GET', path }, target).url;

  test.each([
    '../admin',
    '/%2e%2e/admin',
    'pets/3/../4',
    'pets/3/.',
    '/pets/3/.. ',
    'pets/3/..?a=b',
    'http://shop.example/api/x/%2E./4',
  ])('to %j would go to another path, and is refused', (path) => {
    expect(() => raw(path)).toThrow(`${path}: must not contain the segments . and ..`);
  });

  test('goes below the base URL, or to any whole URL of its origin', () => {
    expect(raw('/pets/...?a=/../b')).toBe('http://shop.example/api/pets/...?a=/../b');
    expect(raw('http://shop.example/admin')).toBe('http://shop.example/admin');
    expect(() => raw('http://other.example/')).toThrow('its origin is not that of ');
  });

  test.each([
    ['/pets/1\n2', 'must not contain controls'],
    ['/pets/3\r', 'must not contain controls'],
    ['/pets\\3', 'must not contain controls or backslashes'],
    ['', 'must not be empty'],
  ])('to %j could reach what the user did not mean, and is refused', (path, why) => {
    expect(() => raw(path)).toThrow(why);
  });
});

test('a header replaces an earlier one of the same name', () => {
  const usual = [{ name: 'Accept', value: 'application/json', givenBy: 'petstore' }];
  const userFields = ['accept: text/plain', 'X-Trace: 1', 'x-trace: 2'].map(parseHeaderFlag);
  expect(toHeaders([...usual, ...userFields])).toEqual({ accept: 'text/plain', 'x-trace': '2' });
});

test.each([
  ['no colon', 'must be `name: value`, and has no colon'],
  [': x', 'must be `name: value`, and has no name'],
  ['two words: x', '"two words" is not a header name'],
  ['X-A: a\r\nX-B: b', 'the value of X-A must not contain "\\r"'],
  ['X-A: pet\u2603', 'the value of X-A must not contain "\u2603"'],
  ['X-A: a\u0000', 'the value of X-A must not contain "\\u0000"'],
  ['Content-Length: 3', 'Content-Length is set by the connection'],
])('%j is refused, and its flag named', (text, why) => {
  expect(() => toHeaders([parseHeaderFlag(text)])).toThrow(`--header: ${why}`);
});

test('a credential in a header goes over plain http only to this machine', () => {
  const secrets = createSecrets();
  secrets.addHeader('X-Api-Key');
  const key = [parseHeaderFlag('x-api-key: s3cret-word')];
  expect(() => requireSecure(key, 'http://shop.example', secrets)).toThrow(
    '--header: x-api-key carries a credential',
  );
  for (const url of ['https://shop.example', 'http://127.0.0.1:4010', 'http://localhost:1', 'http://[::1]:1'])
    expect(() => requireSecure(key, url, secrets)).not.toThrow();
  const harmless = [parseHeaderFlag('Idempotency-Key: 1234'), parseHeaderFlag('X-Author: Luna')];
  expect(() => requireSecure(harmless, 'http://shop.example', secrets)).not.toThrow();
});
