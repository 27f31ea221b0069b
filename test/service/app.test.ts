import * as v from 'valibot';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import type { OperationId } from '../../src/api/nouns.ts';
import { operationIds, operations } from '../../src/api/operations.ts';
import { bodySchemas, resultSchemas } from '../../src/api/schemas.ts';
import { parseJson } from '../../src/process/exact-json.ts';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';
import { printStore } from '../../src/server/store-file.ts';

const rex = '{"name":"Rex","categoryId":1}';
let store: Store;
let app: ReturnType<typeof createApp>;

beforeEach(() => {
  store = seedStore();
  app = createApp(() => store);
});

function send(
  method: string,
  path: string,
  body?: string | Uint8Array,
  more: Record<string, string> = {},
): HttpResponse {
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...more };
  return app({ method, url: `http://shop.test${path}`, headers, body });
}

function read(response: HttpResponse): unknown {
  return parseJson(String(response.body));
}

function ids(path: string): unknown[] {
  return (read(send('GET', path)) as { id: unknown }[]).map(({ id }) => id);
}

/** The code and the message of a refusal, whose body must be that of the service's specification. */
function refusal(response: HttpResponse): string {
  const { code, message, status, ...more } = read(response) as Record<string, unknown>;
  expect([response.headers['content-type'], status, more]).toEqual(['application/json', response.status, {}]);
  return `${code}: ${message}`;
}

/**
 * Sends `METHOD /path body -> status answer`. The answer, which may be left out, is the record or some of its fields, the
 * ids of a list, or the beginning of a refusal.
 */
function play(line: string): void {
  const [, method = '', path = '', body, status, answer] =
    /^(\S+) (\S+)(?: (.*?))? -> (\d+)(?: (.*))?$/.exec(line) ?? [];
  const response = send(method, path, body);
  expect(`${line}: ${response.status}`).toBe(`${line}: ${status}`);
  if (response.status >= 400) expect(refusal(response)).toContain(answer ?? '');
  else if (answer?.startsWith('[')) expect(ids(path)).toEqual(parseJson(answer));
  else if (answer !== undefined) expect(read(response)).toMatchObject(parseJson(answer) as object);
  if (response.status === 201 && method === 'POST') {
    const { id, petId } = read(response) as { id?: bigint; petId?: bigint };
    expect(response.headers.location).toBe(`${path}/${id ?? petId}`);
  }
}

const unknownPaths = ['/', '/pets/', '/pets/1/', '/pets/1/2', '/Pets', '//pets'];

