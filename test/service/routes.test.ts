import { beforeEach, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { type App, createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';

const operations = [...builtInContract.operations.values()];
let app: App;

beforeEach(() => {
  const store = seedStore();
  app = createApp({ store: () => store });
});

function send(method: string, path: string) {
  return app({ method, url: `http://shop.test${path}`, fields: {} });
}

test('every path of the table leads to its operation, also with a percent-encoded id', () => {
  for (const { method, path, id } of operations) {
    const { status, body } = send(method, path.replace(/\{\w+\}/, '%37%37'));
    // A write without a body is refused by its operation; a record that is missing was looked for by its operation.
    const expected = method === 'POST' || method === 'PUT' ? 415 : path.includes('{') ? 404 : 200;
    expect([id, status]).toEqual([id, expected]);
    if (status === 404) expect(String(body)).toContain('77 does not exist');
  }
});

test.each([
  '/',
  '',
  '/pets/',
  '/pets/1/',
  '/pets/1/2',
  '/Pets',
  '/store',
  '/store/orders/',
  '//pets',
  '/pets//',
])('there is no %j', (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    expect([method, send(method, path).status]).toEqual([method, 404]);
  }
});

test('a path with any id takes the methods of the table', () => {
  expect(send('POST', '/pets/__proto__').fields.allow).toBe('GET, HEAD, PUT, DELETE');
  expect(send('__proto__', '/pets').status).toBe(405);
  expect(send('GET', '/__proto__').status).toBe(404);
});
