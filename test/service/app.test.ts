import * as v from 'valibot';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { type OperationId, operationIds, operations } from '../../src/api/operations.ts';
import { bodySchemas, resultSchemas } from '../../src/api/schemas.ts';
import { parseJson, printJson } from '../../src/process/exact-json.ts';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';

const largestId = '9223372036854775807';
const rex = '{"name":"Rex","categoryId":1}';
let store: Store;
let app: ReturnType<typeof createApp>;

beforeEach(() => {
  store = seedStore();
  app = createApp({ store: () => store });
});

function send(
  method: string,
  path: string,
  body?: string | Uint8Array,
  type = 'application/json',
): HttpResponse {
  const fields = body === undefined ? {} : { 'content-type': type };
  return app({ method, url: `http://shop.test${path}`, fields, body });
}

function body(response: HttpResponse): unknown {
  return parseJson(String(response.body));
}

function ids(path: string): unknown[] {
  return (body(send('GET', path)) as { id: unknown }[]).map(({ id }) => id);
}

/** The code and the message of a refusal, whose body must be the document's. */
function refusal(response: HttpResponse): string {
  const { code, message, status, ...more } = body(response) as Record<string, unknown>;
  expect([response.fields['content-type'], status, more]).toEqual(['application/json', response.status, {}]);
  return `${code}: ${message}`;
}

/** A request with what must come back: its status, and the record, the ids of a list, or the text of a refusal. */
type Step = readonly [request: string, body: string | undefined, status: number, answer?: object | string];

