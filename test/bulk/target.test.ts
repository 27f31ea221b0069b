import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { stockShop } from '../helpers/stock-desk.ts';

// A target is the address as the client sends it, whatever it is called. A delivery shows whether two addresses are one
// target: it is booked there once.

/** A service that is reached below any base path, and a delivery that was applied at one address. */
async function deliveredAt(address: (url: string) => string) {
  const shop = await stockShop([5], { 'd.csv': 'petId,change\n1,1\n' });
  shop.misbehave = (request, response) => {
    const path = decodeURI(request.path)
      .replace(/\/{2,}/g, '/')
      .replace(/^\/v1/, '');
    const petId = /^\/store\/inventory\/(\d+)$/.exec(path)?.[1];
    if (path === request.path && petId === request.petId) return undefined;
    const quantity = request.method === 'GET' ? shop.stock.get('1') : request.quantity;
    shop.stock.set('1', quantity ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"petId":1,"quantity":${quantity},"status":"sold"}`);
    return true;
  };
  const deliver = async (url: string, env = {}) => {
    const words = `inventory apply d.csv --relative --delivery LS-1 --yes --base-url ${url}`;
    const { code, applied } = await shop.report(words, { env });
    expect(code).toBe(0);
    return applied === 1 ? 'applied' : 'booked before';
  };
  expect(await deliver(address(shop.url))).toBe('applied');
  return Object.assign(shop, { deliver });
}

test.each([
  ['another name of this machine', (url: string) => `${url.replace('127.0.0.1', 'localhost')}/v1`],
  ['upper case', (url: string) => `${url.replace('http', 'HTTP').replace('127.0.0.1', 'LOCALHOST')}/v1`],
  ['a short form of its number', (url: string) => `${url.replace('127.0.0.1', '127.1')}/v1`],
  ['a slash at the end', (url: string) => `${url}/v1/`],
  ['doubled slashes', (url: string) => `${url}//v1`],
  ['letters in percent', (url: string) => `${url}/%761`],
])('%s is the same target', async (_, alias) => {
  await using shop = await deliveredAt((url) => `${url}/v1`);
  expect(await shop.deliver(alias(shop.url))).toBe('booked before');
  expect(shop.stock.get('1')).toBe(6);
});

test('the base path of a binding belongs to the target', async () => {
  await using shop = await deliveredAt((url) => `${url}/v1`);
  const env = { PETSTORE_CONFIG_DIR: join(shop.folder, 'config') };
  const spec = JSON.parse((await runCli('api spec -o json')).stdout);
  shop.write('service.json', JSON.stringify({ ...spec, servers: [{ url: '/v1' }] }));
  const bound = await runCli(['api', 'bind', join(shop.folder, 'service.json')], {
    env: { ...shop.env, ...env },
  });
  expect(bound.code).toBe(0);
  expect(await shop.deliver(shop.url, env)).toBe('booked before');
  expect(shop.stock.get('1')).toBe(6);
});

test('another path is another target', async () => {
  await using shop = await deliveredAt((url) => `${url}/v1`);
  expect(await shop.deliver(shop.url)).toBe('applied');
});
