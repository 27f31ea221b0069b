import { beforeEach, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { operationIds, operations } from '../../src/api/operations.ts';
import { parseJson } from '../../src/process/exact-json.ts';
import { type App, createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';

const largestId = '9223372036854775807';
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

/** Status, code and message of a refusal, whose body must be the document's. */
function refusal(response: HttpResponse): unknown[] {
  const body = JSON.parse(String(response.body));
  expect(response.fields['content-type']).toBe('application/json');
  expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
  expect(body.status).toBe(response.status);
  return [response.status, body.code, body.message];
}

function body(response: HttpResponse): unknown {
  return parseJson(String(response.body));
}

function ids(response: HttpResponse): unknown[] {
  return (body(response) as { id: unknown }[]).map(({ id }) => id);
}

describe('pets', () => {
  test('a new pet is available, can be read at its Location, and has an inventory entry of quantity 0', () => {
    const created = send('POST', '/pets', '{"name":"Rex","categoryId":1}');
    expect(created).toEqual({
      status: 201,
      fields: { 'content-type': 'application/json', location: '/pets/26' },
      body: '{"id":26,"name":"Rex","categoryId":1,"status":"available"}',
    });
    expect(send('GET', '/pets/26').body).toBe(created.body);
    expect(send('GET', '/store/inventory/26').body).toBe('{"petId":26,"quantity":0,"status":"available"}');
  });

  test('ids count up and are never assigned twice', () => {
    send('POST', '/pets', '{"name":"Rex","categoryId":1}');
    expect(send('DELETE', '/pets/26')).toEqual({ status: 204, fields: {}, body: '' });
    expect(body(send('POST', '/pets', '{"name":"Rex","categoryId":1,"id":7}'))).toMatchObject({ id: 27 });
  });

  test('a category that does not exist is an unknown reference', () => {
    const expected = [422, 'unknown_reference', '/categoryId: category 99 does not exist'];
    expect(refusal(send('POST', '/pets', '{"name":"Rex","categoryId":99}'))).toEqual(expected);
    expect(refusal(send('PUT', '/pets/1', '{"name":"Rex","categoryId":99}'))).toEqual(expected);
    expect(store.pets.size).toBe(25);
  });

  test('PUT replaces: a status left out is available again, and the inventory entry follows', () => {
    send('PUT', '/pets/1', '{"name":"Bella","categoryId":1,"status":"sold"}');
    expect(body(send('GET', '/store/inventory/1'))).toMatchObject({ status: 'sold', quantity: 1 });
    send('PUT', '/pets/1', '{"name":"Bella","categoryId":1}');
    expect(body(send('GET', '/pets/1'))).toMatchObject({ status: 'available' });
    expect(body(send('GET', '/store/inventory/1'))).toMatchObject({ status: 'available' });
  });

  test('a pet with an open order cannot be deleted; a pet with complete orders is deleted with its inventory entry', () => {
    expect(refusal(send('DELETE', '/pets/4'))).toEqual([
      409,
      'in_use',
      'pet 4 has an order that is not complete',
    ]);
    expect(send('DELETE', '/pets/5').status).toBe(204);
    expect(send('GET', '/store/inventory/5').status).toBe(404);
    expect(send('GET', '/store/orders/1').status).toBe(200);
  });

  test('an order that does not say whether it is complete is open', () => {
    send('POST', '/store/orders', '{"petId":1}');
    expect(send('DELETE', '/pets/1').status).toBe(409);
  });

  test('every combination of filters gives the same pets as a search through all pets', () => {
    const all = body(send('GET', '/pets')) as { id: number; status: string; categoryId: number }[];
    for (const status of ['available', 'pending', 'sold']) {
      const some = all.filter((pet) => pet.status === status);
      expect(ids(send('GET', `/pets?status=${status}`))).toEqual(some.map(({ id }) => id));
      const both = some.filter((pet) => pet.categoryId === 2).map(({ id }) => id);
      expect(ids(send('GET', `/pets?status=${status}&categoryId=2`))).toEqual(both);
    }
    expect(body(send('GET', '/pets?categoryId=99'))).toEqual([]);
  });

  test('getPet announces its sunset, also when it refuses; no other operation does', async () => {
    const announced = { deprecation: '@1767225600', sunset: 'Fri, 31 Dec 2027 00:00:00 GMT' };
    expect(send('GET', '/pets/1').fields).toMatchObject(announced);
    expect(send('GET', '/pets/99').fields).toMatchObject(announced);
    expect(send('GET', '/pets').fields).not.toHaveProperty('deprecation');
    app = await createApp({ store: () => store, sunset: '2025-06-30' });
    expect(send('GET', '/pets/1').fields).toMatchObject({
      deprecation: '@1751241600',
      sunset: 'Mon, 30 Jun 2025 00:00:00 GMT',
    });
  });
});

describe('categories', () => {
  test('a category with pets cannot be deleted; an empty one can, and its id is not assigned again', () => {
    expect(refusal(send('DELETE', '/categories/1'))).toEqual([409, 'in_use', 'category 1 has pets']);
    expect(body(send('POST', '/categories', '{"name":"Insects"}'))).toEqual({ id: 7, name: 'Insects' });
    expect(send('DELETE', '/categories/7').status).toBe(204);
    expect(body(send('POST', '/categories', '{"name":"Insects"}'))).toMatchObject({ id: 8 });
  });

  test('PUT without a description drops it', () => {
    expect(body(send('PUT', '/categories/1', '{"name":"Hounds"}'))).toEqual({ id: 1, name: 'Hounds' });
  });
});

describe('orders', () => {
  test('an id that the client chose keeps every digit, and the next assigned id is a small one', () => {
    const created = send('POST', '/store/orders', `{"id":${largestId},"petId":1,"quantity":1}`);
    expect(created).toMatchObject({
      status: 201,
      fields: { location: `/store/orders/${largestId}` },
      body: `{"id":${largestId},"petId":1,"quantity":1}`,
    });
    expect(send('GET', `/store/orders/${largestId}`).body).toBe(created.body);
    expect(ids(send('GET', '/store/orders?after=9'))).toEqual([10, 9223372036854775807n]);
    expect(send('GET', `/store/orders?after=${largestId}`).body).toBe('[]');
    expect(send('PUT', `/store/orders/${largestId}`, `{"id":${largestId},"complete":true}`).status).toBe(200);
    expect(body(send('POST', '/store/orders', '{}'))).toEqual({ id: 11 });
    expect(send('DELETE', `/store/orders/${largestId}`).status).toBe(204);
  });

  test('an id that is or was in use is refused', () => {
    expect(refusal(send('POST', '/store/orders', '{"id":1}')).slice(0, 2)).toEqual([409, 'already_exists']);
    for (const id of ['10', largestId, '12']) {
      send('POST', '/store/orders', `{"id":${id}}`);
      send('DELETE', `/store/orders/${id}`);
      expect(send('POST', '/store/orders', `{"id":${id}}`).status).toBe(409);
    }
    expect(
      ['11', '13'].map(() =>
        ids(send('POST', '/store/orders', '{}') && send('GET', '/store/orders?after=10')),
      ),
    ).toEqual([[11], [11, 13]]);
  });

  test('the id in the body must match the path', () => {
    expect(refusal(send('PUT', '/store/orders/1', '{"id":2}'))).toEqual([
      422,
      'validation_failed',
      '/id: must be 1, as in the path',
    ]);
    expect(refusal(send('POST', '/store/orders', '{"id":-1}')).slice(0, 2)).toEqual([
      422,
      'validation_failed',
    ]);
  });

  test('the pet of an order must exist', () => {
    expect(refusal(send('POST', '/store/orders', '{"petId":99}'))).toEqual([
      422,
      'unknown_reference',
      '/petId: pet 99 does not exist',
    ]);
  });

  test('to the filters, an order without `complete` is open', () => {
    send('POST', '/store/orders', '{"petId":5}');
    expect(ids(send('GET', '/store/orders?petId=5'))).toEqual([1, 11]);
    expect(ids(send('GET', '/store/orders?petId=5&complete=false'))).toEqual([11]);
    expect(ids(send('GET', '/store/orders?complete=false'))).toEqual([7, 8, 9, 10, 11]);
  });
});

describe('inventory', () => {
  test('updateInventory sets a count, and creates a missing entry', () => {
    expect(send('PUT', '/store/inventory/1', '{"quantity":5}')).toMatchObject({
      status: 200,
      body: '{"petId":1,"quantity":5,"status":"available"}',
    });
    expect(send('DELETE', '/store/inventory/1').status).toBe(204);
    expect(send('PUT', '/store/inventory/1', '{"quantity":6}')).toMatchObject({
      status: 201,
      fields: { location: '/store/inventory/1' },
    });
    expect(refusal(send('PUT', '/store/inventory/99', '{"quantity":6}'))).toEqual([
      404,
      'not_found',
      'pet 99 does not exist',
    ]);
  });

  test('createInventory takes an existing pet without an entry, and the status of that pet', () => {
    const create = (petId: number, status: string) =>
      send('POST', '/store/inventory', `{"petId":${petId},"quantity":2,"status":"${status}"}`);
    expect(refusal(create(4, 'pending')).slice(0, 2)).toEqual([409, 'already_exists']);
    send('DELETE', '/store/inventory/4');
    expect(refusal(create(4, 'sold'))).toEqual([
      422,
      'validation_failed',
      '/status: must be that of pet 4, which is pending',
    ]);
    expect(create(4, 'pending')).toMatchObject({ status: 201, fields: { location: '/store/inventory/4' } });
    expect(refusal(create(99, 'sold')).slice(0, 2)).toEqual([422, 'unknown_reference']);
  });

  test('entries are listed by the status of their pet', () => {
    const items = body(send('GET', '/store/inventory?status=sold')) as { petId: number }[];
    expect(items.map(({ petId }) => petId)).toEqual([5, 10, 18, 19]);
  });
});

describe('paging', () => {
  test('the next links lead through all records once and keep the filters', () => {
    const seen: unknown[] = [];
    let path: string | undefined = '/pets?status=available&limit=4';
    let pages = 0;
    while (path) {
      const page = send('GET', path);
      seen.push(...ids(page));
      pages += 1;
      path = /^<http:\/\/shop\.test(.*)>; rel="next"$/.exec(String(page.fields.link ?? ''))?.[1];
    }
    expect(seen).toEqual(ids(send('GET', '/pets?status=available')));
    expect(pages).toBe(Math.ceil(seen.length / 4));
  });

  test('a page that ends with the last record has no next link', () => {
    expect(send('GET', '/categories?limit=6').fields).not.toHaveProperty('link');
    expect(send('GET', '/categories?limit=4').fields.link).toBe(
      '<http://shop.test/categories?limit=4&after=4>; rel="next"',
    );
    expect(send('GET', '/pets?limit=1000').fields).not.toHaveProperty('link');
  });

  test('a page has 100 records by default', () => {
    store = new Store();
    for (let id = 1n; id <= 150n; id += 1n) store.categories.put(id, { id, name: `Category ${id}` });
    expect(ids(send('GET', '/categories'))).toHaveLength(100);
    expect(ids(send('GET', '/categories?after=100'))).toHaveLength(50);
  });

  test('a parameter that does not parse is refused, and an unknown one is ignored', () => {
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=',
      'limit=ten',
      'limit=1&limit=2',
      'after=-1',
      'status=gone',
    ])
      expect(refusal(send('GET', `/pets?${query}`)).slice(0, 2)).toEqual([400, 'invalid_parameter']);
    expect(refusal(send('GET', '/store/orders?complete=yes'))).toEqual([
      400,
      'invalid_parameter',
      'complete: must be true or false',
    ]);
    expect(send('GET', '/pets?colour=red').status).toBe(200);
  });
});

