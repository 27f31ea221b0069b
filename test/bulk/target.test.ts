import { join } from 'node:path';
import { expect, test } from 'vitest';
import { targetOf } from '../../src/bulk/target.ts';
import { runCli } from '../helpers/run-cli.ts';
import { toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

test.each([
  ['http://localhost:4010/v1', true],
  ['HTTP://LOCALHOST:4010/v1', true],
  ['http://localhost.:4010/v1', true],
  ['http://127.1:4010/v1', true],
  ['http://[::ffff:127.0.0.1]:4010/v1', true],
  ['http://0.0.0.0:4010/v1', true],
  ['http://127.0.0.1:4010/v1/', true],
  ['http://127.0.0.1:4010//v1', true],
  ['http://127.0.0.1:4010/%761', true],
  ['http://127.0.0.1:4010/v2', false],
  ['https://127.0.0.1:4010/v1', false],
  ['http://127.0.0.1/v1', false],
  // A proxy or a tunnel has another service behind each of them.
  ['http://shop.localhost:4010/v1', false],
  ['http://127.0.0.2:4010/v1', false],
])('whether %s is the target http://127.0.0.1:4010/v1: %s', (alias, isSame) => {
  expect(targetOf(alias) === targetOf('http://127.0.0.1:4010/v1')).toBe(isSame);
});

test('the base path of a binding belongs to the target', async () => {
  await using shop = await stockShop([], { 'same.csv': toCsv([5]) });
  shop.misbehave = () => ({ body: { petId: 1, quantity: 5, status: 'sold' } });
  const env = { PETSTORE_CONFIG_DIR: join(shop.folder, 'config') };
  const spec = JSON.parse((await runCli('api spec -o json')).stdout);
  shop.write('service.json', JSON.stringify({ ...spec, servers: [{ url: '/v1' }] }));
  const bound = ['api', 'bind', join(shop.folder, 'service.json')];
  expect((await runCli(bound, { env: { ...shop.env, ...env } })).code).toBe(0);
  expect((await shop.run('inventory apply same.csv', { env })).code).toBe(0);
  const [run] = JSON.parse((await shop.run('runs -o json')).stdout);
  expect(run.target).toBe(targetOf(`${shop.url}/v1`));
});
