import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import {
  type Input,
  idName,
  type ListId,
  type OperationId,
  operationIds,
  operations,
} from '../../src/api/operations.ts';
import { bodySchemas, resultSchemas } from '../../src/api/schemas.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { parseJson } from '../../src/process/exact-json.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { createOfflineTransport } from '../../src/server/offline.ts';

/** A client of the server in this process, on a seeded store of its own in which the operation's example is a valid call. */
async function openShop(id: OperationId): Promise<Client> {
  const client = createClient({
    contract: builtInContract,
    baseUrl: 'http://offline.invalid',
    transport: await createOfflineTransport(':memory:'),
    fields: {},
    timeoutMs: 5000,
    retries: 0,
    signal: new AbortController().signal,
    secrets: createSecrets(),
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
    const { method, path, success, result, many, example = {} } = operations[id];
    const client = await openShop(id);
    const response = await client.request({
      method,
      path: path.replace(/\{\w+\}/, example.id ?? ''),
      body: example.body === undefined ? undefined : JSON.stringify(example.body),
      fields: example.body === undefined ? {} : { 'content-type': 'application/json' },
    });
    expect(success, String(response.body)).toContain(response.status);
    if (result === undefined) return expect(response.body).toHaveLength(0);
    const schema = many ? v.array(resultSchemas[result]) : resultSchemas[result];
    return expect(v.safeParse(schema, parseJson(String(response.body))).issues).toBeUndefined();
  });

  test('requires the fields of a body that its schema requires', () => {
    const { body } = operations[id];
    const entries = Object.entries(body ? bodySchemas[body.name].entries : {});
    const required = entries.filter(([, schema]) => schema.type !== 'optional').map(([field]) => field);
    expect(body?.required ?? []).toEqual(required);
  });

  test('gives the same through the client', async () => {
    const client = await openShop(id);
    if (operations[id].many) {
      for await (const page of client.list(id as ListId)) expect(page.length).toBeGreaterThan(0);
    } else {
      const { status } = await client.call(id, exampleInput(id));
      expect(operations[id].success).toContain(status);
    }
  });
});

function exampleInput<K extends OperationId>(id: K): Input<K> {
  const { example = {} } = operations[id];
  const ids = example.id === undefined ? {} : { [idName(id) ?? '']: BigInt(example.id) };
  const body = example.body === undefined ? {} : { body: parseJson(JSON.stringify(example.body)) };
  return { ...ids, ...body } as Input<K>;
}
