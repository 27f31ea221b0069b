import { expect, test } from 'vitest';
import { traceOf } from '../../src/client/trace.ts';
import { createSecrets, maskUrl } from '../../src/process/secrets.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';

const token = 'abc+d/e=4f5A6b7C8d9E0f"é';
const stretch = '4f5A6b7C8d9E0f';

/** The spellings in which a service may send a token back. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  JSON: (text) => JSON.stringify(text),
  'JSON in JSON in JSON': (text) => JSON.stringify(JSON.stringify(JSON.stringify(text))),
  'JSON with other escapes': (text) => text.replaceAll('+', '\\u002b').replaceAll('/', '\\/'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded three times, in lower case': (text) =>
    encodeURIComponent(encodeURIComponent(encodeURIComponent(text))).toLowerCase(),
  'an old escape of JavaScript': (text) => text.replaceAll('é', '%u00e9').replaceAll('+', '\\x2b'),
  'HTML entities': (text) => text.replace(/[^a-z\d]/gi, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`),
  'UTF-8 read as Latin-1': (text) => Buffer.from(text).toString('latin1'),
};

test.each(Object.entries(spellings))('a token that comes back as %s is masked', (_, spell) => {
  const secrets = createSecrets();
  secrets.add(token);
  const text = secrets.mask(`before ${spell(token)} after`);
  expect(text).toMatch(/^before .*[*]{3}.* after$/);
  expect(text.toLowerCase()).not.toContain(stretch.toLowerCase());
});

test.each(['p@ss/wort', 'A+b/c==', 'key-é-1'])(
  '%s, without a long stretch of letters and digits, is masked as a whole',
  (secret) => {
    const secrets = createSecrets();
    secrets.add(secret);
    for (const name of [
      'plain',
      'upper case',
      'percent-encoded',
      'percent-encoded three times, in lower case',
    ])
      expect(secrets.mask(`before ${spellings[name]?.(secret)} after`)).toBe('before *** after');
  },
);

test('of a token with many long stretches none is left', () => {
  const secrets = createSecrets();
  const parts = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N'];
  secrets.add(parts.join('.'));
  for (const separator of ['.', '\\u002e', '%2E', ' '])
    expect(secrets.mask(parts.join(separator))).not.toMatch(/[a-z]{6}/i);
});

test('the password of a proxy is masked, also in what is sent for it', () => {
  for (const name of ['HTTP_PROXY', 'https_proxy']) {
    const secrets = createSecrets({ [name]: 'http://me:p%40ss%2Fwort@proxy.example:3128' });
    const basic = Buffer.from('me:p@ss/wort').toString('base64');
    expect(secrets.mask(`p@ss/wort p%40ss%2Fwort ${basic}`)).toBe('*** *** ***');
  }
});

test('of two secrets, one of which is part of the other, nothing is left', () => {
  const secrets = createSecrets();
  secrets.add('s3cret');
  secrets.add('s3cret-word');
  expect(secrets.mask('s3cret-word s3cret')).toBe('*** ***');
});

test('a token of any length is masked', () => {
  const secrets = createSecrets();
  const long = 'x7Q.'.repeat(2500);
  secrets.add(long);
  expect(secrets.mask(`a ${long} b`)).toMatch(/^a [*]+ b$/);
});

test('what is too short to be a secret changes no output', () => {
  const secrets = createSecrets();
  for (const secret of ['1', '']) secrets.add(secret);
  expect(secrets.mask('{"id":1}')).toBe('{"id":1}');
});

test('a URL is shown without userinfo, also one that a service has made to take long', () => {
  expect(maskUrl('https://me:pw@shop.example/pets?limit=2')).toBe('https://***@shop.example/pets?limit=2');
  expect(maskUrl('http://shop.example/a@b?mail=a@b')).toBe('http://shop.example/a@b?mail=a@b');
  expect(maskUrl('http://me:p@ss@shop.example/')).toBe('http://***@shop.example/');
  // In quadratic time these would not end.
  for (const part of ['?a=', 'a.', 'a://', 'http://a@'])
    expect(maskUrl(`http://shop.example/${part.repeat(1_000_000)}`)).toContain('shop.example');
});

test('-vv shows every header but those that carry credentials', () => {
  const secrets = createSecrets();
  secrets.addHeader('X-Api-Key');
  const headers = {
    authorization: 'Bearer x',
    'x-api-key': 'x',
    'x-commit': '4a1f',
    cookie: 'a=1',
    link: '<http://me:pw@h/pets>; rel="next"',
  };
  const response = { status: 200, headers: { 'set-cookie': ['a=1', 'b=2'], server: 'nginx' }, body: '' };
  const request = { method: 'GET', url: 'http://h/pets', headers };
  expect(
    traceOf(
      { request, response, isRedirected: false, isSent: true, number: 1, elapsedMs: 5, latencyMs: 5 },
      2,
      secrets,
    )
      .split('\n')
      .slice(1, -1),
  ).toEqual([
    '> authorization: ***',
    '> x-api-key: ***',
    '> x-commit: 4a1f',
    '> cookie: ***',
    '> link: <http://***@h/pets>; rel="next"',
    '< set-cookie: ***',
    '< server: nginx',
  ]);
});

test('PETSTORE_TOKEN is masked from the first line on, in usage errors too', async () => {
  const env = { PETSTORE_TOKEN: 'tok-3n-s3cret' };
  for (const words of [
    ['pets', 'list', '--base-url', 'https://[tok-3n-s3cret'],
    ['pets', 'list', '--tok-3n-s3cret'],
    ['tok-3n-s3cret'],
    ['pets', 'list', '-o', 'tok-3n-s3cret'],
    ['pets', 'list', '-o', 'json', '--timeout', 'tok-3n-s3cret'],
    ['config', 'set', 'timeout', 'tok-3n-s3cret'],
  ]) {
    const { code, stdout, stderr } = await runCli(words, { env });
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('tok-3n');
    expect(stderr).toContain('***');
  }
});

test('records on stdout are never changed, whatever headers were given', async () => {
  const pets = [{ id: 1, name: 'Luna', categoryId: 1, status: 'sold', note: '12345678' }];
  await using server = await recordingServer({}, () => ({ body: pets }));
  const headers = ['-H', 'X-Author: Luna', '-H', 'Idempotency-Key: 12345678'];
  const env = { PETSTORE_TOKEN: 'Luna' };
  for (const [format, output] of [
    ['json', JSON.stringify(pets)],
    ['csv', 'id,name,category,status\n1,Luna,Luna,sold'],
  ] as const) {
    const run = await runCli(['pets', 'list', '--base-url', server.url, '-o', format, ...headers], { env });
    expect(run.stdout.trim()).toBe(output);
  }
});

test.each([
  ['serve', '--cors'],
  ['pets', 'list', '--base-url'],
  ['profile', 'create', 'x', '--base-url'],
  ['api', 'bind', '--base-url', 'http://127.0.0.1:9'],
])('the password of a URL on the command line is not shown: %s %s', async (...words) => {
  const { code, stdout, stderr } = await runCli([...words, 'http://me:p4ssw0rd@shop.example']);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain('p4ssw0rd');
});
