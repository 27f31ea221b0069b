import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import type { Transport } from '../../src/api/http.ts';
import { createClient } from '../../src/client/client.ts';
import { createNodeHttpTransport } from '../../src/client/transport/node-http.ts';
import { createUndiciTransport } from '../../src/client/transport/undici.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Listening } from '../../src/server/server.ts';
import { startServer } from '../../src/server/server.ts';

let server: Listening;
beforeAll(async () => {
  server = await startServer({ store: seedStore(), host: '127.0.0.1', port: 0 } as Parameters<
    typeof startServer
  >[0]);
});
afterAll(() => server.close());

const options = { tls: {}, env: {}, connections: 4, connectTimeoutMs: 5000 };
const transports: Record<string, () => Transport | Promise<Transport>> = {
  'node:http': () => createNodeHttpTransport(options),
  undici: () => createUndiciTransport(options),
};

for (const [name, open] of Object.entries(transports)) {
  const connect = async () =>
    createClient({
      contract: builtInContract,
      baseUrl: server.url,
      transport: await open(),
      fields: { accept: 'application/json' },
      timeoutMs: 5000,
      retries: 0,
      signal: new AbortController().signal,
      secrets: createSecrets(),
    });

  test(`reads every page of a list, over ${name}`, async () => {
    const client = await connect();
    const sizes: number[] = [];
    const ids: bigint[] = [];
    for await (const page of client.list('listPets', {}, { limit: 25 })) {
      sizes.push(page.length);
      ids.push(...page.map(({ id }) => id));
    }
    expect(sizes).toEqual([25]);
    expect(ids).toHaveLength(25);
    await client.close();
  });

  test(`creates, updates and deletes, over ${name}`, async () => {
    const client = await connect();
    const created = await client.call('createPet', { body: { name: 'Rex', categoryId: 1n } });
    expect(created).toMatchObject({ status: 201, value: { name: 'Rex', status: 'available' } });
    const petId = created.value?.id ?? 0n;
    const set = await client.call('updateInventory', { petId, body: { quantity: 7 } });
    expect(set.value).toEqual({ petId, quantity: 7, status: 'available' });
    expect((await client.call('deletePet', { petId })).value).toBeUndefined();
    await expect(client.call('getPet', { petId })).rejects.toMatchObject({ status: 404, kind: 'not-found' });
    await client.close();
  });
}
