import { expect, test } from 'vitest';
import { toHtmlReport } from '../../../src/checks/report/html.ts';
import { HumanReport } from '../../../src/checks/report/human.ts';
import { toJsonReport } from '../../../src/checks/report/json.ts';
import { toJunitReport } from '../../../src/checks/report/junit.ts';
import { toAnnotations, toMarkdownReport } from '../../../src/checks/report/markdown.ts';
import { toTapReport } from '../../../src/checks/report/tap.ts';
import { plainStyle as style } from '../../../src/output/style.ts';
import { readTap, readXml } from '../formats.ts';
import { hostile, reportOf, resultOf, sample } from './sample.ts';

test('the JUnit report is well-formed XML 1.0, whatever the service sent', async () => {
  const tags = readXml(await toJunitReport(reportOf(sample)));
  const cases = tags.filter(({ name }) => name === 'testcase');
  expect(cases.map(({ attributes }) => attributes.name)).toEqual(sample.map(({ id }) => id));
  expect(tags.find(({ name }) => name === 'failure')?.attributes.message).toContain('/id breaks the schema');
});

test('the TAP report is strict TAP 14, whatever the service sent', () => {
  const { points, faults } = readTap(toTapReport(reportOf(sample)));
  expect(faults).toEqual([]);
  expect(points.map(({ name }) => name)).toEqual(sample.map(({ id }) => id));
  expect(points[3]?.diag).toMatchObject({ result: 'fail', expected: 'an integer (int64)', at: '/id' });
});

test('all reports have the same totals', async () => {
  const report = reportOf(sample);
  const [root] = readXml(await toJunitReport(report));
  const suites = readXml(await toJunitReport(report)).filter(({ name }) => name === 'testsuite');
  const sum = (name: string) => suites.reduce((total, { attributes }) => total + Number(attributes[name]), 0);
  expect(report.totals).toEqual({ checks: 6, pass: 2, warn: 1, fail: 1, skip: 1, error: 1, flaky: 1 });
  expect(root?.attributes).toMatchObject({ tests: '6', failures: '1', errors: '1', skipped: '1' });
  expect(['tests', 'failures', 'errors', 'skipped'].map(sum)).toEqual([6, 1, 1, 1]);
  const tap = readTap(toTapReport(report));
  expect(tap.complete).toMatchObject({ count: 6, fail: 2, skip: 1 });
  expect(tap.comments).toContain('# pass 2\n');
  expect(JSON.parse(toJsonReport(report, 2)).totals).toEqual(report.totals);
  expect(toMarkdownReport(report)).toContain('| 6 | 2 | 1 | 1 | 1 | 1 | 1 | 1.2 s |');
  expect(new HumanReport({ style, ids: ['reach/dns'] }).end(report)).toBe(
    '\n6 checks in 1.2 s: 2 passed (1 flaky), 1 warned, 1 failed, 1 not carried out, 1 skipped\nfailed: op/getPet, op/listOrders\n',
  );
});

test('text of the service cannot begin a line, move the cursor or command a CI runner', async () => {
  const report = reportOf(sample);
  const human = new HumanReport({ style, ids: ['lifecycle/getPet'] });
  const texts = [
    human.head({ target: hostile, write: false }) +
      sample.map((each) => human.result(each)).join('') +
      human.end(report),
    toTapReport(report),
    toJsonReport(report, 0),
    await toJunitReport(report),
    toAnnotations({ results: sample }),
    toMarkdownReport(report),
    toHtmlReport(report),
  ];
  for (const text of texts) {
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]/u);
    expect(text).not.toMatch(/##\w*\[/);
    expect(text).not.toMatch(/^\s*(not ok 99|::error::)/m);
  }
});

test('an annotation escapes characters that would end its title or message', () => {
  const result = resultOf('op/getPet', 'fail', { reason: '100%\n::error::x' });
  expect(toAnnotations({ results: [result] })).toBe('::error title=smoke op/getPet::100%25\\x0a::error::x\n');
  expect(toAnnotations({ results: [{ ...result, id: 'op/a:b,c' }] })).toContain('title=smoke op/a%3Ab%2Cc::');
});

test('the step summary shows foreign text as it is, not as Markdown', () => {
  const report = reportOf([resultOf('op/getPet', 'fail', { reason: '| <b>x</b> [a](http://b) `c`' })]);
  expect(toMarkdownReport(report)).toContain(
    '| fail | op\\/getPet | \\| \\<b\\>x\\<\\/b\\> \\[a\\]\\(http\\:\\/\\/b\\) \\`c\\` |',
  );
});

test('the human report aligns its columns, separates the groups and shows the details of failures', () => {
  const shown = [
    resultOf('reach/dns', 'pass', { reason: '127.0.0.1 is an address' }),
    resultOf('op/listPets', 'pass', {
      reason: '200 OK, 25 records',
      flaky: '503 Service Unavailable',
      elapsedMs: 512,
    }),
    resultOf('op/getPet', 'fail', {
      reason: '/id breaks the schema',
      expected: 'an integer (int64)',
      got: '"1"',
      pointer: '/id',
      method: 'GET',
      url: 'http://127.0.0.1:4010/pets/1',
    }),
    resultOf('op/getOrder', 'skip', { reason: 'no order', elapsedMs: 0 }),
  ];
  const human = new HumanReport({ style, ids: shown.map(({ id }) => id) });
  const text =
    human.head({ target: 'http://127.0.0.1:4010', write: false }) +
    shown.map((each) => human.result(each)).join('');
  expect(text).toMatchInlineSnapshot(`
    "Smoke checks of http://127.0.0.1:4010, read-only

    pass   reach/dns     1.5 ms  127.0.0.1 is an address

    pass   op/listPets   512 ms  flaky (503 Service Unavailable first): 200 OK, 25 records
    fail   op/getPet     1.5 ms  /id breaks the schema
           expected    an integer (int64)
           got         "1"
           at          /id
           request     GET http://127.0.0.1:4010/pets/1
    skip   op/getOrder        -  no order
    "
  `);
});

test('in a terminal a long line folds under its own column', () => {
  const result = resultOf('op/listCategories', 'fail', {
    reason: 'listCategories answered 503 Service Unavailable, which its description does not know',
    expected: 'a status that the description of the operation knows: 200, 400, 401 or 404',
    url: 'http://127.0.0.1:4010/categories?limit=100&page=a-very-long-opaque-token-of-the-service',
  });
  const human = new HumanReport({ style, ids: [result.id], width: 80 });
  expect(human.result(result) + human.end(reportOf([result]))).toMatchInlineSnapshot(`
    "
    fail   op/listCategories   1.5 ms  listCategories answered 503 Service
                                       Unavailable, which its description does not
                                       know
           expected    a status that the description of the operation knows: 200,
                       400, 401 or 404
           request     GET http://127.0.0.1:4010/categories?limit=100&page=a-very-long-opaque-token-of-the-service

    1 check in 1.2 s: 1 failed
    failed: op/listCategories
    "
  `);
});
