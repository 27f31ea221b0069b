import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { parse } from 'yaml';
import type { RecordOf } from '../../src/api/schemas.ts';
import { commit, openDesk } from '../helpers/desk.ts';
import { runCli } from '../helpers/run-cli.ts';
import { testWith } from '../helpers/tools.ts';

const test = testWith('bash', 'xargs');

const { stdout: page } = await runCli(['help', 'ci']);

let desk: Awaited<ReturnType<typeof openDesk>>;
let env: Readonly<Record<string, string>>;
/** The counts of the service, and those of the file of 25 rows, of which two differ. */
let before: string;
let wanted: string;

async function counts(): Promise<string> {
  const entries = await (await fetch(`${desk.url}/store/inventory`)).json();
  return (entries as RecordOf<'inventory'>[]).map(({ petId, quantity }) => `${petId},${quantity}\n`).join('');
}

beforeAll(async () => {
  desk = await openDesk();
  env = { CI: 'true', PETSTORE_BASE_URL: desk.url, PETSTORE_TOKEN: 't0ken' };
  before = await counts();
  wanted = before.replace(/^7,24$/m, '7,48').replace(/^12,40$/m, '12,37');
  desk.write('stock.csv', `petId,quantity\n${wanted}`);
  desk.write('before.csv', `petId,quantity\n${before}`);
});
afterAll(() => desk[Symbol.asyncDispose]());
beforeEach(() => {
  for (const left of ['out', 'state']) rmSync(join(desk.folder, left), { recursive: true, force: true });
});

/** What a runner of GitHub does with `${{ … }}`. */
function expanded(line: string, values: Readonly<Record<string, string>>): string {
  return line.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => values[name] ?? '');
}

test('every line of the list runs as it says, and the shards write the whole file', async () => {
  // A line of the list has its meaning below it, indented.
  const lines = Array.from(page.matchAll(/^((?:\S.* )?petstore .*)\n {2}\w/gm), ([, line = '']) => line);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const { code, output } = await desk.run(line, { env });
    expect(code, `${line}\n${output}`).toBe(line.includes('diff') ? 8 : 0);
    if (/apply/.test(line)) expect(await counts()).toBe(wanted);
    if (/apply/.test(line)) await desk.run('petstore inventory apply before.csv --yes', { env });
  }
});

test('the smoke workflow of GitHub is green for its own commit, and red for another', async () => {
  const { jobs } = parse(page.slice(page.indexOf('  # .github')));
  const line: string = jobs.smoke.steps.at(-1).run;
  expect((await desk.run(expanded(line, { 'github.sha': commit }), { env })).code).toBe(0);
  const other = expanded(line, { 'github.sha': 'other' }).replace('60s', '1s');
  expect((await desk.run(other, { env })).code).not.toBe(0);
});
