import { expect, test } from 'vitest';
import { traceOf } from '../../src/client/send-call.ts';
import { createSecrets, maskUrl } from '../../src/process/secrets.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';

/** The forms in which a service may send a secret back. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  base64: (text) => Buffer.from(text).toString('base64').replace(/=*$/, ''),
};

test('a secret is masked plain, percent-encoded and as base64', () => {
  for (const secret of ['abc+d/e=4f5A6b7C8d9E0f"é', 'p@ss/wort', 'A+b/c==', 'x7Q.'.repeat(2500)]) {
    const secrets = createSecrets();
    secrets.add(secret);
    for (const [name, write] of Object.entries(forms))
      expect([name, secrets.mask(`before ${write(secret)} after`)]).toEqual([name, 'before *** after']);
  }
});

test('the password of a proxy is masked, also in the header that is sent', () => {
  for (const name of ['HTTP_PROXY', 'https_proxy']) {
    const secrets = createSecrets({ [name]: 'http://me:p%40ss%2Fwort@proxy.example:3128' });
    const basic = Buffer.from('me:p@ss/wort').toString('base64');
    expect(secrets.mask(`p@ss/wort p%40ss%2Fwort ${basic}`)).toBe('*** *** ***');
  }
});

test('a secret within another is masked too, and a text that is too short is not masked', () => {
  const secrets = createSecrets();
  for (const secret of ['s3cret', 's3cret-word', '1', '']) secrets.add(secret);
  expect(secrets.mask('s3cret-word s3cret {"id":1}')).toBe('*** *** {"id":1}');
});

test('a URL is shown without its user name and password', () => {
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
  const sent = { authorization: 'Bearer x', 'x-api-key': 'x', 'x-commit': '4a1f', cookie: 'a=1' };
  const headers = { ...sent, link: '<http://me:pw@h/pets>; rel="next"' };
  const response = { status: 200, headers: { 'set-cookie': ['a=1', 'b=2'], server: 'nginx' }, body: '' };
  const request = { method: 'GET', url: 'http://h/pets', headers };
  const trace = traceOf({ request, response, isSent: true, number: 1, elapsedMs: 5 }, 2, secrets);
  const requestLines = '> authorization: ***\n> x-api-key: ***\n> x-commit: 4a1f\n> cookie: ***\n';
  const otherLines = '> link: <http://***@h/pets>; rel="next"\n< set-cookie: ***\n< server: nginx\n';
  expect(trace.slice(trace.indexOf('\n') + 1)).toBe(requestLines + otherLines);
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
  ['pets', 'list', '--base-url'],
  ['profile', 'create', 'x', '--base-url'],
])('the password of a URL on the command line is not shown: %s %s', async (...words) => {
  const { code, stdout, stderr } = await runCli([...words, 'http://me:p4ssw0rd@shop.example']);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain('p4ssw0rd');
});
