import { expect, test } from 'vitest';
import { createSecrets, maskFields, maskUrl, secretsIn } from '../src/mask.ts';

test('a URL is shown without userinfo and without the values of keys', () => {
  expect(maskUrl('https://me:pw@shop.example/pets?api_key=abc&limit=2&Token=x#k')).toBe(
    'https://***@shop.example/pets?api_key=***&limit=2&Token=***#k',
  );
  expect(maskUrl('http://shop.example/a@b?mail=a@b')).toBe('http://shop.example/a@b?mail=a@b');
});

test('a URL that a service has made to take long is masked at once', () => {
  const started = performance.now();
  for (const part of ['?key', '?a=', '&key=', 'a.', 'a://', 'http://a@', '?key=?'])
    maskUrl(`http://shop.example/${part.repeat(16_000 / part.length)}`);
  expect(performance.now() - started).toBeLessThan(1000);
  expect(maskUrl('/pets?a?api_key=abc&b=?token=x')).toBe('/pets?a?api_key=***&b=?token=***');
});

test('only fields that are known to be harmless are shown', () => {
  const fields = {
    accept: 'application/json',
    authorization: 'Bearer s3cret-word',
    'x-anything': 'else',
    'set-cookie': ['a=1', 'b=2'],
    link: '<http://h/pets?api_key=k>; rel="next"',
  };
  expect(maskFields(fields)).toEqual({
    accept: 'application/json',
    authorization: '***',
    'x-anything': '***',
    'set-cookie': '***',
    link: '<http://h/pets?api_key=***>; rel="next"',
  });
});

test('a link of the embedded store, which has no address, is shown as its path', () => {
  const link = '<http://offline.invalid/pets?after=1>; rel="next"';
  expect(maskFields({ link })).toEqual({ link: '</pets?after=1>; rel="next"' });
});

test('a secret is masked everywhere, in each spelling', () => {
  const secrets = createSecrets();
  for (const secret of secretsIn({ authorization: 'Bearer a"b/c+d', accept: 'application/json' }))
    secrets.add(secret);
  expect(secrets.mask('a"b/c+d Bearer a"b/c+d')).toBe('*** ***');
  expect(secrets.mask('{"echo":"a\\"b/c+d"} ?q=a%22b%2Fc%2Bd')).toBe('{"echo":"***"} ?q=***');
  expect(secrets.mask('application/json')).toBe('application/json');
});

test('the value of a header is a secret by the name of the header, or by its length', () => {
  const secrets = createSecrets();
  const fields = { 'x-api-key': 'k3y-k3y', 'x-debug': 'true', 'x-shop': 'a-long-name-of-a-shop' };
  for (const secret of secretsIn(fields)) secrets.add(secret);
  expect(secrets.mask('{"a":true,"b":"k3y-k3y","c":"a-long-name-of-a-shop"}')).toBe(
    '{"a":true,"b":"***","c":"***"}',
  );
});

test('the word before a secret may be any that a scheme may be', () => {
  const secrets = createSecrets();
  for (const secret of secretsIn({ authorization: 'Api.Key!2 s3cret' })) secrets.add(secret);
  expect(secrets.mask('said: s3cret')).toBe('said: ***');
});

test('what is too short to be a secret changes no output', () => {
  const secrets = createSecrets();
  secrets.add('1');
  secrets.add('');
  expect(secrets.mask('{"id":1}')).toBe('{"id":1}');
});
