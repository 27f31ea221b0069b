import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { readXml, type XmlElement } from './run.ts';
import {
  counting,
  on,
  refusing,
  type Service,
  startService,
  withBody,
  withHeaders,
  withRefusal,
} from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ spoil: on('/categories/1', (answer) => withBody(answer, { id: 1 })) });
});
afterAll(() => service[Symbol.asyncDispose]());

const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(['smoke', '--base-url', service.url, ...argv], { env });

/** Runs smoke with every report, and reads the files. */
async function allReports(url: string, flags: readonly string[]) {
  const folder = temporaryFolder();
  const file = (format: string) => join(folder, 'a/b', `smoke.${format}`);
  const reports = ['junit', 'json'].flatMap((format) => ['--report', `${format}=${file(format)}`]);
  const summary = join(folder, 'summary.md');
  const argv = ['smoke', '--base-url', url, ...flags, ...reports, '--report', 'github'];
  const ran = await runCli(argv, { env: { GITHUB_STEP_SUMMARY: summary } });
  const read = (path: string) => readFileSync(path, 'utf8');
  return { ...ran, files: { junit: read(file('junit')), json: read(file('json')), summary: read(summary) } };
}

test('one run writes all reports with the same totals', async () => {
  const { code, stdout, files } = await allReports(service.url, []);
  expect(code).toBe(7);
  // Without a token the check of authentication is a skip.
  expect(JSON.parse(files.json).totals).toMatchObject({ checks: 14, pass: 12, fail: 1, skip: 1 });
  const [root, ...elements] = readXml(files.junit);
  expect(root?.attributes).toMatchObject({ tests: '14', failures: '1', errors: '0' });
  expect(elements.filter(({ name }) => name === 'testcase')).toHaveLength(14);
  // Some readers leave a reference to a number as it is.
  expect(files.junit).not.toContain('&#');
  expect(files.junit).toContain('&quot;');
  expect(files.summary).toContain(': 12 passed, 1 failed');
  expect(stdout).toMatch(/^14 checks of .*, read-only, in .*: 12 passed, 1 failed, 1 skipped$/m);
  expect(stdout).toContain('::error title=petstore smoke::op/getCategory: ');
});

test('the report for people has the failures, a line for each check, and the total', async () => {
  const { stdout } = await run(['--only', 'op/*Category,op/list*s']);
  const report = stdout.replaceAll(service.url, '<url>').replace(/ +[\d.]+ m?s/g, ' <time>');
  expect(
    report.replace(/127\.0\.0\.1:\d+/, '<host>'),
  ).toBe(`fail   op/getCategory: the body lacks the field "name"
       expected    the field "name"
       got         {"id":1}
       at          /name
       request     GET <url>/categories/1

pass   reach/dns <time>  127.0.0.1 is an address
pass   reach/connect <time>  <host> accepts connections
pass   reach/http <time>  listPets answered 200 OK
pass   op/listPets <time>  200 OK, 25 records
pass   op/listCategories <time>  200 OK, 6 records
fail   op/getCategory <time>
pass   op/listOrders <time>  200 OK, 10 records

7 checks of <url>, read-only, in <time>: 6 passed, 1 failed
`);
  const brief = await run(['--only', 'op/*Category', '--brief']);
  expect(brief.stdout).not.toMatch(/^(pass|skip)/m);
  const green = await run(['--only', 'op/listPets', '--brief']);
  expect(green.stdout).toMatch(/^4 checks of .*: 4 passed\n$/);
});

test('one cause is reported once, with the ids and the request id', async () => {
  await using failing = await startService({
    spoil: on(/^\/(?!pets)/, (answer) => withHeaders(withRefusal(answer, 500), { 'x-request-id': 'req-7' })),
  });
  const { stdout } = await runCli(['smoke', '--base-url', failing.url, '--only', 'op']);
  expect(stdout).toMatch(
    /^fail {3}op\/listCategories, op\/listOrders, op\/listInventory: answered 500 Internal Server Error\n/,
  );
  expect(stdout.match(/request id {2}req-7/g)).toHaveLength(1);
  expect(stdout.match(/answered 500 Internal/g)).toHaveLength(1);
});

test('if the service cannot be reached, reports are written and are not green', async () => {
  const { code, files } = await allReports('http://127.0.0.1:1', []);
  expect(code).toBe(6);
  expect(files.junit).toMatch(/<failure message="[^"]*connection refused/);
  expect(JSON.parse(files.json)).toMatchObject({ exitCode: 6, totals: { fail: 1 } });
});