const stories: Readonly<Record<string, readonly Step[]>> = {
  'a new pet is available, and has an inventory entry of quantity 0': [
    ['POST /pets', rex, 201, { id: 26, name: 'Rex', categoryId: 1, status: 'available' }],
    ['GET /pets/26', undefined, 200, { id: 26 }],
    ['GET /store/inventory/26', undefined, 200, { petId: 26, quantity: 0, status: 'available' }],
  ],
  'ids count up, are never assigned twice, and are not chosen by the client': [
    ['POST /pets', rex, 201, { id: 26 }],
    ['DELETE /pets/26', undefined, 204],
    ['POST /pets', '{"name":"Rex","categoryId":1,"id":7}', 201, { id: 27 }],
    ['POST /categories', '{"name":"Insects"}', 201, { id: 7 }],
    ['DELETE /categories/7', undefined, 204],
    ['POST /categories', '{"name":"Insects"}', 201, { id: 8 }],
  ],
  '0 is an id like any other that a client chooses': [
    ['POST /store/orders', '{"id":0,"petId":1}', 201, { id: 0, petId: 1 }],
    ['POST /store/orders', '{"id":0,"petId":1}', 409, 'already_exists: order 0 exists'],
    ['DELETE /store/orders/0', undefined, 204],
    ['POST /store/orders', '{"id":0,"petId":1}', 409, 'already_exists: order 0 exists or existed before'],
  ],
  'a category or a pet that does not exist is an unknown reference': [
    [
      'POST /pets',
      '{"name":"Rex","categoryId":99}',
      422,
      'unknown_reference: /categoryId: category 99 does not exist',
    ],
    ['PUT /pets/1', '{"name":"Rex","categoryId":99}', 422, 'unknown_reference: /categoryId: category 99'],
    ['POST /store/orders', '{"petId":99}', 422, 'unknown_reference: /petId: pet 99 does not exist'],
    ['POST /store/inventory', '{"petId":99,"quantity":2,"status":"sold"}', 422, 'unknown_reference'],
    ['PUT /store/inventory/99', '{"quantity":6}', 404, 'not_found: pet 99 does not exist'],
  ],
  'PUT replaces: a status left out is available again, the inventory entry follows, a description left out is gone':
    [
      ['PUT /pets/1', '{"name":"Bella","categoryId":1,"status":"sold"}', 200],
      ['GET /store/inventory/1', undefined, 200, { status: 'sold', quantity: 1 }],
      ['PUT /pets/1', '{"name":"Bella","categoryId":1}', 200, { status: 'available' }],
      ['GET /store/inventory/1', undefined, 200, { status: 'available' }],
      ['PUT /categories/1', '{"name":"Hounds"}', 200, { id: 1, name: 'Hounds' }],
      ['PUT /categories/1', '{"name":"Hounds","description":7}', 422, 'validation_failed: /description'],
    ],
  'a pet with an open order stays; one with complete orders goes with its inventory entry': [
    ['DELETE /pets/4', undefined, 409, 'in_use: pet 4 has an order that is not complete'],
    ['DELETE /pets/5', undefined, 204],
    ['GET /store/inventory/5', undefined, 404],
    ['GET /store/orders/1', undefined, 200],
    // An order that does not say whether it is complete is open.
    ['POST /store/orders', '{"petId":1}', 201],
    ['DELETE /pets/1', undefined, 409],
  ],
  'a category with pets cannot be deleted': [
    ['DELETE /categories/1', undefined, 409, 'in_use: category 1 has pets'],
  ],
  'an order id that the client chose keeps every digit, and the next assigned id is a small one': [
    ['POST /store/orders', `{"id":${largestId},"petId":1}`, 201, { id: 9223372036854775807n }],
    [`GET /store/orders/${largestId}`, undefined, 200, { id: 9223372036854775807n }],
    ['GET /store/orders?after=9', undefined, 200, [10, 9223372036854775807n]],
    [`GET /store/orders?after=${largestId}`, undefined, 200, []],
    [`PUT /store/orders/${largestId}`, `{"id":${largestId},"complete":true}`, 200],
    ['POST /store/orders', '{}', 201, { id: 11 }],
  ],
  'an order id that is or was in use is refused, as is one that differs from the path': [
    ['POST /store/orders', '{"id":1}', 409, 'already_exists'],
    ['DELETE /store/orders/10', undefined, 204],
    ['POST /store/orders', '{"id":10}', 409],
    ['POST /store/orders', '{"id":12}', 201],
    ['DELETE /store/orders/12', undefined, 204],
    ['POST /store/orders', '{"id":12}', 409],
    ['POST /store/orders', '{}', 201, { id: 11 }],
    ['POST /store/orders', '{}', 201, { id: 13 }],
    ['PUT /store/orders/1', '{"id":2}', 422, 'validation_failed: /id: must be 1, as in the path'],
    ['POST /store/orders', '{"id":-1}', 422, 'validation_failed'],
  ],
  'to the filters, an order without `complete` is open': [
    ['POST /store/orders', '{"petId":5}', 201],
    ['GET /store/orders?petId=5', undefined, 200, [1, 11]],
    ['GET /store/orders?petId=5&complete=false', undefined, 200, [11]],
    ['GET /store/orders?complete=false', undefined, 200, [7, 8, 9, 10, 11]],
  ],
  'updateInventory sets a count, and creates a missing entry': [
    ['PUT /store/inventory/1', '{"quantity":5}', 200, { petId: 1, quantity: 5, status: 'available' }],
    ['DELETE /store/inventory/1', undefined, 204],
    ['PUT /store/inventory/1', '{"quantity":6}', 201, { quantity: 6 }],
  ],
  'createInventory takes an existing pet without an entry, and the status of that pet': [
    ['POST /store/inventory', '{"petId":4,"quantity":2,"status":"pending"}', 409, 'already_exists'],
    ['DELETE /store/inventory/4', undefined, 204],
    [
      'POST /store/inventory',
      '{"petId":4,"quantity":2,"status":"sold"}',
      422,
      'validation_failed: /status: must be that of pet 4, which is pending',
    ],
    ['POST /store/inventory', '{"petId":4,"quantity":2,"status":"pending"}', 201],
  ],
  'a parameter that does not parse is refused, and an unknown one is ignored': [
    ...['limit=0', 'limit=1001', 'limit=', 'limit=ten', 'limit=1&limit=2', 'after=-1', 'status=gone'].map(
      (query): Step => [`GET /pets?${query}`, undefined, 400, 'invalid_parameter'],
    ),
    ['GET /store/orders?complete=yes', undefined, 400, 'invalid_parameter: complete: must be true or false'],
    ['GET /pets?colour=red', undefined, 200],
  ],
  'an id in the path must be an int64 from 0': [
    ...['abc', '-1', '01', '1.0', '9223372036854775808', '%zz', '%20'].map(
      (id): Step => [`GET /pets/${id}`, undefined, 400, 'invalid_parameter'],
    ),
    ['GET /pets/%31', undefined, 200],
    [`GET /pets/${largestId}`, undefined, 404],
  ],
  'a body that is not JSON is 400, and one that breaks the schema is 422 with a pointer to each field': [
    ...['', '{', 'nonsense', '{"name":"Rex",}', `${'['.repeat(200)}${']'.repeat(200)}`].map(
      (text): Step => ['POST /pets', text, 400, 'invalid_json'],
    ),
    [
      'POST /pets',
      '{"name":7,"status":"gone"}',
      422,
      'validation_failed: /name: must be a string; /categoryId: is required; /status: must be one of available, pending, sold',
    ],
    ...['[]', '7', 'null', '"text"'].map(
      (text): Step => ['POST /store/orders', text, 422, 'validation_failed: the body must be an object'],
    ),
    ...['-1', '1.5', '"1"', 'null', '9007199254740993'].map(
      (quantity): Step => ['PUT /store/inventory/1', `{"quantity":${quantity}}`, 422],
    ),
    ['PUT /store/inventory/1', '{"quantity":1e400}', 400],
    ['GET /store/inventory/1', undefined, 200, { quantity: 1 }],
  ],
  '__proto__ is never a prototype, in a body or a path': [
    ['POST /pets', '{"__proto__":{"name":"Rex","categoryId":1},"id":1}', 422, 'validation_failed'],
    ['POST /pets', `{"__proto__":{"name":"Rex","categoryId":1},"id":${largestId}}`, 422, 'validation_failed'],
    ['POST /pets/__proto__', '{}', 405],
    ['__proto__ /pets', undefined, 405],
    ['GET /__proto__', undefined, 404],
  ],
};

