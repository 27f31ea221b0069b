import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Outcome, spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type Case, cases, type Result, runCases } from './cases.ts';
import type { Setup } from './modes.ts';

/** Commands that send few requests, over node:http, and one of those that may send many, over undici. */
const commands = {
  few: { list: 'inventory list -o ids', create: 'categories create --name Dogs', set: 'inventory set 1 5' },
  // It ends as a list does: both may be sent again.
  many: { list: 'inventory delete 1 --yes' },
} as const;

describe.each(Object.entries(commands))(
  'the built program, for %s requests, with a service that',
  (_, lines) => {
    const line = ({ ask }: Case) => (lines as Readonly<Record<string, string>>)[ask];
    const chosenCases = cases.filter((testCase) => testCase.spoilsProcess && line(testCase));
    let results: ReadonlyMap<Case, Result>;
    beforeAll(async () => {
      results = await runCases(chosenCases, 8, async (setup, testCase) => {
        const { code, stderr, milliseconds: ms } = await play(`${line(testCase)}`, setup, testCase);
        return { exit: code, text: stderr, ms };
      });
    }, 300_000);

    test.each(chosenCases)('$name', (testCase) => {
      const { exit, text, requests } = results.get(testCase)!;
      expect(text).toMatch(testCase.says ?? (testCase.exit === 0 ? /^(?!.*error:)/s : /^error: /m));
      expect(text).not.toMatch(/\n {4}at |s3cret-word/);
      expect(exit).toBe(testCase.exit);
      expect(requests).toBeGreaterThanOrEqual(testCase.requests[0]);
      expect(requests).toBeLessThanOrEqual(testCase.requests[1]);
    });
  },
);

/** Runs the built program in a setup. */
async function play(line: string, setup: Setup, testCase: Case): Promise<Outcome> {
  const folder = temporaryFolder();
  const words =
    `${line} --timeout ${testCase.timeoutMs ?? 30_000}ms --retries ${testCase.retries ?? 4}`.split(' ');
  if (setup.caCert !== undefined) writeFileSync(join(folder, 'ca.pem'), setup.caCert);
  const trust = setup.caCert !== undefined && { PETSTORE_CA_CERT: join(folder, 'ca.pem') };
  const env = { ...setup.env, ...trust, PETSTORE_STATE_DIR: join(folder, 'state') };
  return await spawnCli([...words, '--base-url', setup.baseUrl], { env, cwd: folder });
}
