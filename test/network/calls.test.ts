import { beforeAll, describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { createNodeHttpTransport } from '../../src/client/transport/node-http.ts';
import { createUndiciTransport } from '../../src/client/transport/undici.ts';
import { errorText } from '../../src/output/error.ts';
import { CliError } from '../../src/process/errors.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { type Ask, type Case, cases, type Result, runCases, type Scene } from './cases.ts';

const transports = { 'node:http': createNodeHttpTransport, undici: createUndiciTransport };

for (const [name, open] of Object.entries(transports))
  describe(`over ${name}, a service that`, () => {
    let results: ReadonlyMap<Case, Result>;
    beforeAll(async () => {
      results = await runCases(cases, (scene, one) => play(open, scene, one), 16);
    }, 60_000);

    test.each(cases)('$name', (one) => {
      const { exit, text, requests, ms } = results.get(one)!;
      expect(text).toMatch(one.says ?? (one.exit === 0 ? /^$/ : /^error: /));
      expect(exit).toBe(one.exit);
      expect(requests).toBeGreaterThanOrEqual(one.requests[0]);
      expect(requests).toBeLessThanOrEqual(one.requests[1]);
      if (!one.ms) return;
      expect(ms).toBeGreaterThan(one.ms[0] - 50);
      // Two cores that others use too: what is left out of a deadline would be off by far more.
      expect(ms).toBeLessThan(one.ms[1] + 3000);
    });
  });

async function play(
  open: (typeof transports)[keyof typeof transports],
  scene: Scene,
  one: Case,
): Promise<Pick<Result, 'exit' | 'text' | 'ms'>> {
  const client = await connect(open, scene, one);
  const started = performance.now();
  const outcome = await send(client, one.ask).then(
    () => ({ exit: 0, text: '' }),
    (error) => {
      if (!(error instanceof CliError)) throw error;
      return { exit: error.exitCode, text: errorText(error) };
    },
  );
  const ms = performance.now() - started;
  await client.close();
  return { ...outcome, ms };
}

async function connect(
  open: (typeof transports)[keyof typeof transports],
  { baseUrl, caCert, clientCert, env = {} }: Scene,
  { timeoutMs = 30_000, retries = 4 }: Case,
): Promise<Client> {
  const tls = { ca: caCert, ...clientCert };
  const transport = await open({ tls, env, connections: 4, connectTimeoutMs: timeoutMs });
  return createClient({
    contract: builtInContract,
    baseUrl,
    transport,
    fields: { accept: 'application/json' },
    timeoutMs,
    retries,
    signal: new AbortController().signal,
    secrets: createSecrets(),
  });
}

async function send(client: Client, ask: Ask): Promise<void> {
  if (ask === 'set') await client.call('updateInventory', { petId: 1n, body: { quantity: 5 } });
  else if (ask === 'create') await client.call('createCategory', { body: { name: 'Dogs' } });
  else if (ask === 'delete') await client.call('deleteInventory', { petId: 1n });
  else for await (const _ of client.list('listInventory'));
}
