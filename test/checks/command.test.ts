import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError } from '../../src/process/errors.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { readTap, readXml } from './formats.ts';
import { smoke } from './run.ts';
import { type Service, startService, withBody } from './service.ts';

let folder = '';
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-smoke-'));
  service = await startService({
    spoil: ({ target }, answer) => (target === '/categories/1' ? withBody(answer, { id: 1 }) : answer),
  });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(['smoke', '--base-url', service.url, ...argv], { env });

test('one run writes all reports with the same totals, and creates their folders', async () => {
  const [xml = '', tap = '', json = '', summary = ''] = [
    'a/b/smoke.xml',
    'c/smoke.tap',
    'smoke.json',
    'summary.md',
  ].map((name) => join(folder, name));
  const flags = [
    '--report',
    `junit=${xml}`,
    '--report',
    `tap=${tap}`,
    '--report',
    `json=${json}`,
    '--report',
    'github',
  ];
  const { code, stdout } = await run(['--skip', 'latency', ...flags], { GITHUB_STEP_SUMMARY: summary });
  expect(code).toBe(7);
  const [root] = readXml(await readFile(xml, 'utf8'));
  const { complete, faults } = readTap(await readFile(tap, 'utf8'));
  const { totals } = JSON.parse(await readFile(json, 'utf8'));
  expect(faults).toEqual([]);
  expect(totals).toMatchObject({ checks: 26, fail: 1, error: 0, skip: 5 });
  expect(root?.attributes).toMatchObject({ tests: '26', failures: '1', errors: '0', skipped: '5' });
  expect(complete).toMatchObject({ count: 26, fail: 1, skip: 5 });
  expect(stdout).toMatch(/^26 checks in .*: 20 passed, 1 failed, 5 skipped\nfailed: op\/getCategory\n/m);
  expect(stdout).toContain(
    '::error title=smoke op/getCategory::the body lacks the field "name": expected the field "name"',
  );
  expect(await readFile(summary, 'utf8')).toContain('| 26 | 20 | 0 | 0 | 1 | 0 | 5 |');
});

test('a report replaces that of an earlier run, but not any other file', async () => {
  const report = join(folder, 'again.json');
  const flags = ['--only', 'reach', '--report', `json=${report}`];
  expect((await run(flags)).code).toBe(0);
  expect((await run(flags)).code).toBe(0);
  await writeFile(report, 'precious');
  const refused = await run(flags);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('--force');
  expect(await readFile(report, 'utf8')).toBe('precious');
  expect((await run([...flags, '--force'])).code).toBe(0);
  expect(await readFile(report, 'utf8')).toContain('petstore smoke');
});

test('reports are also written if the service cannot be reached', async () => {
  const report = join(folder, 'unreachable.tap');
  const argv = ['smoke', '--base-url', 'http://127.0.0.1:1', '--report', `tap=${report}`];
  expect((await runCli(argv)).code).toBe(6);
  const { complete, points, faults } = readTap(await readFile(report, 'utf8'));
  expect(faults).toEqual([]);
  expect(complete.fail).toBe(1);
  expect(points.find(({ ok }) => !ok)?.name).toBe('reach/connect');
});

test('a report that cannot be written is an error, after the report for people', async () => {
  const place = join(folder, 'a-folder.json');
  await mkdir(place);
  const written = await run(['--only', 'reach', '--report', `json=${place}`]);
  expect(written.code).toBe(1);
  expect(written.stdout).toContain('3 checks');
  expect(written.stderr).toContain(place);
});

test('a full disk under stdout ends neither the run nor the reports', async () => {
  const report = join(folder, 'full.json');
  const io = fakeIo();
  const stdout = {
    ...io.stdout,
    write: () => Promise.reject(new CliError('failed', 'write to stdout: full')),
  };
  const argv = ['smoke', '--base-url', service.url, '--report', `json=${report}`, '--only'];
  expect(await main([...argv, 'op/getPet'], { ...io, stdout })).toBe(1);
  expect(io.written('stderr')).toBe('error: write to stdout: full\n');
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ exitCode: 0 });
  expect(await main([...argv, 'op/getCategory'], { ...io, stdout })).toBe(7);
});