test('if no check ran, smoke exits 2 and its reports are not green', async () => {
  await using empty = await startService({ spoil: on('/store/orders', (answer) => withBody(answer, [])) });
  const { code, stdout, stderr, files } = await allReports(empty.url, ['--only', 'op/getOrder']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
  expect(stdout).toMatch(
    /^fail {3}run\/complete: no check besides reach ran; `petstore help checks` lists the checks\n/,
  );
  expect(stdout.match(/run\/complete/g)).toHaveLength(2);
  expect(readXml(files.junit)[0]?.attributes).toMatchObject({ failures: '1' });
  for (const flags of ['--only reach', '--only op/* --skip op', '--only write'])
    expect(await run(flags.split(' '))).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^fail {3}run\/complete: no check besides reach ran/),
    });
});

test('a report that cannot be written is exit 1 unless a check failed', async () => {
  const report = ['--report', 'json=/dev/null/reports/smoke.json'];
  const written = await run(['--only', 'op/listPets', ...report]);
  expect([written.code, written.stderr]).toEqual([
    1,
    expect.stringContaining('error: make folder /dev/null/reports: '),
  ]);
  expect(written.stdout).toContain('4 checks');
  const device = await run(['--only', 'op/listPets', '--report', 'junit=/dev/full', ...report]);
  expect(device.stderr).toMatch(/^warning: make folder .*\nerror: write \/dev\/full: is not a regular/);
  const env = { GITHUB_STEP_SUMMARY: '/dev/null/summary.md' };
  const summary = await run(['--only', 'op/listPets', '--report', 'github'], env);
  expect([summary.code, summary.stderr]).toEqual([1, expect.stringContaining('/dev/null/summary.md')]);
  expect((await run([...report, '--expect', 'GET /pets 404'])).code).toBe(7);
  // Node makes folders within /proc forever.
  const endless = await run(['--only', 'op/listPets', '--report', 'json=/proc/none/smoke.json']);
  expect([endless.code, endless.stderr]).toEqual([1, expect.stringContaining('/proc/none')]);
});

test('no text of the service drives a terminal or a CI runner, in any report', async () => {
  const hostile = '\x1b[31m\u202e\n::error::x ##[error] ##vso[task] %0A </script>|`<b>';
  await using evil = await startService({
    spoil: on('/categories/1', (answer) =>
      withHeaders(withBody(answer, { id: 1, name: [hostile] }), { 'x-request-id': '##[group]' }),
    ),
  });
  const flags = ['--only', 'op/getCategory', '--expect', 'GET /categories/1 /name=x'];
  const { stdout, files } = await allReports(evil.url, flags);
  for (const text of [stdout, ...Object.values(files)])
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]|^\s*::error::/mu);
  // GitHub takes %0A in an annotation for the end of a line.
  expect(stdout).toMatch(/^::error.* %250A/m);
  expect(stdout).not.toMatch(/^::error.* %0A/m);
  // JSON is data, which no runner reads.
  for (const text of [stdout, files.junit, files.summary]) expect(text).not.toMatch(/##\w*\[/);
});

test.each([
  [['--report', 'json=-'], "--report 'json=-': must be github, junit=<file> or json=<file>"],
  [['--report', 'junit'], "--report 'junit': must be github, junit=<file> or json=<file>"],
  [['--report', 'junit=x', '--report', 'json=./x'], '--report: two reports cannot be in one file: ./x'],
  [['-o', 'csv'], '-o csv: must be one of table, json'],
])('%j is refused before anything is sent', async (flags, message) => {
  const before = service.requests.length;
  expect(await run(flags)).toMatchObject(failed(2, message));
  expect(service.requests.length).toBe(before);
});

test('globs select by id and by group; reach always runs; --dry-run lists them and sends nothing', async () => {
  const before = service.requests.length;
  const ids = async (...flags: string[]) => {
    const { stdout } = await run(['--dry-run', '--no-header', ...flags]);
    const [dns, connect, http, ...others] = Array.from(stdout.matchAll(/^\S+/gm), String);
    expect([dns, connect, http]).toEqual(['reach/dns', 'reach/connect', 'reach/http']);
    return others;
  };
  expect(await ids('--only', 'reach')).toEqual([]);
  const [pet, auth] = ['op/getPet', 'auth/missing'];
  expect(await ids('--only', '*/getPet,auth', '--skip', 'reach,error*')).toEqual([pet, auth]);
  const two = ['op/getOrder', 'error/not-found'];
  expect(await ids('--only', 'op/get?rder', '--only', 'error/not-found')).toEqual(two);
  expect(await ids('--only', 'op/getPet', '--expect', 'GET /pets 200')).toEqual([pet, 'expect/1']);
  expect(service.requests.length).toBe(before);
  const { stdout } = await run(['--dry-run', '--write', '--no-header']);
  expect(stdout).toMatch(/^write\/category +createCategory +stable$.*^write\/cleanup/ms);
});