test.each(Object.entries(stories))('%s', (_, steps) => {
  for (const [request, text, status, answer] of steps) {
    const [method = '', path = ''] = request.split(' ');
    const response = send(method, path, text);
    expect([request, text, response.status]).toEqual([request, text, status]);
    if (status >= 400) expect(refusal(response)).toContain(typeof answer === 'string' ? answer : '');
    else if (Array.isArray(answer)) expect(ids(path)).toEqual(answer);
    else if (typeof answer === 'object') expect(body(response)).toMatchObject(answer);
    if (status === 201 && method === 'POST') {
      const { id, petId } = body(response) as { id?: bigint; petId?: bigint };
      expect(response.fields.location).toBe(`${path}/${id ?? petId}`);
    }
  }
});

test('every combination of filters gives the same pets as a search through all pets', () => {
  const all = body(send('GET', '/pets')) as { id: number; status: string; categoryId: number }[];
  for (const status of ['available', 'pending', 'sold']) {
    const some = all.filter((pet) => pet.status === status);
    expect(ids(`/pets?status=${status}`)).toEqual(some.map(({ id }) => id));
    const both = some.filter((pet) => pet.categoryId === 2).map(({ id }) => id);
    expect(ids(`/pets?status=${status}&categoryId=2`)).toEqual(both);
  }
  expect(ids('/pets?categoryId=99')).toEqual([]);
});

test('getPet announces its sunset, also when it refuses; no other operation does', () => {
  const notice = { deprecation: '@1767225600', sunset: 'Fri, 31 Dec 2027 00:00:00 GMT' };
  expect(send('GET', '/pets/1').fields).toMatchObject(notice);
  expect(send('GET', '/pets/99').fields).toMatchObject(notice);
  expect(send('GET', '/pets').fields).not.toHaveProperty('deprecation');
});

test('the next links lead through all records once and keep the filters', () => {
  const seen: unknown[] = [];
  let path: string | undefined = '/pets?status=available&limit=4';
  for (let pages = 0; path; pages += 1) {
    seen.push(...ids(path));
    const link: string = String(send('GET', path).fields.link ?? '');
    path = /^<http:\/\/shop\.test(.*)>; rel="next"$/.exec(link)?.[1];
    expect(pages).toBeLessThan(25 / 4);
  }
  expect(seen).toEqual(ids('/pets?status=available'));
  expect(send('GET', '/categories?limit=6').fields).not.toHaveProperty('link');
});

test('a page has 100 records by default', () => {
  store = new Store();
  for (let id = 1n; id <= 150n; id += 1n) store.categories.put(id, { id, name: `Category ${id}` });
  expect([ids('/categories').length, ids('/categories?after=100').length]).toEqual([100, 50]);
});

/** What a seeded shop lacks for an example: an entry must be gone before it is made, a category must have no pets. */
const before: Partial<Record<OperationId, OperationId>> = {
  createInventory: 'deleteInventory',
  deleteCategory: 'createCategory',
};

test.each(operationIds)(
  '%s answers its example with a documented status and a body that fits its schema',
  (id) => {
    const { success, result, many, body: taken } = operations[id];
    const sendExample = (each: OperationId) => {
      const { method, path, example = {} } = operations[each];
      const text = example.body === undefined ? undefined : JSON.stringify(example.body);
      return send(method, path.replace(/\{\w+\}/, example.id ?? ''), text);
    };
    const first = before[id];
    if (first) sendExample(first);
    const response = sendExample(id);
    expect(success, String(response.body)).toContain(response.status);
    const schema = result && (many ? v.array(resultSchemas[result]) : resultSchemas[result]);
    if (schema) expect(v.safeParse(schema, body(response)).issues).toBeUndefined();
    else expect(response.body).toBe('');
    // The table states the fields too, because loading the schemas would slow down `help`.
    const entries = Object.entries(taken ? bodySchemas[taken.name].entries : {});
    const required = entries.map(([name, { type }]) => [name, type !== 'optional'] as const);
    const stated = Object.entries(taken?.fields ?? {}).map(
      ([name, field]) => [name, field.required] as const,
    );
    expect(stated).toEqual(required);
  },
);

