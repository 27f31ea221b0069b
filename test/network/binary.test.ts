import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { few, many, playBinary } from './binary.ts';
import { type Case, cases } from './cases.ts';
import { type Result, runCases } from './run-cases.ts';

/** Where a table of all cases goes, as Markdown; without it only those are run that a process could spoil. */
const tableFile = process.env.PETSTORE_RELIABILITY_TABLE;

const chosen = cases.filter((one) => tableFile || one.spoilsProcess);

describe.each([
  { kind: 'few', commands: few, played: chosen },
  { kind: 'many', commands: many, played: chosen.flatMap(asWrite) },
])('the built program, for $kind requests, with a service that', ({ kind, commands, played }) => {
  let results: ReadonlyMap<Case, Result>;
  beforeAll(async () => {
    results = await runCases(played, (scene, one) => playBinary(commands, scene, one), 8);
  }, 300_000);
  afterAll(async () => {
    if (tableFile) await writeFile(`${tableFile}.${kind}.md`, table(results));
  });

  test.each(played)('$name', (one) => {
    const { exit, text, requests, ms } = results.get(one)!;
    expect(text).toMatch(one.says ?? (one.exit === 0 ? /^(?!.*error:)/s : /^error: /m));
    expect(text).not.toMatch(/\n {4}at |s3cret-word/);
    expect(exit).toBe(one.exit);
    expect(requests).toBeGreaterThanOrEqual(one.requests[0]);
    expect(requests).toBeLessThanOrEqual(one.requests[1]);
    if (one.ms) expect(ms).toBeLessThan(one.ms[1] + 5000);
  });
});

/** The case as a bulk write meets it: one row, whose summary says why in words of its own. */
function asWrite(one: Case): Case[] {
  if (one.notAsWrite || (one.ask !== 'list' && one.ask !== 'set')) return [];
  const { says: _, ...rest } = one;
  const [least, most] = one.requests;
  // A row that is not there is a failed row, and one that was refused may be read once more to say what it is now.
  return [{ ...rest, ask: 'set', exit: one.exit === 5 ? 1 : one.exit, requests: [least, most + 1] }];
}

function table(results: ReadonlyMap<Case, Result>): string {
  const rows = [...results].map(([{ name, ask }, { requests, connections, exit, ms, text }]) =>
    [name, ask, requests, connections, exit, (ms / 1000).toFixed(2), oneLine(text)].join(' | '),
  );
  const head = 'a service that | asked to | requests | connections | exit | seconds | says';
  return `${[head, head.replace(/[^|]+/g, ' --- '), ...rows].map((row) => `| ${row} |`).join('\n')}\n`;
}

function oneLine(text: string): string {
  const lines = text.split('\n');
  const first =
    lines.find((line) => /^ +line \d+, /.test(line)) ?? lines.find((line) => line.startsWith('error')) ?? '';
  const short = first.replace(/^(error|.*pet 1): (.*?: )?([A-Z]+ https?:\S+: )?/, '').replaceAll('|', '\\|');
  return short.length > 140 ? `${short.slice(0, 140)}...` : short;
}