test('a pattern that no check matches is exit 2 with the ids, and one of a check that does not run here is not', async () => {
  for (const flag of ['--only', '--skip']) {
    const { code, stdout, stderr } = await run([flag, 'op/listPet']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(
        `^error: ${flag} 'op/listPet': no check has this id\nhint: .* op/listPets, .* auth/missing, write/category, .* write/order`,
      ),
    );
  }
  const others = ['tls/expiry', 'reach/version', 'write', 'expect/2'];
  const flags = ['--only', 'op/listPets', '--expect', 'GET /pets 200', '--skip', others.join()];
  expect(await run(flags)).toMatchObject({ code: 0, stderr: '' });
});

test('-o json prints JSON on stdout, and the report for people on stderr without --quiet', async () => {
  const only = ['--only', 'op/getCategory'];
  const human = await run(only);
  const json = await run([...only, '-o', 'json']);
  expect(json.code).toBe(7);
  expect(JSON.parse(json.stdout).checks.at(-1)).toMatchObject({ id: 'op/getCategory', got: '{"id":1}' });
  const times = / *[\d.]+ m?s/g;
  expect(json.stderr.replace(times, '')).toBe(human.stdout.replace(times, ''));
  expect((await run([...only, '-o', 'json', '-q'])).stderr).toBe('');
});

/**
 * What two schemas both take, by element: its attributes, required ones with `!`, and its children, in order.
 * The schemas are that of Jenkins' xUnit plugin (junit-10.xsd), and that of Maven Surefire (surefire-test-report-3.0.xsd).
 * Surefire's has no timestamp, but what reads its reports knows it.
 */
const junitSchema: Readonly<Record<string, readonly [attributes: string, children: string]>> = {
  testsuites: ['name time tests failures errors', 'testsuite'],
  testsuite: ['name! tests! failures! errors! skipped! time timestamp', 'properties testcase'],
  testcase: ['name! classname time!', 'failure skipped error system-out'],
  failure: ['type! message', ''],
  error: ['type! message', ''],
  skipped: ['message', ''],
  'system-out': ['', ''],
  properties: ['', 'property'],
  property: ['name! value!', ''],
};

/** The type of every time: thousands may be grouped, and Surefire allows three decimals. */
const time = /^\d{1,3}(,?\d{3})*(\.\d{1,3})?$/;

/** Finds what breaks the rules, each with the element. */
function faultsOf({ name, attributes, children }: XmlElement): string[] {
  const [rules = '', childNames = ''] = junitSchema[name] ?? [];
  const allowed = rules.split(' ').map((rule) => rule.replace('!', ''));
  const required = rules.split(' ').flatMap((rule) => (rule.endsWith('!') ? rule.slice(0, -1) : []));
  const order = children.map((child) => childNames.split(' ').indexOf(child));
  return [
    ...(name in junitSchema ? [] : [`<${name}> is not allowed`]),
    ...Object.keys(attributes).flatMap((key) => (allowed.includes(key) ? [] : [`${name} has ${key}`])),
    ...required.flatMap((key) => (key in attributes ? [] : [`${name} lacks ${key}`])),
    ...(time.test(attributes.time ?? '0') ? [] : [`${name}: ${attributes.time}`]),
    ...(order.includes(-1) ? [`${name} has another child`] : []),
    ...(order.some((at, index) => at < (order[index - 1] ?? 0)) ? [`${name}: order`] : []),
  ];
}

test('both schemas of JUnit take every report', async () => {
  const flaky = on(
    '/store/orders/1',
    counting((count) => count === 1, refusing(503)),
  );
  const failure = on('/categories/1', (answer) => withBody(answer, { id: 1 }));
  await using mixed = await startService({
    spoil: (answer, request) => (request.path === '/categories/1' ? failure : flaky)(answer, request),
  });
  for (const url of [mixed.url, 'http://127.0.0.1:1']) {
    const { files } = await allReports(url, ['--expect', 'GET /pets 404 /0/name="Rex & Co"']);
    const elements = readXml(files.junit);
    expect(elements.flatMap(faultsOf)).toEqual([]);
    expect(Date.parse(elements[1]?.attributes.timestamp ?? '')).toBeGreaterThan(Date.now() - 600_000);
  }
});