test.each([
  [['--report', 'junit'], "--report 'junit': must be github or one of junit=<file>"],
  [['--report', 'pdf=x'], "--report 'pdf=x': must be"],
  [['--repeat', '0'], "--repeat '0'"],
  [['--repeat', '2', '--for', '1m'], 'give only one of them'],
  [['--until-failure'], 'needs --repeat <n> or --for <duration>'],
  [['--every', '1s'], 'needs --repeat <n> or --for <duration>'],
  [['--sweep', '1h'], 'needs --write'],
  [
    ['--write', '--sweep', 'old'],
    "--sweep 'old': must be a duration of at most 24h, such as 90m, or days, such as 7d",
  ],
  [['--expect', 'POST /pets 201'], 'the method must be GET'],
  [['--expect', 'GET health'], "the path must begin with '/'"],
  [['--expect', 'GET /health 700'], '700 is not a status'],
  [['--expect', 'GET /health ok'], "'ok' is not a JSON pointer and a value"],
  [['--expect', 'GET http://elsewhere.example/health 200'], 'not of the origin'],
  [['--wait-for', 'x-commit=4f2a9c1'], 'must be a method and a path'],
  [['--report', 'tap=-'], 'a report goes to a file'],
  [['--report', 'json=x', '--report', 'tap=./x'], 'is named twice'],
  [['--only', 'nonsense/*'], "no check has an id like 'nonsense/*'"],
  [['--only', 'op/*', '--skip', 'op'], 'no check is left to run'],
  [['--only', 'write'], 'no check is left to run'],
  [['--fail-on', 'skip'], "--fail-on 'skip'"],
  [['--samples', '0'], "--samples '0'"],
  [['--samples', '1', '--only', 'error'], 'leave no latency to measure'],
  [['--max-latency', '5ms,p99'], "--max-latency '5ms,p99'"],
  [['--max-latency', 'soon'], "--max-latency 'soon'"],
  [['--wait', 'long'], "--wait 'long'"],
  [['--tls-min-days', '-1'], "--tls-min-days '-1'"],
  [['--stability', 'beta'], '--stability'],
])('%j is refused before anything is sent', async (flags, message) => {
  const before = service.seen.length;
  const { code, stdout, stderr } = await run(flags);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(service.seen.length).toBe(before);
});

test('it is not a success if every check was skipped', async () => {
  const { code, stdout, stderr } = await run(['--only', 'tls', '--only', 'auth']);
  expect(code).toBe(2);
  expect(stdout).toContain('5 checks');
  expect(stderr).toContain('no check ran');
});

test('globs select by id and by group', async () => {
  const ids = async (...flags: string[]) => (await smoke(service.url, flags)).checks.map(({ id }) => id);
  expect(await ids('--only', 'reach')).toEqual(['reach/dns', 'reach/connect', 'reach/http']);
  expect(await ids('--only', '*/getPet', '--skip', 'lat*')).toEqual(['op/getPet', 'lifecycle/getPet']);
  expect(await ids('--only', 'op/get?rder', '--only', 'error/not-found')).toEqual([
    'op/getOrder',
    'error/not-found',
  ]);
});

test('a check that a flag asks for runs beside those of --only', async () => {
  const ids = async (...flags: string[]) => (await smoke(service.url, flags)).checks.map(({ id }) => id);
  expect(await ids('--only', 'op/getPet', '--samples', '1', '--expect', 'GET /pets 200')).toEqual([
    'op/getPet',
    'latency/getPet',
    'expect/1',
  ]);
});

test('--dry-run lists the checks and sends nothing', async () => {
  const before = service.seen.length;
  const { code, stdout } = await run(['--dry-run', '--write', '--only', 'write,op/getO*', '--no-header']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: [
      'op/getOrder      getOrder         stable',
      'write/category   createCategory   stable',
      'write/pet        createPet        stable',
      'write/inventory  createInventory  beta',
      'write/order      createOrder      stable\n',
    ].join('\n'),
  });
  expect(service.seen.length).toBe(before);
  const json = await run(['--dry-run', '--only', 'reach/dns,op/getOrder', '-o', 'json']);
  expect(JSON.parse(json.stdout)).toEqual([
    { id: 'reach/dns', operation: null, stability: null },
    { id: 'op/getOrder', operation: 'getOrder', stability: 'stable' },
  ]);
});

test('columns and formats for programs work as in every other command', async () => {
  const only = ['--only', 'op/getCategory', '-q'];
  const csv = await run([...only, '-o', 'csv', '--fields', 'id,result,pointer']);
  expect(csv).toMatchObject({ code: 7, stderr: '' });
  expect(csv.stdout.split(/\r?\n/)).toEqual(['id,result,pointer', 'op/getCategory,fail,/name', '']);
  const lines = await run([...only, '-o', 'jsonl']);
  expect(JSON.parse(lines.stdout)).toMatchObject({ id: 'op/getCategory', result: 'fail', got: '{"id":1}' });
  const help = await run([...only, '--fields', 'help']);
  expect(help.stdout).toContain('pointer\n');
});

test('a service with other paths gets a hint to bind its description', async () => {
  await using elsewhere = await startService({ route: () => '/nowhere' });
  const { code, stdout } = await runCli(['smoke', '--base-url', elsewhere.url, '--only', 'op/listPets']);
  expect(code).toBe(6);
  expect(stdout).toContain('petstore api bind');
});

test('the embedded store passes, without a socket to check', async () => {
  const { code, stdout } = await runCli(['smoke', '--offline', '--write', '--only', 'reach,op,write']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Smoke checks of the embedded store, with writes$/m);
  expect(stdout).toMatch(/^skip {3}reach\/connect +- {2}the embedded store has no socket$/m);
});