const stories: Readonly<Record<string, readonly string[]>> = {
  'a new pet is available, and has an inventory entry of quantity 0': [
    `POST /pets ${rex} -> 201 {"id":26,"name":"Rex","categoryId":1,"status":"available"}`,
    'GET /pets/26 -> 200 {"id":26}',
    'GET /store/inventory/26 -> 200 {"petId":26,"quantity":0,"status":"available"}',
  ],
  'ids count up, are never assigned twice, and are not chosen by the client': [
    `POST /pets ${rex} -> 201 {"id":26}`,
    'DELETE /pets/26 -> 204',
    'POST /pets {"name":"Rex","categoryId":1,"id":7} -> 201 {"id":27}',
    'POST /categories {"name":"Insects"} -> 201 {"id":7}',
    'DELETE /categories/7 -> 204',
    'POST /categories {"name":"Insects"} -> 201 {"id":8}',
    'POST /store/orders {"id":9223372036854775807,"petId":1} -> 201 {"id":11}',
    'GET /store/orders?after=9223372036854775807 -> 200 []',
    'PUT /store/orders/1 {"id":2} -> 422 validation_failed: /id: must be 1, as in the path',
  ],
  'a category or a pet that does not exist is an unknown reference': [
    'POST /pets {"name":"Rex","categoryId":99} -> 422 unknown_reference: /categoryId: category 99 does not exist',
    'PUT /pets/1 {"name":"Rex","categoryId":99} -> 422 unknown_reference: /categoryId: category 99',
    'POST /store/orders {"petId":99} -> 422 unknown_reference: /petId: pet 99 does not exist',
    'POST /store/inventory {"petId":99,"quantity":2,"status":"sold"} -> 422 unknown_reference',
    'PUT /store/inventory/99 {"quantity":6} -> 404 not_found: pet 99 does not exist',
  ],
  'PUT replaces: a status left out is available again, the inventory entry follows, a description left out is gone':
    [
      'PUT /pets/1 {"name":"Bella","categoryId":1,"status":"sold"} -> 200',
      'GET /store/inventory/1 -> 200 {"status":"sold","quantity":1}',
      'PUT /pets/1 {"name":"Bella","categoryId":1} -> 200 {"status":"available"}',
      'GET /store/inventory/1 -> 200 {"status":"available"}',
      'PUT /categories/1 {"name":"Hounds"} -> 200 {"id":1,"name":"Hounds"}',
      'PUT /categories/1 {"name":"Hounds","description":7} -> 422 validation_failed: /description',
    ],
  'a pet with an open order stays; one with complete orders goes with its inventory entry': [
    'DELETE /pets/4 -> 409 in_use: pet 4 has an order that is not complete',
    'DELETE /pets/5 -> 204',
    'GET /store/inventory/5 -> 404',
    'GET /store/orders/1 -> 200',
    'DELETE /categories/1 -> 409 in_use: category 1 has pets',
  ],
  'an order that does not say whether it is complete is open': [
    'POST /store/orders {"petId":5} -> 201',
    'PUT /store/orders/11 {"petId":5} -> 200',
    'GET /store/orders?petId=5 -> 200 [1,11]',
    'GET /store/orders?petId=5&complete=false -> 200 [11]',
    'GET /store/orders?complete=false -> 200 [7,8,9,10,11]',
    'DELETE /pets/5 -> 409',
  ],
  'updateInventory sets a count, and creates a missing entry': [
    'PUT /store/inventory/1 {"quantity":5} -> 200 {"petId":1,"quantity":5,"status":"available"}',
    'DELETE /store/inventory/1 -> 204',
    'PUT /store/inventory/1 {"quantity":6} -> 201 {"quantity":6}',
  ],
  'createInventory takes an existing pet without an entry, and the status of that pet': [
    'POST /store/inventory {"petId":4,"quantity":2,"status":"pending"} -> 409 already_exists',
    'DELETE /store/inventory/4 -> 204',
    'POST /store/inventory {"petId":4,"quantity":2,"status":"sold"} -> 422 validation_failed: /status: must be that of pet 4',
    'POST /store/inventory {"petId":4,"quantity":2,"status":"pending"} -> 201',
  ],
  'a parameter that does not parse is refused, and an unknown one is ignored': [
    ...['limit=0', 'limit=1001', 'limit=', 'limit=ten', 'limit=1&limit=2', 'after=-1', 'status=gone'].map(
      (query) => `GET /pets?${query} -> 400 invalid_parameter`,
    ),
    'GET /store/orders?complete=yes -> 400 invalid_parameter: complete: must be true or false',
    'GET /pets?colour=red -> 200',
  ],
  'an id in the path must be an int64 from 0': [
    ...['abc', '-1', '01', '1.0', '9223372036854775808', '%zz', '%20'].map(
      (id) => `GET /pets/${id} -> 400 invalid_parameter: petId`,
    ),
    'GET /pets/%31 -> 200',
    'GET /pets/9223372036854775807 -> 404',
  ],
  'a body that is not JSON is 400, and one that breaks the schema is 422 with a pointer to each field': [
    'POST /pets { -> 400 invalid_json',
    `POST /pets ${'['.repeat(200)}${']'.repeat(200)} -> 400 invalid_json`,
    'POST /pets {"name":7} -> 422 validation_failed: /name: must be a string; /categoryId: is required',
    ...['[]', '7', 'null', '"text"'].map(
      (body) => `POST /store/orders ${body} -> 422 validation_failed: the body must be an object`,
    ),
    ...['-1', '1.5', '"1"', 'null', '9007199254740993'].map(
      (quantity) => `PUT /store/inventory/1 {"quantity":${quantity}} -> 422`,
    ),
    'PUT /store/inventory/1 {"quantity":1e400} -> 400',
    'GET /store/inventory/1 -> 200 {"quantity":1}',
  ],
  '__proto__ is never a prototype, in a body or a path': [
    'POST /pets {"__proto__":{"name":"Rex","categoryId":1},"id":1} -> 422 validation_failed',
    '__proto__ /pets -> 405',
    'GET /__proto__ -> 404',
  ],
  'an unknown path is 404 for every method': unknownPaths.flatMap((path) =>
    ['GET', 'PUT'].map((method) => `${method} ${path} -> 404 not_found: there is no ${path}`),
  ),
};

test.each(Object.entries(stories))('%s', (_, lines) => {
  for (const line of lines) play(line);
});

test('getPet announces its sunset, also when it refuses; no other operation does', () => {
  const notice = { deprecation: '@1767225600', sunset: 'Fri, 31 Dec 2027 00:00:00 GMT' };
  expect(send('GET', '/pets/1').headers).toMatchObject(notice);
  expect(send('GET', '/pets/99').headers).toMatchObject(notice);
  expect(send('GET', '/pets').headers).not.toHaveProperty('deprecation');
});

