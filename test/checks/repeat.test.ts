import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { main } from '../../src/main.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { readTap, readXml } from './formats.ts';
import { smoke } from './run.ts';
import { type Service, startService, withBody } from './service.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-repeat-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A service that answers these calls of GET /categories/1 wrongly, counted from 1. */
function wrongIn(...calls: number[]): Promise<Service> {
  let count = 0;
  return startService({
    spoil({ target }, answer) {
      if (target !== '/categories/1') return answer;
      count += 1;
      return calls.includes(count) ? withBody(answer, { id: 1 }) : answer;
    },
  });
}

const only = ['--only', 'op/getCategory,op/listPets'];

test('--repeat gives one case a check, with runs, failures and latency over all runs', async () => {
  await using service = await wrongIn(2, 4);
  const run = await smoke(service.url, [...only, '--repeat', '5']);
  expect(run).toMatchObject({ code: 7, runs: 5, totals: { checks: 2, pass: 1, fail: 1 } });
  expect(run.check('op/listPets')).toMatchObject({ result: 'pass', runs: 5, failures: 0 });
  expect(run.check('op/getCategory')).toMatchObject({
    result: 'fail',
    reason: 'failed 2 of 5: the body lacks the field "name"',
    runs: 5,
    failures: 2,
    pointer: '/name',
  });
  const { p50 = 0, p95 = 0, max = 0 } = run.check('op/getCategory').latency ?? {};
  expect(p50).toBeGreaterThan(0);
  expect(max).toBeGreaterThanOrEqual(p95);
});

test('--until-failure stops after the first run that fails', async () => {
  await using service = await wrongIn(3);
  const run = await smoke(service.url, [...only, '--repeat', '10', '--until-failure']);
  expect(run).toMatchObject({ code: 7, runs: 3 });
  expect(run.check('op/getCategory').reason).toMatch(/^failed 1 of 3: /);
});

test('--for runs at each interval until its time is over', async () => {
  await using service = await wrongIn();
  const startedMs = performance.now();
  const run = await smoke(service.url, [...only, '--for', '1200ms', '--every', '400ms']);
  expect(performance.now() - startedMs).toBeGreaterThan(750);
  expect(run.code).toBe(0);
  expect(run.runs).toBeGreaterThanOrEqual(2);
  expect(run.runs).toBeLessThanOrEqual(3);
});

test('every report has the same totals over several runs', async () => {
  await using service = await wrongIn(1);
  const file = (name: string) => join(folder, 'reports', name);
  const reports = ['junit', 'tap', 'json', 'markdown', 'html'].flatMap((format) => [
    '--report',
    `${format}=${file(format)}`,
  ]);
  const { code, stdout } = await runCli([
    'smoke',
    '--base-url',
    service.url,
    ...only,
    '--repeat',
    '3',
    ...reports,
  ]);
  expect(code).toBe(7);
  expect(stdout).toMatch(/^run 1 {4}1 passed, 1 failed in .*: op\/getCategory$/m);
  expect(stdout).toMatch(/^run 3 {4}2 passed in /m);
  expect(stdout).toMatch(/^2 checks, 3 runs in .*: 1 passed, 1 failed$/m);
  expect(stdout.match(/^fail {3}op\/getCategory /gm)).toHaveLength(1);
  const text = async (name: string) => readFile(file(name), 'utf8');
  const [root] = readXml(await text('junit'));
  expect(root?.attributes).toMatchObject({ tests: '2', failures: '1', errors: '0', skipped: '0' });
  const { complete, faults, points } = readTap(await text('tap'));
  expect(faults).toEqual([]);
  expect(complete).toMatchObject({ count: 2, fail: 1 });
  expect(points.find(({ ok }) => !ok)?.diag).toMatchObject({ runs: 3, failures: 1 });
  expect(JSON.parse(await text('json')).totals).toMatchObject({ checks: 2, pass: 1, fail: 1 });
  expect(await text('markdown')).toContain('| 2 | 1 | 0 | 0 | 1 | 0 | 0 |');
  expect(await text('html')).toContain('<dt>failed</dt><dd>1</dd>');
});

test('Ctrl-C reports the runs so far', async () => {
  const report = join(folder, 'stopped.json');
  const io = fakeIo();
  let calls = 0;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target === '/categories/1') calls += 1;
      if (calls === 3) io.raise('SIGINT');
      return answer;
    },
  });
  const flags = ['--repeat', '1000', ...only, '--report', `json=${report}`];
  const code = await main(['smoke', '--base-url', service.url, ...flags], io);
  expect(code).toBe(130);
  const written = JSON.parse(await readFile(report, 'utf8'));
  expect(written).toMatchObject({ exitCode: 130, signal: 'SIGINT', totals: { fail: 0, pass: 2 } });
  expect(written.checks[0].runs).toBeGreaterThanOrEqual(2);
  expect(io.written('stdout')).toContain('stopped by SIGINT');
});

test('a service that was away in only some runs counts as reached', async () => {
  let requests = 0;
  await using service = await startService({
    spoil(_, answer) {
      requests += 1;
      return requests === 1 ? { ...answer, status: 503 } : answer;
    },
  });
  const run = await smoke(service.url, ['--only', 'reach', '--repeat', '3', '--retries', '0']);
  expect(run.check('reach/http').reason).toMatch(/^(failed|passed) \d of 3/);
  expect([0, 7]).toContain(run.code);
});

test('the records that each run has left behind are named', async () => {
  const kept = new Map<string, HttpResponse>();
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method === 'DELETE') return { ...answer, status: 409 };
      if (method !== 'GET' || !/^\/categories\/\d/.test(target)) return answer;
      if (answer.status === 200) kept.set(target, answer);
      return kept.get(target) ?? answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category', '--repeat', '2']);
  expect(run.check('write/cleanup').reason).toBe('failed 2 of 2: a record is left behind');
  expect(run.check('write/cleanup').got).toMatch(
    /^categories (\d+): 409 Conflict; categories (?!\1)\d+: 409 Conflict$/,
  );
  expect(run.check('write/category').made).toHaveLength(2);
});