test('an unknown path is 404 for every method, and a method that the path does not take is 405 with Allow', () => {
  for (const path of ['/', '/pets/', '/pets/1/', '/pets/1/2', '/Pets', '/store', '//pets', '/pets//'])
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      expect([method, path, refusal(send(method, path))]).toEqual([
        method,
        path,
        `not_found: there is no ${path}`,
      ]);
  expect(refusal(send('DELETE', '/pets'))).toBe('method_not_allowed: /pets does not take DELETE');
  expect(send('DELETE', '/pets').fields.allow).toBe('GET, HEAD, POST');
  expect(send('PATCH', '/pets/1', '{}').fields.allow).toBe('GET, HEAD, PUT, DELETE');
});

test('HEAD is answered like GET', () => {
  expect(send('HEAD', '/pets/1')).toEqual(send('GET', '/pets/1'));
});

test('the body of a write must be application/json, in UTF-8, and at most 1 MiB', () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])
    expect(refusal(send('POST', '/pets', rex, type))).toContain('unsupported_media_type');
  expect(send('POST', '/pets').status).toBe(415);
  expect(send('POST', '/pets', rex, 'Application/JSON;charset=UTF-8').status).toBe(201);
  expect(refusal(send('POST', '/pets', ' '.repeat(1024 * 1024 + 1)))).toContain('payload_too_large');
  // U+FFFD, which also replaces bytes that are not UTF-8.
  const pet = Buffer.from('{"name":"\ufffd","categoryId":1}');
  expect(send('POST', '/pets', pet).status).toBe(201);
  expect(refusal(send('POST', '/pets', Buffer.concat([pet, Buffer.from([0xff])])))).toContain('invalid_json');
});

test('a name keeps quotes, controls and lone surrogates as JSON escapes them', () => {
  const name = '"\\\\ \\u0000 \\ud800 ☃"';
  const created = send('POST', '/categories', `{"name":${JSON.stringify(name)}}`);
  expect(body(created)).toMatchObject({ name });
  expect(send('GET', '/categories/7').body).toBe(created.body);
});

test('a write that fails changes nothing', () => {
  const before = store.revision;
  send('POST', '/pets', '{"name":"Rex","categoryId":99}');
  send('PUT', '/store/orders/1', '{"id":2}');
  for (const path of ['/pets/4', '/categories/1']) send('DELETE', path);
  send('POST', '/store/inventory', '{"petId":1,"quantity":1,"status":"available"}');
  expect(store.revision).toBe(before);
});

describe('an ETag', () => {
  const withTag = (method: string, path: string, tag: string, body?: string) =>
    app({
      method,
      url: `http://shop.test${path}`,
      fields: { 'if-match': tag, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body,
    });
  const tagOf = (path: string) => String(send('GET', path).fields.etag);

  test.each(['/pets/1', '/categories/1', '/store/orders/1', '/store/inventory/1'])(
    'of %s is strong, stays while the record does, and changes with it',
    (path) => {
      const before = tagOf(path);
      expect(before).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(tagOf(path)).toBe(before);
      const record = body(send('GET', path)) as object;
      const changed = printJson({ ...record, name: 'x', quantity: 77 });
      const put = send('PUT', path, changed);
      expect(put.fields.etag).not.toBe(before);
      expect(tagOf(path)).toBe(put.fields.etag);
    },
  );

  test.each([
    ['PUT', '/pets/1', rex],
    ['DELETE', '/pets/1', undefined],
    ['PUT', '/categories/1', '{"name":"x"}'],
    ['DELETE', '/store/orders/1', undefined],
    ['PUT', '/store/inventory/1', '{"quantity":7}'],
    ['DELETE', '/store/inventory/1', undefined],
  ])('that is another stops %s %s', (method, path, change) => {
    const before = send('GET', path);
    const refused = withTag(method, path, '"other"', change);
    expect(refused.status).toBe(412);
    expect(refusal(refused)).toContain('precondition_failed: ');
    expect(send('GET', path)).toEqual(before);
  });

  test('that is the same, in a list, or * lets the change through', () => {
    for (const tag of [tagOf('/pets/1'), `"other", ${tagOf('/pets/2')}`, '*'])
      expect(withTag('PUT', `/pets/${tag.startsWith('"other"') ? 2 : 1}`, tag, rex).status).toBe(200);
    expect(withTag('DELETE', '/store/orders/999', '*').status).toBe(404);
    expect(withTag('PUT', '/pets/1', '"other"', '{"name":').status).toBe(400);
  });
});
