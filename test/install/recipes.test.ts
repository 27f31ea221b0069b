import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { RecordOf } from '../../src/api/schemas.ts';
import { runCli } from '../helpers/run-cli.ts';
import { commit, openShell } from '../helpers/shell.ts';
import { testWith } from '../helpers/tools.ts';

const test = testWith('bash', 'xargs');

const { stdout: page } = await runCli(['help', 'ci']);

let shell: Awaited<ReturnType<typeof openShell>>;
let env: Readonly<Record<string, string>>;
/** The counts of the service, and those of the file: two of its 25 rows differ. */
let before: string;
let wanted: string;

async function counts(): Promise<string> {
  const entries = await (await fetch(`${shell.url}/store/inventory`)).json();
  return (entries as RecordOf<'inventory'>[]).map(({ petId, quantity }) => `${petId},${quantity}\n`).join('');
}

beforeAll(async () => {
  shell = await openShell();
  env = { CI: 'true', PETSTORE_BASE_URL: shell.url, PETSTORE_TOKEN: 't0ken', GITHUB_SHA: commit };
  before = await counts();
  wanted = before.replace(/^7,24$/m, '7,48').replace(/^12,40$/m, '12,37');
  shell.write('stock.csv', `petId,quantity\n${wanted}`);
  shell.write('before.csv', `petId,quantity\n${before}`);
});
afterAll(() => shell[Symbol.asyncDispose]());
beforeEach(() => {
  for (const left of ['out', 'state']) rmSync(join(shell.folder, left), { recursive: true, force: true });
});

test('every line of the list runs as it says, and the shards write the whole file', async () => {
  // A line of the list has its meaning below it, indented.
  const lines = Array.from(page.matchAll(/^((?:\S.* )?petstore .*)\n {2}\w/gm), ([, line = '']) => line);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const { code, output } = await shell.run(line, { env });
    expect(code, `${line}\n${output}`).toBe(line.includes('diff') ? 8 : 0);
    if (/apply/.test(line)) expect(await counts()).toBe(wanted);
    if (/apply/.test(line)) await shell.run('petstore inventory apply before.csv --yes', { env });
  }
});

test('the smoke line of GitHub is red for another commit', async () => {
  const [line = ''] = /^petstore smoke .*GITHUB_SHA.*$/m.exec(page) ?? [];
  const other = await shell.run(line.replace('60s', '1s'), { env: { ...env, GITHUB_SHA: 'other' } });
  expect(other.code).toBe(7);
});
