import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

let shop: Awaited<ReturnType<typeof stockShop>>;
beforeAll(async () => {
  shop = await stockShop([], { 'same.csv': toCsv([5]) });
  shop.misbehave = () => ({ body: { petId: 1, quantity: 5, status: 'sold' } });
  await shop.run(`inventory apply same.csv --base-url ${shop.url}/v1`);
});
afterAll(() => shop[Symbol.asyncDispose]());

test.each([
  ['http://localhost:<port>/v1', true],
  ['HTTP://LOCALHOST:<port>/v1', true],
  ['http://localhost.:<port>/v1', true],
  ['http://127.1:<port>/v1', true],
  ['http://[::ffff:127.0.0.1]:<port>/v1', true],
  ['http://0.0.0.0:<port>/v1', true],
  ['http://127.0.0.1:<port>/v1/', true],
  ['http://127.0.0.1:<port>//v1', true],
  ['http://127.0.0.1:<port>/%761', true],
  ['http://127.0.0.1:<port>/v2', false],
  ['https://127.0.0.1:<port>/v1', false],
  ['http://127.0.0.1/v1', false],
  // A proxy or a tunnel has another service behind each of them.
  ['http://shop.localhost:<port>/v1', false],
  ['http://127.0.0.2:<port>/v1', false],
])('whether %s is the target http://127.0.0.1:<port>/v1: %s', async (alias, isSame) => {
  const url = alias.replace('<port>', new URL(shop.url).port);
  const { stderr } = await shop.run(`resume --base-url ${url}`);
  expect(stderr).toMatch(isSame ? /^run r1 is finished: / : /^there is no run on this target, /);
});

test('the base path of a binding belongs to the target, and resume names the base URL of the run', async () => {
  const env = { PETSTORE_CONFIG_DIR: join(shop.folder, 'config') };
  const spec = JSON.parse((await runCli('api spec -o json')).stdout);
  shop.write('service.json', JSON.stringify({ ...spec, servers: [{ url: '/v1' }] }));
  expect((await shop.run('api bind service.json', { env })).code).toBe(0);
  expect((await shop.run('resume', { env })).stderr).toMatch(/^run r1 is finished: /);
  shop.write('service.json', JSON.stringify({ ...spec, servers: [{ url: '/v2' }] }));
  expect((await shop.run('api bind service.json', { env })).code).toBe(0);
  const moved = await shop.run('resume r1', { env });
  const url = `http://localhost:${new URL(shop.url).port}`;
  expect(moved.stderr).toContain(`run r1 wrote to ${url}/v1, and this command goes to another service`);
  expect((await shop.run(`resume r1 --base-url ${url}/v1`, { env })).stderr).toMatch(/^run r1 is finished: /);
});

test.each([
  ['another path', '/counts/{petId}'],
  ['another store, which a parameter names', '/store/inventory/{petId}?store=8'],
])('a run does not go on with a binding that writes to %s', async (_, route) => {
  const env = { PETSTORE_CONFIG_DIR: join(shop.folder, 'other-config') };
  const spec = JSON.parse((await runCli('api spec -o json')).stdout);
  const { put, ...entry } = spec.paths['/store/inventory/{petId}'];
  const [path = ''] = route.split('?');
  const store = { name: 'store', in: 'query', schema: { type: 'string' } };
  const paths = {
    ...spec.paths,
    '/store/inventory/{petId}': entry,
    [path]: {
      ...(path === '/counts/{petId}' ? {} : entry),
      put: { ...put, parameters: [store] },
      parameters: entry.parameters,
    },
  };
  shop.write('moved.json', JSON.stringify({ ...spec, paths, servers: [{ url: '/v1' }] }));
  const bind = ['api', 'bind', 'moved.json', '--map', `updateInventory=PUT ${route}`];
  expect((await shop.run(bind, { env })).code).toBe(0);
  for (const line of ['resume r1', 'undo r1', 'resume'])
    expect((await shop.run(line, { env })).stderr).toBe(
      'error: run r1 was made with another binding; nothing was sent\nhint: bind the service as it was: updateInventory was PUT /store/inventory/{}\n',
    );
});

test('a delivery is not booked twice because a binding splits the same URL in another way', async () => {
  await using shop = await stockShop([], { 'd.csv': 'petId,change\n1,1\n' });
  const env = { PETSTORE_CONFIG_DIR: join(shop.folder, 'config') };
  shop.misbehave = ({ quantity = 5 }) => ({ body: { petId: 1, quantity, status: 'sold' } });
  const spec = JSON.parse((await runCli('api spec -o json')).stdout);
  const paths = Object.fromEntries(Object.entries(spec.paths).map(([path, item]) => [`/v1${path}`, item]));
  const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes';
  shop.write('long.json', JSON.stringify({ ...spec, paths, servers: [{ url: '/' }] }));
  expect((await shop.run('api bind long.json', { env })).code).toBe(0);
  expect(await shop.report(deliver, { env })).toMatchObject({ code: 0, applied: 1 });
  shop.write('short.json', JSON.stringify({ ...spec, servers: [{ url: '/v1' }] }));
  expect((await shop.run('api bind short.json', { env })).code).toBe(0);
  const { code, error } = await shop.report(deliver, { env });
  expect({ code, error }).toMatchObject({ code: 2, error: { code: 'other_profile' } });
});