test('the next links lead through all records once and keep the filters', () => {
  const all = read(send('GET', '/pets')) as { id: number; status: string; categoryId: number }[];
  for (const [status, categoryId] of [['available', 2] as const, ['sold', 1] as const]) {
    const pages: unknown[] = [];
    let path: string | undefined = `/pets?status=${status}&categoryId=${categoryId}&limit=2`;
    while (path && pages.length < all.length) {
      pages.push(...ids(path));
      const link: string = String(send('GET', path).headers.link ?? '');
      path = /^<http:\/\/shop\.test(.*)>; rel="next"$/.exec(link)?.[1];
    }
    const matching = all.filter((pet) => pet.status === status && pet.categoryId === categoryId);
    expect(pages).toEqual(matching.map(({ id }) => id));
  }
  expect(send('GET', '/categories?limit=6').headers).not.toHaveProperty('link');
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
    const { success, result, isList, body } = operations[id];
    const sendExample = (name: OperationId) => {
      const { method, path, example = {} } = operations[name];
      const text = example.body === undefined ? undefined : JSON.stringify(example.body);
      return send(method, path.replace(/\{\w+\}/, example.id ?? ''), text);
    };
    const first = before[id];
    if (first) sendExample(first);
    const response = sendExample(id);
    expect(success, String(response.body)).toContain(response.status);
    const schema = result && (isList ? v.array(resultSchemas[result]) : resultSchemas[result]);
    if (schema) expect(v.safeParse(schema, read(response)).issues).toBeUndefined();
    else expect(response.body).toBe('');
    // The table states the fields too, because loading the schemas would slow down `help`.
    const entries = Object.entries(body ? bodySchemas[body.name].entries : {});
    const stated = Object.entries(body?.fields ?? {}).map(([name, { required }]) => [name, required]);
    expect(stated).toEqual(entries.map(([name, { type }]) => [name, type !== 'optional']));
  },
);

test('a method that the path does not take is 405 with Allow, and HEAD is answered like GET', () => {
  expect(refusal(send('DELETE', '/pets'))).toBe('method_not_allowed: /pets does not take DELETE');
  expect(send('DELETE', '/pets').headers.allow).toBe('GET, HEAD, POST');
  expect(send('PATCH', '/pets/1', '{}').headers.allow).toBe('GET, HEAD, PUT, DELETE');
  expect(send('HEAD', '/pets/1')).toEqual(send('GET', '/pets/1'));
});

test('the body of a write must be application/json in UTF-8', () => {
  const typed = (type: string) => send('POST', '/pets', rex, { 'content-type': type });
  for (const type of ['text/plain', '']) expect(refusal(typed(type))).toContain('unsupported_media_type');
  expect(typed('Application/JSON;charset=UTF-8').status).toBe(201);
  // U+FFFD, which also replaces bytes that are not UTF-8.
  const pet = Buffer.from('{"name":"\ufffd","categoryId":1}');
  expect(send('POST', '/pets', pet).status).toBe(201);
  expect(refusal(send('POST', '/pets', Buffer.concat([pet, Buffer.from([0xff])])))).toContain('invalid_json');
});

test('a write that fails changes nothing', () => {
  const before = printStore(store);
  send('POST', '/pets', '{"name":"Rex","categoryId":99}');
  send('PUT', '/store/orders/1', '{"id":2}');
  for (const path of ['/pets/4', '/categories/1']) send('DELETE', path);
  send('POST', '/store/inventory', '{"petId":1,"quantity":1,"status":"available"}');
  expect(printStore(store)).toBe(before);
});

describe('an ETag', () => {
  const tagOf = (path: string) => String(send('GET', path).headers.etag);

  test.each([
    ['/pets/1', rex],
    ['/categories/1', '{"name":"x"}'],
    ['/store/orders/1', '{"quantity":77}'],
    ['/store/inventory/1', '{"quantity":77}'],
  ])('of %s is strong, changes with the record, and stops a change of another one', (path, change) => {
    const before = send('GET', path);
    expect(before.headers.etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    for (const [method, body] of [['PUT', change] as const, ['DELETE', undefined] as const])
      expect(refusal(send(method, path, body, { 'if-match': '"other"' }))).toContain('precondition_failed: ');
    expect(send('GET', path)).toEqual(before);
    const put = send('PUT', path, change, { 'if-match': tagOf(path) });
    expect(put.status).toBe(200);
    expect(put.headers.etag).not.toBe(before.headers.etag);
    expect(tagOf(path)).toBe(put.headers.etag);
  });

  test.each(['"other"', '*'])(
    'in If-Match %s of a record that does not exist stops a change, and creates nothing',
    (tag) => {
      send('DELETE', '/store/inventory/1');
      const before = printStore(store);
      const headers = { 'if-match': tag };
      const set = send('PUT', '/store/inventory/1', '{"quantity":7}', headers);
      expect(refusal(set)).toBe('precondition_failed: the record does not exist (If-Match)');
      expect(send('DELETE', '/store/inventory/1', undefined, headers).status).toBe(412);
      expect(send('PUT', '/pets/999', rex, headers).status).toBe(412);
      expect([send('GET', '/store/inventory/1').status, printStore(store)]).toEqual([404, before]);
    },
  );

  test('of a record stops a PUT with If-None-Match: *, and lets an entry be created', () => {
    const set = () => send('PUT', '/store/inventory/1', '{"quantity":7}', { 'if-none-match': '*' });
    const tag = tagOf('/store/inventory/1');
    expect(set().status).toBe(412);
    expect(send('GET', '/store/inventory/1').headers.etag).toBe(tag);
    send('DELETE', '/store/inventory/1');
    expect([set().status, set().status]).toEqual([201, 412]);
  });
});
