import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { parse } from 'yaml';
import type { InventoryItem } from '../../src/api/schemas.ts';
import { readTopics } from '../../src/cli/topics.ts';
import { commit, openDesk } from '../helpers/desk.ts';
import { testWith } from '../helpers/tools.ts';

const test = testWith('bash');

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const { blocks } = (await readTopics()).ci;

/** The lines of the one recipe of `petstore help ci` that has this text. */
function recipe(text: string): string {
  const texts = blocks.flatMap((block) =>
    typeof block !== 'string' && 'lines' in block ? block.lines.join('\n') : [],
  );
  const [only, ...others] = texts.filter((candidate) => candidate.includes(text));
  expect([only, others]).toEqual([expect.any(String), []]);
  return only ?? '';
}

let desk: Awaited<ReturnType<typeof openDesk>>;
let env: Readonly<Record<string, string>>;
/** The counts of the service, and those of the file of 25 rows, of which two differ. */
let before: string;
let wanted: string;

async function counts(): Promise<string> {
  const entries = await (await fetch(`${desk.url}/store/inventory`)).json();
  return (entries as InventoryItem[]).map(({ petId, quantity }) => `${petId},${quantity}\n`).join('');
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
beforeEach(async () => {
  if ((await counts()) !== before) await desk.run('petstore inventory apply before.csv --yes', { env });
  for (const left of ['out', 'state']) rmSync(join(desk.folder, left), { recursive: true, force: true });
});

/** Runs a line, which ends with 0. */
async function succeed(line: string, more: Readonly<Record<string, string>> = env): Promise<string> {
  const { code, output } = await desk.run(line, { env: more });
  expect(code, `${line}\n${output}`).toBe(0);
  return output;
}

/** What a runner of GitHub does with `${{ … }}`. */
function expanded(line: string, values: Readonly<Record<string, string | number>>): string {
  return line.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => String(values[name]));
}

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly steps: readonly { run?: string }[];
        readonly strategy?: { matrix: { shard: readonly number[] } };
      }
    >
  >;
}
const isInstallation = (line: string) => line.startsWith('npm ');

test('every line of the list runs as it says', async () => {
  const lines = blocks
    .flatMap((block) => (typeof block !== 'string' && 'items' in block ? block.items : []))
    .map(([term]) => term);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const { code, output } = await desk.run(line, { env: { ...env, i: '1', n: '4' } });
    expect(code, `${line}\n${output}`).toBe(line.includes('diff') ? 8 : 0);
  }
});

test('the smoke workflow of GitHub is green for its own commit and leaves its report', async () => {
  const { jobs } = parse(recipe('smoke.yml')) as Workflow;
  const lines =
    jobs.smoke?.steps.flatMap(({ run = [] }) => run).filter((line) => !isInstallation(line)) ?? [];
  expect(lines).toHaveLength(1);
  await succeed(expanded(lines[0] ?? '', { 'github.sha': commit }));
  expect(readFileSync(join(desk.folder, 'out/smoke.xml'), 'utf8')).toContain('<testsuite');
  const other = expanded(lines[0] ?? '', { 'github.sha': 'other' }).replace('60s', '1s');
  expect((await desk.run(other, { env })).code).not.toBe(0);
});

test('the job of GitLab is green without a deployment', async () => {
  const { smoke } = parse(recipe('gitlab-ci')) as {
    smoke: { script: string[]; artifacts: { reports: { junit: string } } };
  };
  for (const line of smoke.script.filter((command) => !isInstallation(command)))
    await succeed(line, { CI: 'true' });
  expect(readFileSync(join(desk.folder, smoke.artifacts.reports.junit), 'utf8')).toContain('<testsuite');
});

describe('shards of one file write all of it, and nothing twice', () => {
  test('in the matrix of GitHub', async () => {
    const { jobs } = parse(recipe('matrix:')) as Workflow;
    const { steps = [], strategy } = jobs.apply ?? {};
    const lines = steps.flatMap(({ run = [] }) => run).filter((line) => !isInstallation(line));
    expect(lines).toHaveLength(1);
    for (const shard of strategy?.matrix.shard ?? [])
      await succeed(expanded(lines[0] ?? '', { 'matrix.shard': shard }));
    expect(await counts()).toBe(wanted);
  });

  testWith(
    'bash',
    'parallel',
    'jq',
  )('with GNU parallel, and jq adds their summaries up', async () => {
    const [spread = '', sum = ''] = recipe('parallel --termseq').split(/\n(?=jq)/);
    await succeed(spread);
    expect(JSON.parse(await succeed(sum))).toEqual({
      rows: 25,
      invalid: 0,
      applied: 2,
      unchanged: 23,
      failed: 0,
      unknown: 0,
      unprocessed: 0,
    });
    expect(await counts()).toBe(wanted);
  });

  testWith('bash', 'xargs')('with xargs', async () => {
    await succeed(recipe('xargs -P'));
    expect(await counts()).toBe(wanted);
  });

  testWith('bash', 'make')('with make, which tries a shard that failed again', async () => {
    desk.write('Makefile', recipe('.DELETE_ON_ERROR'));
    desk.write('stock.csv', `petId,quantity\n${wanted}999,1\n`);
    for (const _ of ['first', 'again']) {
      const failed = await desk.run('make -k -j4', { env });
      expect(failed).toMatchObject({ code: 2, output: expect.stringContaining('pet 999') });
    }
    desk.write('stock.csv', `petId,quantity\n${wanted}`);
    expect(await counts()).toBe(wanted);
  });

  test('as an indexed Job of Kubernetes', async () => {
    const { spec } = parse(recipe('kind: Job'));
    const [{ command, args, image }] = spec.template.spec.containers;
    expect([command, image]).toEqual([['sh', '-c'], `registry.example.com/petstore:${version}`]);
    const line = args[0].replace('/stock/', '').replace('/tmp/', '');
    for (let index = 0; index < spec.completions; index++)
      await succeed(line, { ...env, JOB_COMPLETION_INDEX: String(index) });
    expect(await counts()).toBe(wanted);
    const wrong = await desk.run(line.replace('stock.csv', 'none.csv'), {
      env: { ...env, JOB_COMPLETION_INDEX: '0' },
    });
    expect(spec.podFailurePolicy.rules[0].onExitCodes.values).toContain(wrong.code);
  });

  test('and its image is made of the package that npm pack makes', () => {
    expect(recipe('FROM node').split('\n')).toHaveLength(6);
    expect(recipe('FROM node').match(/petstore-[\d.]+\.tgz/g)).toEqual(
      Array(2).fill(`petstore-${version}.tgz`),
    );
  });
});
