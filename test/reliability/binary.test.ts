import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { few, playBinary } from './binary.ts';
import { type Case, cases } from './cases.ts';
import { type Result, runCases } from './run-cases.ts';

/** Where a table of all cases goes, as Markdown; without it only those are run that a process could spoil. */
const tableFile = process.env.PETSTORE_RELIABILITY_TABLE;

for (const [kind, commands] of Object.entries({ few }))
  describe(`the built program, for ${kind} requests, with a service that`, () => {
    const chosen = cases.filter((one) => commands[one.ask] && (tableFile || one.spoilsProcess));
    let results: ReadonlyMap<Case, Result>;
    beforeAll(async () => {
      results = await runCases(chosen, (scene, one) => playBinary(commands, scene, one), 4);
    }, 240_000);
    afterAll(async () => {
      if (tableFile) await writeFile(`${tableFile}.${kind}.md`, table(results));
    });

    test.each(chosen)('$name', (one) => {
      const { exit, text, requests, ms } = results.get(one)!;
      expect(text).toMatch(one.says ?? (one.exit === 0 ? /^(?!.*error:)/s : /^error: /));
      expect(text).not.toMatch(/\n {4}at |s3cret-word/);
      expect(exit).toBe(one.exit);
      expect(requests).toBeGreaterThanOrEqual(one.requests[0]);
      expect(requests).toBeLessThanOrEqual(one.requests[1]);
      if (one.ms) expect(ms).toBeLessThan(one.ms[1] + 5000);
    });
  });

function table(results: ReadonlyMap<Case, Result>): string {
  const rows = [...results].map(([{ name, ask }, { requests, connections, exit, ms, text }]) =>
    [name, ask, requests, connections, exit, (ms / 1000).toFixed(2), oneLine(text)].join(' | '),
  );
  const head = 'a service that | asked to | requests | connections | exit | seconds | says';
  return `${[head, head.replace(/[^|]+/g, ' --- '), ...rows].map((row) => `| ${row} |`).join('\n')}\n`;
}

function oneLine(text: string): string {
  const [first = ''] = text.split('\n');
  const short = first.replace(/^error: (.*?: )?[A-Z]+ https?:\S+: /, '').replaceAll('|', '\\|');
  return short.length > 140 ? `${short.slice(0, 140)}...` : short;
}