describe('requests', () => {
  test('an unknown path is 404, and a method that the path does not take is 405 with Allow', () => {
    expect(refusal(send('GET', '/dogs'))).toEqual([404, 'not_found', 'there is no /dogs']);
    expect(send('GET', '/pets/').status).toBe(404);
    const refused = send('DELETE', '/pets');
    expect(refusal(refused)).toEqual([405, 'method_not_allowed', '/pets does not take DELETE']);
    expect(refused.fields.allow).toBe('GET, HEAD, POST');
    expect(send('PATCH', '/pets/1', '{}').fields.allow).toBe('GET, HEAD, PUT, DELETE');
  });

  test('HEAD is answered like GET', () => {
    expect(send('HEAD', '/pets/1')).toEqual(send('GET', '/pets/1'));
  });

  test('an id in the path must be an int64 from 0', () => {
    for (const id of ['abc', '-1', '01', '1.0', '9223372036854775808', '%zz', '%20'])
      expect(refusal(send('GET', `/pets/${id}`)).slice(0, 2)).toEqual([400, 'invalid_parameter']);
    expect(send('GET', '/pets/%31').status).toBe(200);
    expect(send('GET', `/pets/${largestId}`).status).toBe(404);
  });

  test('the body of a write must be application/json, in UTF-8, and at most 1 MiB', () => {
    const pet = '{"name":"Rex","categoryId":1}';
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
    ])
      expect(refusal(send('POST', '/pets', pet, type)).slice(0, 2)).toEqual([415, 'unsupported_media_type']);
    expect(refusal(send('POST', '/pets')).slice(0, 2)).toEqual([415, 'unsupported_media_type']);
    expect(send('POST', '/pets', pet, 'Application/JSON;charset=UTF-8').status).toBe(201);
    expect(refusal(send('POST', '/pets', ' '.repeat(1024 * 1024 + 1))).slice(0, 2)).toEqual([
      413,
      'payload_too_large',
    ]);
    const notUtf8 = {
      method: 'POST',
      url: 'http://shop.test/pets',
      fields: { 'content-type': 'application/json' },
    };
    expect(refusal(app({ ...notUtf8, body: Uint8Array.of(0x22, 0xff, 0x22) })).slice(0, 2)).toEqual([
      400,
      'invalid_json',
    ]);
  });

  test('a body may contain U+FFFD, which also replaces bytes that are not UTF-8', () => {
    const request = {
      method: 'POST',
      url: 'http://shop.test/pets',
      fields: { 'content-type': 'application/json' },
    };
    const pet = Buffer.from('{"name":"\ufffd","categoryId":1}');
    expect(app({ ...request, body: pet }).status).toBe(201);
    expect(app({ ...request, body: Buffer.concat([pet, Buffer.from([0xff])]) }).status).toBe(400);
  });

  test('a body that is not JSON is 400, and one that breaks the schema is 422 with a pointer to each field', () => {
    for (const text of ['', '{', 'nonsense', '{"name":"Rex",}', `${'['.repeat(200)}${']'.repeat(200)}`])
      expect(refusal(send('POST', '/pets', text)).slice(0, 2)).toEqual([400, 'invalid_json']);
    expect(refusal(send('POST', '/pets', '{"name":7,"status":"gone"}'))).toEqual([
      422,
      'validation_failed',
      '/name: must be a string; /categoryId: is required; /status: must be one of available, pending, sold',
    ]);
    for (const text of ['[]', '7', 'null', '"text"', '12345678901234567.5'])
      expect(refusal(send('POST', '/store/orders', text)).slice(0, 2)).toEqual([422, 'validation_failed']);
    expect(refusal(send('POST', '/pets', '[]'))).toEqual([
      422,
      'validation_failed',
      'the body must be an object',
    ]);
    for (const quantity of ['-1', '1.5', '"1"', 'null', '1e400', '9007199254740993'])
      expect(send('PUT', '/store/inventory/1', `{"quantity":${quantity}}`).status).toBeGreaterThanOrEqual(
        400,
      );
    expect(body(send('GET', '/store/inventory/1'))).toMatchObject({ quantity: 1 });
  });

  test('__proto__ in a body is ignored data, and never a prototype', () => {
    for (const id of ['1', largestId]) {
      const text = `{"__proto__":{"name":"Rex","categoryId":1,"status":"sold"},"id":${id}}`;
      expect(refusal(send('POST', '/pets', text)).slice(0, 2)).toEqual([422, 'validation_failed']);
    }
    expect({}).not.toHaveProperty('status');
  });

  test('a name keeps quotes, controls and lone surrogates as JSON escapes them', () => {
    const name = '"\\\\ \\u0000 \\ud800 ☃"';
    const created = send('POST', '/categories', `{"name":${JSON.stringify(name)}}`);
    expect(body(created)).toMatchObject({ name });
    expect(send('GET', '/categories/7').body).toBe(created.body);
  });

  test('a handler that throws is a 500 without the reason, and the next request is answered', async () => {
    const told: unknown[] = [];
    let broken = true;
    app = await createApp({
      store() {
        if (broken) throw new Error('secret');
        return store;
      },
      onDefect: (error) => told.push(error),
    });
    expect(refusal(send('GET', '/pets'))).toEqual([500, 'internal', 'the server failed on this request']);
    expect(told).toEqual([new Error('secret')]);
    broken = false;
    expect(send('GET', '/pets').status).toBe(200);
  });

  test('a write that fails changes nothing', () => {
    const before = store.revision;
    send('POST', '/pets', '{"name":"Rex","categoryId":99}');
    send('PUT', '/store/orders/1', '{"id":2}');
    send('DELETE', '/pets/4');
    send('DELETE', '/categories/1');
    send('POST', '/store/inventory', '{"petId":1,"quantity":1,"status":"available"}');
    expect(store.revision).toBe(before);
  });
});

test.each(operationIds)('answers the example of %s as the table says', (id) => {
  const { method, path: template, success, example = {} } = operations[id];
  if (id === 'createInventory') send('DELETE', '/store/inventory/2');
  const path = template.replace(/\{\w+\}/, example.id ?? '');
  expect(success).toContain(
    send(method, path, example.body === undefined ? undefined : JSON.stringify(example.body)).status,
  );
});
