import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const token = 's3cret/W0rd4f6B8d0A2c4E+of=12';
/** What is left of the token if it is cut: half a secret is not recognised. */
const pieces = /w0rd4f6|b8d0a2c4e/i;
const escaped = JSON.stringify(JSON.stringify(token));
/** Longer than what is shown of a text, with the token where it is cut. */
const long = (length: number) => `${'x'.repeat(length - 20)}${token}${'y'.repeat(400)}`;

/** What a service may answer to a write, with the token in it. */
const answers: Readonly<Record<string, Reply>> = {
  'an error': { status: 409, body: { code: token, message: `${escaped} ${encodeURIComponent(token)}` } },
  'a long error': { status: 409, body: { code: long(100), message: long(1000) } },
  'a success that is an error': { body: { code: 'c', message: token, status: 409 } },
  'a success that is a long error': { body: { error: { message: long(200) } } },
  'a page': { body: long(200), headers: { 'content-type': 'text/html' } },
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
      const headers = { 'x-request-id': token, deprecation: 'true', link };
      if (method !== 'GET') return { ...answer, headers: { ...headers, ...answer.headers } };
      const item = { petId: 1, quantity: 5, status: 'sold' };
      if (path.startsWith('/store/inventory/')) return { headers, body: item };
      if (path.startsWith('/store/inventory')) return { headers, body: [item] };
      return { headers, body: [{ id: token, name: encodeURIComponent(token) }] };
    });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'stock.csv'), 'petId,quantity\n1,7\n');
    writeFileSync(join(folder, 'new.csv'), 'name\nToys\n');
    const state = { PETSTORE_STATE_DIR: join(folder, 'state') };
    const env = { ...state, PETSTORE_TOKEN: token, PETSTORE_BASE_URL: server.url };
    const run = (line: string) => runCli([...line.split(' '), '--retries', '0'], { env, cwd: folder });
    const applied = await run('inventory apply stock.csv --yes');
    expect(applied.code).not.toBe(0);
    const outputs = [applied.stdout, applied.stderr];
    const reports = `--report junit=${join(folder, 'report.xml')} --report json=${join(folder, 'report.json')}`;
    const smoke = await run(`smoke --write --yes ${reports}`);
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
