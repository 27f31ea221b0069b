import { beforeEach, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { type App, createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';

let store: Store;
let app: App;

beforeEach(async () => {
  store = seedStore();
  app = await createApp({ store: () => store });
});

function send(method: string, path: string, body?: string, type = 'application/json'): HttpResponse {
  return app({
    method,
    url: `http://shop.test${path}`,
    fields: body === undefined ? {} : { 'content-type': type },
    body,
  });
}

function error(response: HttpResponse): unknown {
  const body = JSON.parse(String(response.body));
  expect(response.fields['content-type']).toBe('application/json');
  expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
  expect(body.status).toBe(response.status);
  return [response.status, body.code, body.message];
}

test('a new pet is available, found at its location, and has an empty inventory entry', () => {
  const created = send('POST', '/pets', '{"name":"Rex","categoryId":1}');
  expect(created).toEqual({
    status: 201,
    fields: { 'content-type': 'application/json', location: '/pets/26' },
    body: '{"id":26,"name":"Rex","categoryId":1,"status":"available"}',
  });
  expect(send('GET', '/pets/26').body).toBe(created.body);
  expect(send('GET', '/store/inventory/26').body).toBe('{"petId":26,"quantity":0,"status":"available"}');
});
