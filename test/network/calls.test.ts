import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { errorText } from '../../src/output/messages.ts';
import { plainStyle } from '../../src/output/style.ts';
import { CliError } from '../../src/process/errors.ts';
import { type Ask, type Case, cases, type Result, runCases } from './cases.ts';
import { connect, transports } from './connect.ts';

for (const [name, open] of Object.entries(transports))
  describe(`over ${name}, a service that`, () => {
    let results: ReadonlyMap<Case, Result>;
    beforeAll(async () => {
      results = await runCases(cases, 16, async ({ baseUrl, caCert, clientCert, env }, testCase) => {
        const tls = { ca: caCert, ...clientCert };
        const started = performance.now();
        const outcome = await play(() => connect(open, baseUrl, { ...testCase, tls, env }), testCase.ask);
        return { ...outcome, ms: performance.now() - started };
      });
    });

    test.each(cases)('$name', (testCase) => {
      const { exit, text, requests, ms } = results.get(testCase)!;
      expect(text).toMatch(testCase.says ?? (testCase.exit === 0 ? /^$/ : /^error: /));
      expect(exit).toBe(testCase.exit);
      expect(requests).toBeGreaterThanOrEqual(testCase.requests[0]);
      expect(requests).toBeLessThanOrEqual(testCase.requests[1]);
      // A timer may fire a few milliseconds early. A call that ends late is held by the limit of all cases.
      expect(ms).toBeGreaterThan((testCase.minMs ?? 0) - 50);
    });
  });

/** The exit code and the text on stderr. */
async function play(open: () => Promise<Client>, ask: Ask) {
  try {
    await send(await open(), ask);
    return { exit: 0, text: '' };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { exit: error.exitCode, text: errorText(error, plainStyle) };
  }
}

const writes = {
  set: ['updateInventory', { id: 1n, body: { quantity: 5 } }],
  create: ['createCategory', { body: { name: 'Dogs' } }],
  delete: ['deleteInventory', { id: 1n }],
} as const;

async function send(client: Client, ask: Ask): Promise<void> {
  if (ask === 'list') for await (const _ of client.list('listInventory'));
  else {
    const [id, input] = writes[ask];
    const { error } = await client.write(id, input);
    if (error) throw error;
  }
}
