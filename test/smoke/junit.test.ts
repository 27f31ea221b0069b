import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { newFolder } from './run.ts';
import { type Change, counting, on, refusing, startService, withBody } from './service.ts';

// The rules of the two schemas that refuse most: that of Jenkins' xUnit plugin (junit-10.xsd), and that of Maven Surefire
// (surefire-test-report-3.0.xsd), whose root is a test suite.

/** The rules for an element: its attributes, those that are required with `!`, and how often each child may come, in order. */
interface Rules {
  readonly attributes: readonly string[];
  readonly children?: Readonly<Record<string, number>>;
  /** Whether the children may come in any order. */
  readonly isUnordered?: boolean;
  readonly hasText?: boolean;
}

type Schema = Readonly<Record<string, Rules>>;

const many = Number.POSITIVE_INFINITY;
const property: Rules = { attributes: ['name!', 'value!'] };
const properties: Rules = { attributes: [], children: { property: many } };
const output: Rules = { attributes: [], hasText: true };

const jenkins: Schema = {
  testsuites: {
    attributes: ['name', 'time', 'tests', 'failures', 'errors'],
    children: { testsuite: many },
  },
  testsuite: {
    attributes: [
      ...['name!', 'tests!', 'failures!', 'errors!', 'group', 'time', 'skipped', 'timestamp', 'hostname'],
      ...['id', 'package', 'file', 'log', 'url'],
    ],
    children: { testsuite: many, properties: many, testcase: many, 'system-out': many, 'system-err': many },
    isUnordered: true,
  },
  testcase: {
    attributes: ['name!', 'time', 'classname', 'group'],
    children: { skipped: many, error: many, failure: many, 'system-out': many, 'system-err': many },
    isUnordered: true,
  },
  failure: { attributes: ['type', 'message'], hasText: true },
  error: { attributes: ['type', 'message'], hasText: true },
  skipped: { attributes: ['type', 'message'], hasText: true },
  ...{ properties, property, 'system-out': output, 'system-err': output },
};

const surefire: Schema = {
  testsuite: {
    // Surefire's schema has no timestamp, but what reads its reports knows it.
    attributes: [
      'version',
      'timestamp',
      'name!',
      'time',
      'tests!',
      'errors!',
      'skipped!',
      'failures!',
      'group',
    ],
    children: { properties: many, testcase: many },
  },
  testcase: {
    attributes: ['name!', 'classname', 'group', 'time!'],
    children: { failure: many, skipped: 1, error: 1, 'system-out': 1, 'system-err': 1 },
  },
  failure: { attributes: ['message', 'type!'], hasText: true },
  error: { attributes: ['message', 'type!'], hasText: true },
  skipped: { attributes: ['message'], hasText: true },
  ...{ properties, property, 'system-out': output, 'system-err': output },
};

/** The type of every time: thousands may be grouped, and Surefire allows three decimals. */
const time = /^\d{1,3}(,?\d{3})*(\.\d{1,3})?$/;

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** Reads XML as strictly as the standard demands. */
function readXml(text: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.0' });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (part) => {
    const element = open.at(-1);
    if (element) element.text += part;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return root.children[0] as Element;
}

/** Finds what breaks the rules of a schema, each with the element. */
function faultsOf({ name, attributes, children, text }: Element, schema: Schema): string[] {
  const rules = schema[name];
  if (!rules) return [`<${name}> is not allowed`];
  const names = rules.attributes.map((rule) => rule.replace('!', ''));
  const required = rules.attributes.filter((rule) => rule.endsWith('!')).map((rule) => rule.slice(0, -1));
  const allowed = Object.entries(rules.children ?? {});
  const order = children.map((child) => allowed.findIndex(([childName]) => childName === child.name));
  return [
    ...Object.keys(attributes).flatMap((key) => (names.includes(key) ? [] : [`${name} has ${key}`])),
    ...required.flatMap((key) => (key in attributes ? [] : [`${name} lacks ${key}`])),
    ...('time' in attributes && !time.test(attributes.time ?? '') ? [`${name}: ${attributes.time}`] : []),
    ...(rules.hasText || text.trim() === '' ? [] : [`${name} has text`]),
    ...(order.includes(-1) ? [`${name} has another child`] : []),
    ...(!rules.isUnordered && order.some((at, index) => at < (order[index - 1] ?? 0))
      ? [`${name}: order`]
      : []),
    ...allowed.flatMap(([child, most]) =>
      children.filter((element) => element.name === child).length > most ? [`${name}: ${child} twice`] : [],
    ),
    ...children.flatMap((child) => faultsOf(child, schema)),
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

test.each(Object.entries(services))('%s gives a report that both schemas take', async (_, spoil) => {
  await using service = await startService({ spoil });
  const file = join(newFolder(), 'smoke.xml');
  const flags = ['--expect', 'GET /pets 404', '--report', `junit=${file}`];
  await runCli(['smoke', '--base-url', service.url, ...flags]);
  const report = readXml(readFileSync(file, 'utf8'));
  expect(report.name).toBe('testsuites');
  expect(faultsOf(report, jenkins)).toEqual([]);
  expect(report.children.length).toBeGreaterThan(1);
  for (const suite of report.children) {
    expect(faultsOf(suite, surefire)).toEqual([]);
    expect(Date.parse(suite.attributes.timestamp ?? '')).toBeGreaterThan(Date.now() - 600_000);
  }
});

test('a case of --expect is named by its number and its condition', async () => {
  await using service = await startService();
  const file = join(newFolder(), 'smoke.xml');
  const conditions = ['GET /pets 2xx /0/name="Rex & Co"', 'header x-commit=1'];
  const flags = ['--only', 'expect', '--report', `junit=${file}`];
  const expectations = conditions.flatMap((condition) => ['--expect', condition]);
  await runCli(['smoke', '--base-url', service.url, ...flags, ...expectations]);
  const suite = readXml(readFileSync(file, 'utf8')).children.find(
    ({ attributes }) => attributes.name === 'expect',
  );
  const names = suite?.children.flatMap(({ name, attributes }) =>
    name === 'testcase' ? [attributes.name] : [],
  );
  expect(names).toEqual(conditions.map((condition, index) => `expect/${index + 1} ${condition}`));
});

test('the rules refuse what Jenkins and Surefire refuse', () => {
  const suite = (attributes: string, content = '') =>
    readXml(`<testsuite name="a" tests="1" failures="0" errors="0" ${attributes}>${content}</testsuite>`);
  expect(faultsOf(readXml('<testsuites skipped="0"/>'), jenkins)).toEqual(['testsuites has skipped']);
  expect(faultsOf(suite('skipped="0" time="0.123456"'), surefire)).toEqual(['testsuite: 0.123456']);
  expect(faultsOf(suite('skipped="0" hostname="h"'), surefire)).toEqual(['testsuite has hostname']);
  const skipped = '<testcase name="a" time="0"><skipped type="x"/></testcase>';
  expect(faultsOf(suite('skipped="1"', skipped), surefire)).toEqual(['skipped has type']);
});
