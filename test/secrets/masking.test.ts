import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { traceOf } from '../../src/client/shown-request.ts';
import { createSecrets, maskUrl } from '../../src/process/secrets.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { openWorkspace } from '../helpers/stock-shop.ts';

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
  const response = { status: 200, headers: { 'set-cookie': 'a=1, b=2', server: 'nginx' }, body: '' };
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

const token = 's3cret/W0rd4f6B8d0A2c4E+of=12';
/** What is left of the token if it is cut: half a secret is not recognised. */
const pieces = /w0rd4f6|b8d0a2c4e/i;
const escaped = JSON.stringify(JSON.stringify(token));
/** Longer than what is shown of a text, with the token where it is cut. */
const long = (length: number) => `${'x'.repeat(length - 20)}${token}${'y'.repeat(400)}`;

const html = { 'content-type': 'text/html' };

/** What a service may answer to a write, with the token in it. */
const answers: Readonly<Record<string, Reply>> = {
  'an error': { status: 409, body: { code: token, message: `${escaped} ${encodeURIComponent(token)}` } },
  'a long error': { status: 409, body: { code: long(100), message: long(1000) } },
  'a success that is an error': { body: { code: 'c', message: token, status: 409 } },
  'a success that is a long error': { body: { error: { message: long(200) } } },
  'a page': { body: long(200), headers: html },
  'the type of a page': {
    status: 500,
    body: 'x',
    headers: { 'content-type': `text/${encodeURIComponent(token)}` },
  },
  'the age of a reading': { status: 412, body: { message: 'no' }, headers: {} },
  'text that is not JSON': { body: `{"a":${token}`, headers: { 'content-type': 'application/json' } },
  'another value': { body: { petId: 1, quantity: token, status: 'sold' } },
  'a long other value': { body: { petId: 1, quantity: long(100), status: 'sold' } },
  'another status': { body: { petId: 1, quantity: 5, status: long(100) } },
  'another record': { body: { petId: long(100), quantity: 7, status: 'sold' } },
  'a record with another long name': { body: { id: 1, name: long(100) } },
  'a redirect': { status: 302, headers: { location: `/login?next=${encodeURIComponent(token)}` } },
};

test.each(Object.entries(answers))(
  'a token that a service repeats in %s is in no journal, rejects file, report or output for people',
  async (_, answer) => {
    await using server = await recordingServer({}, ({ method, path }) => {
      const link = `<http://x/?t=${token}>; rel="deprecation"`;
      const headers = {
        'x-request-id': token,
        deprecation: 'true',
        link,
        age: encodeURIComponent(token),
        etag: '"1"',
      };
      if (method !== 'GET') return { ...answer, headers: { ...headers, ...answer.headers } };
      const item = { petId: 1, quantity: 5, status: 'sold' };
      if (path.startsWith('/store/inventory/')) return { headers, body: item };
      if (path.startsWith('/store/inventory')) return { headers, body: [item] };
      // The report of a check shows 200 letters of it.
      if (path.startsWith('/store/orders')) return { headers: { ...headers, ...html }, body: long(200) };
      return { headers, body: [{ id: long(200), name: encodeURIComponent(token) }] };
    });
    const { folder, write, run: runHere } = openWorkspace(server);
    write('stock.csv', 'petId,quantity\n1,7\n');
    write('new.csv', 'name\nToys\n');
    const env = { PETSTORE_TOKEN: token };
    const run = (line: string) => runHere(`${line} --retries 0`, { env });
    const applied = await run('inventory apply stock.csv --yes');
    expect(applied.code).not.toBe(0);
    const outputs = [applied.stdout, applied.stderr];
    const smoke = await run('smoke --write --yes --report junit=report.xml --report json=report.json');
    outputs.push(smoke.stdout, smoke.stderr);
    const counts = ['set 1 9 -o json -vv', 'set 1 9', 'create 1 9', 'delete 1 --yes'];
    const lines = ['runs', 'doctor -vv', 'categories create --from new.csv --yes'];
    for (const line of [...lines, ...counts.map((words) => `inventory ${words}`)])
      outputs.push((await run(line)).stderr);
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((file) => file.isFile());
    const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
    const names = ['r1.jsonl', 'r2.jsonl', 'report.json', 'report.xml'];
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    expect(outputs.join('')).toContain('***');
    for (const text of [...outputs, ...texts]) expect(text).not.toMatch(pieces);
  },
);
