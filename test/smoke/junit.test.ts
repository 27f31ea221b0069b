import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { newFolder, readXml, type XmlElement } from './run.ts';
import { type Change, counting, on, refusing, startService, withBody } from './service.ts';

/** The rules for an element: its attributes, those that are required with `!`, and its children, in order. */
interface Rules {
  readonly attributes: readonly string[];
  readonly children?: readonly string[];
  readonly hasText?: boolean;
}

/**
 * What two schemas both take: that of Jenkins' xUnit plugin (junit-10.xsd), and that of Maven Surefire
 * (surefire-test-report-3.0.xsd). Surefire's schema has no timestamp, but what reads its reports knows it.
 */
const schema: Readonly<Record<string, Rules>> = {
  testsuites: { attributes: ['name', 'time', 'tests', 'failures', 'errors'], children: ['testsuite'] },
  testsuite: {
    attributes: ['name!', 'tests!', 'failures!', 'errors!', 'skipped!', 'time', 'timestamp'],
    children: ['properties', 'testcase'],
  },
  testcase: {
    attributes: ['name!', 'classname', 'time!'],
    children: ['failure', 'skipped', 'error', 'system-out'],
  },
  failure: { attributes: ['type!', 'message'], hasText: true },
  error: { attributes: ['type!', 'message'], hasText: true },
  skipped: { attributes: ['message'], hasText: true },
  'system-out': { attributes: [], hasText: true },
  properties: { attributes: [], children: ['property'] },
  property: { attributes: ['name!', 'value!'] },
};

/** The type of every time: thousands may be grouped, and Surefire allows three decimals. */
const time = /^\d{1,3}(,?\d{3})*(\.\d{1,3})?$/;

/** Finds what breaks the rules, each with the element. */
function faultsOf({ name, attributes, children, text }: XmlElement): string[] {
  const rules = schema[name];
  if (!rules) return [`<${name}> is not allowed`];
  const names = rules.attributes.map((rule) => rule.replace('!', ''));
  const required = rules.attributes.filter((rule) => rule.endsWith('!')).map((rule) => rule.slice(0, -1));
  const order = children.map((child) => (rules.children ?? []).indexOf(child));
  const isTwice = name === 'testcase' && new Set(children).size < children.length;
  return [
    ...Object.keys(attributes).flatMap((key) => (names.includes(key) ? [] : [`${name} has ${key}`])),
    ...required.flatMap((key) => (key in attributes ? [] : [`${name} lacks ${key}`])),
    ...('time' in attributes && !time.test(attributes.time ?? '') ? [`${name}: ${attributes.time}`] : []),
    ...(rules.hasText || text.trim() === '' ? [] : [`${name} has text`]),
    ...(order.includes(-1) || isTwice ? [`${name} has another child`] : []),
    ...(order.some((at, index) => at < (order[index - 1] ?? 0)) ? [`${name}: order`] : []),
  ];
}

const failingOnce = counting((count) => count === 1, refusing(503));
const services: Readonly<Record<string, Change>> = {
  'a healthy service': (answer) => answer,
  'a failure, a flaky check and a warning': (answer, request) => {
    if (request.target === '/categories/1') return withBody(answer, { id: 1 });
    return on('/store/orders/1', failingOnce)(answer, request);
  },
  'a service that is not reached': refusing(500),
};

test.each(Object.entries(services))(
  '%s gives a report that both schemas take, with the condition of an --expect in the name of its case',
  async (_, spoil) => {
    await using service = await startService({ spoil });
    const file = join(newFolder(), 'smoke.xml');
    const condition = 'GET /pets 404 /0/name="Rex & Co"';
    const flags = ['--expect', condition, '--report', `junit=${file}`];
    await runCli(['smoke', '--base-url', service.url, ...flags]);
    const elements = readXml(readFileSync(file, 'utf8'));
    expect(elements.map(({ attributes }) => attributes.name)).toContain(`expect/1 ${condition}`);
    expect(elements.flatMap(faultsOf)).toEqual([]);
    const { timestamp = '' } = elements[1]?.attributes ?? {};
    expect(Date.parse(timestamp)).toBeGreaterThan(Date.now() - 600_000);
  },
);
