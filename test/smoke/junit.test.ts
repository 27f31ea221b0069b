import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { newFolder, readXml, type XmlElement } from './run.ts';
import { type Change, counting, on, refusing, startService, withBody } from './service.ts';

/**
 * What two schemas both take, by element: its attributes, of which those with `!` are required, and its children, in order.
 * The schemas are that of Jenkins' xUnit plugin (junit-10.xsd), and that of Maven Surefire (surefire-test-report-3.0.xsd).
 * Surefire's has no timestamp, but what reads its reports knows it.
 */
const schema: Readonly<Record<string, readonly [attributes: string, children: string]>> = {
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
  const [rules = '', childNames = ''] = schema[name] ?? [];
  const known = rules.split(' ').map((rule) => rule.replace('!', ''));
  const required = rules.split(' ').flatMap((rule) => (rule.endsWith('!') ? rule.slice(0, -1) : []));
  const order = children.map((child) => childNames.split(' ').indexOf(child));
  return [
    ...(name in schema ? [] : [`<${name}> is not allowed`]),
    ...Object.keys(attributes).flatMap((key) => (known.includes(key) ? [] : [`${name} has ${key}`])),
    ...required.flatMap((key) => (key in attributes ? [] : [`${name} lacks ${key}`])),
    ...(time.test(attributes.time ?? '0') ? [] : [`${name}: ${attributes.time}`]),
    ...(order.includes(-1) ? [`${name} has another child`] : []),
    ...(order.some((at, index) => at < (order[index - 1] ?? 0)) ? [`${name}: order`] : []),
  ];
}

const failingOnce = counting((count) => count === 1, refusing(503));

test.each<[title: string, spoil: Change]>([
  [
    'a failure, a flaky check and a warning',
    (answer, request) =>
      request.target === '/categories/1'
        ? withBody(answer, { id: 1 })
        : on('/store/orders/1', failingOnce)(answer, request),
  ],
  ['a service that is not reached', refusing(500)],
])('%s: both schemas take the report', async (_, spoil) => {
  await using service = await startService({ spoil });
  const file = join(newFolder(), 'smoke.xml');
  const flags = ['--expect', 'GET /pets 404 /0/name="Rex & Co"', '--report', `junit=${file}`];
  await runCli(['smoke', '--base-url', service.url, ...flags]);
  const elements = readXml(readFileSync(file, 'utf8'));
  expect(elements.flatMap(faultsOf)).toEqual([]);
  const { timestamp = '' } = elements[1]?.attributes ?? {};
  expect(Date.parse(timestamp)).toBeGreaterThan(Date.now() - 600_000);
});
