import { SaxesParser } from 'saxes';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { type Bound, bindTo } from '../helpers/bound.ts';
import { type Description, ownDescription } from '../helpers/own-description.ts';
import type { ReceivedRequest } from '../helpers/recording-server.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { type Change, startService } from './service.ts';

/** A check in the JSON report: the fields that tests look at. */
interface Check extends Readonly<Record<'id' | 'result' | 'reason', string>> {
  readonly expected?: string;
  readonly hint?: string;
}

interface SmokeRun {
  readonly code: number;
  readonly stderr: string;
  readonly checks: readonly Check[];
  ids(result: string): string[];
  check(id: string): Check;
}

/** Runs `petstore smoke` in this process against a URL, and returns its JSON report. */
export async function smoke(
  baseUrl: string,
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<SmokeRun> {
  const { code, stdout, stderr } = await runCli(
    ['smoke', '--base-url', baseUrl, '-o', 'json', ...flags],
    options,
  );
  if (stdout === '') throw new Error(`no report: ${stderr}`);
  const report = JSON.parse(stdout) as Pick<SmokeRun, 'checks'>;
  return {
    ...report,
    code,
    stderr,
    ids: (result) => report.checks.filter((check) => check.result === result).map(({ id }) => id),
    check(id) {
      const check = report.checks.find((candidate) => candidate.id === id);
      if (!check) throw new Error(`no check ${id} in ${report.checks.map((each) => each.id).join(' ')}`);
      return check;
    },
  };
}

/** Runs `petstore smoke` against a new service, and returns the requests of the service too. */
export async function smokeOf(
  spoil: Change,
  flags: readonly string[],
): Promise<SmokeRun & { readonly requests: readonly ReceivedRequest[] }> {
  await using service = await startService({ spoil });
  return { ...(await smoke(service.url, flags)), requests: service.requests };
}

/** Binds a service to the description of the local server, changed by `change`. @returns the environment of the binding. */
export async function boundTo(url: string, change: (document: Description) => void): Promise<Bound['env']> {
  return (await bindTo({ url, requests: [] }, ownDescription(change, url))).env;
}

/** Adds a security scheme to a description, and requires it for every operation. */
export function requireToken(
  document: Description,
  scheme: JsonObject = { type: 'http', scheme: 'bearer' },
): void {
  document.security = [{ token: [] }];
  document.components.securitySchemes = { token: scheme };
}

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The names of the elements in it, in order. */
  readonly children: string[];
}

/** Reads XML as strictly as the standard demands. @returns all elements, in order. */
export function readXml(text: string): XmlElement[] {
  const elements: XmlElement[] = [];
  const open: XmlElement[] = [];
  const parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.0' });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [] };
    open.at(-1)?.children.push(name);
    open.push(element);
    elements.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return elements;
}
