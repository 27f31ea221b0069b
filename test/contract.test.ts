import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { builtInContract, isListId } from '../src/api/contract.ts';
import { type Input, type OperationId, operationIds, operations } from '../src/api/operations.ts';
import { resultSchemas } from '../src/api/schemas.ts';
import type { Client } from '../src/client/client.ts';
import { createClient } from '../src/client/create-client.ts';
import { parseJson } from '../src/json.ts';
import { createOfflineTransport } from '../src/server/offline.ts';

/** A client of the server in this process, on a seeded store of its own where the operation's example is a valid call. */
async function openShop(id: OperationId): Promise<Client> {
  const now = () => new Date('2026-06-01T00:00:00Z');
  const client = createClient({
    contract: builtInContract,
    baseUrl: 'http://offline.invalid',
    transport: await createOfflineTransport({ file: ':memory:' }),
    fields: {},
    timeoutMs: 5000,
    retries: 0,
    signal: new AbortController().signal,
    now,
  });
  const first = before[id];
  if (first) await client.call(first, exampleInput(first));
  return client;
}

/** What a seeded shop lacks for an example: an entry must be gone before it is made, a category must have no pets. */
const before: Partial<Record<OperationId, OperationId>> = {
  createInventory: 'deleteInventory',
  deleteCategory: 'createCategory',
};

describe.each(operationIds)('%s', (id) => {
  test('answers its example with a documented status and a body that fits its schema', async () => {
    const row: (typeof operations)[OperationId] = operations[id];
    const client = await openShop(id);
    const response = await client.request({
      method: row.method,
      path: row.path.replace(/\{(\w+)\}/g, (_, name) => examplePath(id)[name] ?? ''),
      body: 'body' in row.example ? JSON.stringify(row.example.body) : undefined,
      fields: 'body' in row.example ? { 'content-type': 'application/json' } : {},
    });
    expect(row.success, String(response.body)).toContain(response.status);
    if (!('result' in row)) return expect(response.body).toHaveLength(0);
    const schema = 'many' in row ? v.array(resultSchemas[row.result]) : resultSchemas[row.result];
    return expect(v.safeParse(schema, parseJson(String(response.body))).issues).toBeUndefined();
  });

  test('gives the same through the client', async () => {
    const client = await openShop(id);
    if (isListId(id)) {
      for await (const page of client.list(id)) expect(page.length).toBeGreaterThan(0);
    } else {
      const { status } = await client.call(id, exampleInput(id));
      expect(operations[id].success).toContain(status);
    }
  });
});

function examplePath(id: OperationId): Readonly<Record<string, string>> {
  const { example } = operations[id];
  return 'path' in example ? example.path : {};
}

function exampleInput<K extends OperationId>(id: K): Input<K> {
  const ids = Object.entries(examplePath(id)).map(([name, text]) => [name, BigInt(text)]);
  const { example } = operations[id];
  const body = 'body' in example ? { body: parseJson(JSON.stringify(example.body)) } : {};
  return { ...Object.fromEntries(ids), ...body } as Input<K>;
}
