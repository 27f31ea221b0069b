import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { InventoryItem } from '../../src/api/schemas.ts';
import { readTopics } from '../../src/cli/topics.ts';
import { commit, openDesk } from '../helpers/desk.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const { blocks } = (await readTopics()).ci;

/** The lines of the one recipe of `petstore help ci` that has this text. */
function recipe(text: string): string {
  const found = blocks.flatMap((block) =>
    typeof block !== 'string' && 'lines' in block ? block.lines.join('\n') : [],
  );
  const [only, ...others] = found.filter((each) => each.includes(text));
  expect([only, others]).toEqual([expect.any(String), []]);
  return only ?? '';
}

/** A desk with a file of 25 counts, of which two differ from those of the service. */
async function openStockDesk() {
  const desk = await openDesk();
  onTestFinished(() => desk[Symbol.asyncDispose]());
  const env = { CI: 'true', PETSTORE_BASE_URL: desk.url, PETSTORE_TOKEN: 't0ken' };
  const counts = async () => {
    const entries = await (await fetch(`${desk.url}/store/inventory`)).json();
    return (entries as InventoryItem[]).map(({ petId, quantity }) => `${petId},${quantity}\n`).join('');
  };
  const wanted = (await counts()).replace(/^7,24$/m, '7,48').replace(/^12,40$/m, '12,37');
  desk.write('stock.csv', `petId,quantity\n${wanted}`);
  return { desk, env, isAsInFile: async () => (await counts()) === wanted };
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
const minute = 60_000;

test(
  'every line of the list runs as it says',
  async () => {
    const { desk, env } = await openStockDesk();
    const lines = blocks
      .flatMap((block) => (typeof block !== 'string' && 'items' in block ? block.items : []))
      .map(([term]) => term.replace('--for 10m', '--for 1s --every 500ms'));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const { code, output } = await desk.run(line, { env: { ...env, i: '1', n: '4' } });
      expect(code, `${line}\n${output}`).toBe(line.includes('diff') ? 8 : 0);
    }
  },
  minute,
);

test(
  'the smoke workflow of GitHub is green for its own commit and leaves its report',
  async () => {
    const { desk, env } = await openStockDesk();
    const { jobs } = parse(recipe('smoke.yml')) as Workflow;
    const lines =
      jobs.smoke?.steps.flatMap(({ run = [] }) => run).filter((line) => !isInstallation(line)) ?? [];
    expect(lines).toHaveLength(1);
    const run = await desk.run(expanded(lines[0] ?? '', { 'github.sha': commit }), { env });
    expect(run.code, run.output).toBe(0);
    expect(readFileSync(join(desk.folder, 'out/smoke.xml'), 'utf8')).toContain('<testsuite');
    const other = expanded(lines[0] ?? '', { 'github.sha': 'other' }).replace('60s', '1s');
    expect((await desk.run(other, { env })).code).not.toBe(0);
  },
  minute,
);

test(
  'the job of GitLab is green without a deployment',
  async () => {
    const { desk } = await openStockDesk();
    const { smoke } = parse(recipe('gitlab-ci')) as {
      smoke: { script: string[]; artifacts: { reports: { junit: string } } };
    };
    for (const line of smoke.script.filter((each) => !isInstallation(each))) {
      const run = await desk.run(line, { env: { CI: 'true' } });
      expect(run.code, run.output).toBe(0);
    }
    expect(readFileSync(join(desk.folder, smoke.artifacts.reports.junit), 'utf8')).toContain('<testsuite');
  },
  minute,
);

describe('shards of one file write all of it, and nothing twice', () => {
  test(
    'in the matrix of GitHub',
    async () => {
      const { desk, env, isAsInFile } = await openStockDesk();
      const { jobs } = parse(recipe('matrix:')) as Workflow;
      const { steps = [], strategy } = jobs.apply ?? {};
      const lines = steps.flatMap(({ run = [] }) => run).filter((line) => !isInstallation(line));
      expect(lines).toHaveLength(1);
      for (const shard of strategy?.matrix.shard ?? []) {
        const run = await desk.run(expanded(lines[0] ?? '', { 'matrix.shard': shard }), { env });
        expect(run.code, run.output).toBe(0);
      }
      expect(await isAsInFile()).toBe(true);
    },
    minute,
  );

  test(
    'with GNU parallel, and jq adds their summaries up',
    async () => {
      const { desk, env, isAsInFile } = await openStockDesk();
      const [first = '', ...rest] = recipe('parallel -j').split('\n');
      const shards = await desk.run(first, { env });
      expect(shards.code, shards.output).toBe(0);
      const { output } = await desk.run(rest.join('\n'), { env });
      expect(JSON.parse(output)).toEqual({
        rows: 25,
        invalid: 0,
        applied: 2,
        unchanged: 23,
        failed: 0,
        unknown: 0,
        unprocessed: 0,
      });
      expect(await isAsInFile()).toBe(true);
    },
    minute,
  );

  test(
    'as an indexed Job of Kubernetes',
    async () => {
      const { desk, env, isAsInFile } = await openStockDesk();
      const { spec } = parse(recipe('kind: Job'));
      const [{ command, args, image }] = spec.template.spec.containers;
      expect([command, image]).toEqual([['sh', '-c'], `registry.example.com/petstore:${version}`]);
      const line = args[0].replace('/stock/', '').replace('/tmp/', '');
      for (let index = 0; index < spec.completions; index++) {
        const run = await desk.run(line, { env: { ...env, JOB_COMPLETION_INDEX: String(index) } });
        expect(run.code, run.output).toBe(0);
      }
      expect(await isAsInFile()).toBe(true);
      const wrong = await desk.run(line.replace('stock.csv', 'none.csv'), {
        env: { ...env, JOB_COMPLETION_INDEX: '0' },
      });
      expect(spec.podFailurePolicy.rules[0].onExitCodes.values).toContain(wrong.code);
    },
    minute,
  );

  test('and its image is made of the package that npm pack makes', () => {
    expect(recipe('FROM node').split('\n')).toHaveLength(6);
    expect(recipe('FROM node').match(/petstore-[\d.]+\.tgz/g)).toEqual(
      Array(2).fill(`petstore-${version}.tgz`),
    );
  });
});
