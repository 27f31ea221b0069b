import { expect, test } from 'vitest';
import { parseHeaderFlag, rejectInsecure, toHeaders } from '../../src/client/user-request.ts';
import { createSecrets } from '../../src/process/secrets.ts';

test('a header of the user replaces one of the program; two of the user are both sent', () => {
  const usual = [{ name: 'Accept', value: 'application/json', givenBy: 'petstore' }];
  const userFields = ['accept: text/plain', 'X-Trace: 1', 'x-trace: 2'].map(parseHeaderFlag);
  expect(toHeaders([...usual, ...userFields])).toEqual({ accept: 'text/plain', 'x-trace': ['1', '2'] });
});

test.each([
  ['no colon', 'must be `name: value`, and has no colon'],
  [': x', 'must be `name: value`, and has no name'],
  ['two words: x', '"two words" is not a header name'],
  ['X-A: a\r\nX-B: b', 'the value of X-A holds "\\r"'],
  ['X-A: pet\u2603', 'the value of X-A holds "\u2603"'],
  ['X-A: a\u0000', 'the value of X-A holds "\\u0000"'],
  ['Content-Length: 3', 'Content-Length is set by the connection'],
])('%j is refused, and its flag named', (text, why) => {
  expect(() => toHeaders([parseHeaderFlag(text)])).toThrow(`--header: ${why}`);
});

test('a credential in a header goes over plain http only to this machine', () => {
  const secrets = createSecrets();
  secrets.addHeader('X-Api-Key');
  const key = [parseHeaderFlag('x-api-key: s3cret-word')];
  expect(() => rejectInsecure(key, 'http://shop.example', secrets)).toThrow(
    '--header: x-api-key carries a credential',
  );
  for (const url of ['https://shop.example', 'http://127.0.0.1:4010', 'http://localhost:1', 'http://[::1]:1'])
    expect(() => rejectInsecure(key, url, secrets)).not.toThrow();
  const harmless = [parseHeaderFlag('Idempotency-Key: 1234'), parseHeaderFlag('X-Author: Luna')];
  expect(() => rejectInsecure(harmless, 'http://shop.example', secrets)).not.toThrow();
});
