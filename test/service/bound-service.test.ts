import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { describeLines } from '../helpers/corpus.ts';
import { ambiguous, json, ok, record, warehouse } from '../helpers/descriptions.ts';
import {
  type ReceivedRequest,
  type RecordingServer,
  recordingServer,
  refusal,
} from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';
import { testWith } from '../helpers/tools.ts';

// A bound service gets requests at its own paths, by its own methods and with the fields that it requires. It
// gets no request that it would refuse. The shapes of lists and records are in adapting.test.ts.

const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available' };

/** The service of the description `warehouse`. */
const warehouseServer = (headers = {}) =>
  recordingServer({}, ({ method, path, body }: ReceivedRequest) => {
    if (path.startsWith('/kinds')) return { body: [{ id: 1, name: 'Dogs' }] };
    if (path.startsWith('/stock/'))
      return { body: `{"petId":${path.slice(7)},"quantity":5,"status":"sold"}` };
    if (method === 'DELETE') return { status: 204 };
    if (method === 'GET' && !path.startsWith('/animals/')) return { headers, body: [rex] };
    const changed = { ...rex, ...JSON.parse(body || '{}') };
    return { status: method === 'POST' ? 201 : 200, headers, body: changed };
  });

function bodies(service: RecordingServer, method: string): string[] {
  return service.writes(method).map(({ body }) => body);
}

test('a service is called with its own paths, methods, names and constant parameters', async () => {
  await using service = await warehouseServer();
  const { done } = await bindTo(service, warehouse);
  expect(JSON.parse(await done('pets list --status available --category 1 -o json'))).toEqual([rex]);
  const [call = ''] = service.calls().filter((each) => each.startsWith('GET /animals?'));
  const query = call.slice('GET /animals?'.length).split('&').sort().join('&');
  expect(query).toBe('api-version=2&category_id=1&page_size=50&pet_status=available');
  service.requests.length = 0;
  await done('pets update 7 --status sold');
  await done('inventory set 9007199254740993 5');
  await done('pets delete 7 --yes');
  expect(service.calls().filter((each) => !each.includes('kinds'))).toEqual([
    'GET /animals/7',
    'PATCH /animals/7',
    'PUT /stock/9007199254740993',
    'GET /animals/7',
    'DELETE /animals/7',
  ]);
  const [patch] = service.writes('PATCH');
  const [put] = service.writes('PUT');
  expect(patch?.body).toBe('{"status":"sold"}');
  expect(patch?.headers['content-type']).toBe('application/merge-patch+json');
  expect(put?.body).toBe('{"quantity":5}');
});

test('a service gets no request that lacks what it requires, and its bounds are its own to check', async () => {
  await using service = await warehouseServer();
  const { run } = await bindTo(service, warehouse);
  const refused = await run('pets create --name Rex --category 1');
  expect(refused).toMatchObject(failed(2, '--status'));
  expect(service.calls()).toEqual([]);
  await run('pets create --name R --category 0 --status sold');
  await run('pets get 0');
  await run('inventory set 7 1000');
  const calls = ['POST /animals', 'GET /animals/0', 'PUT /stock/7'];
  expect(service.calls().filter((call) => calls.includes(call))).toEqual(calls);
});

test('a pet that cannot be read alone is found in the list, and --map settles a tie', async () => {
  const entry = { petId: 7, quantity: 2, status: 'sold' };
  await using service = await recordingServer({ '/openapi.json': ambiguous }, ({ path, body }) => {
    if (body !== '') Object.assign(entry, JSON.parse(body));
    const inventory = path.endsWith('/7') ? entry : [entry];
    return { body: path.startsWith('/a/') ? inventory : [rex] };
  });
  const { run, done } = await bindTo(service);
  const get = await run('pets get 7 -o json');
  expect(JSON.parse(get.stdout)).toEqual(rex);
  const note = 'getPet is not offered: looking through listPets instead';
  expect(get.stderr).toContain(note);
  // The error in JSON is the last line on stderr, and has the notes of the command.
  const missing = await run('pets get 8 -o json');
  const [told = '', error = ''] = missing.stderr.split('\n');
  expect(told).toBe(`note: ${note}`);
  expect(JSON.parse(error).error).toMatchObject({ kind: 'not-found', warnings: [note] });
  expect(await run('inventory set 7 3')).toMatchObject(
    failed(2, 'the service offers no way to set the stock count of a pet (updateInventory): '),
  );
  expect(service.calls()).toEqual(['GET /pets', 'GET /pets']);
  const maps = ['listInventory=GET /a/inventory', 'updateInventory=PATCH /a/inventory/{petId}'];
  const flags = maps.flatMap((map) => ['--map', map]);
  expect(await run(['api', 'bind', ...flags])).toMatchObject({ code: 0 });
  await done('inventory set 7 3');
  expect(service.calls()).toContain('PATCH /a/inventory/7');
});

const integer = { type: 'integer' };
const text = { type: 'string' };
const document = (paths: object) => ({ openapi: '3.1.0', info: {}, paths });

test.each([
  ['{"name":"Rex","category":{"id":2}}', 'pets create --name Rex --category cats', ''],
  ['{"name":"Rex","category":{"id":2}}', 'pets create --from - --yes', 'name,category\nRex,cats\n'],
  ['{"name":"Rex","category":{"id":2}}', 'pets create --from - --yes', '{"name":"Rex","categoryId":2}'],
])('a new pet has its category as the object that is required: %s from %s %j', async (sent, line, stdin) => {
  const requestBody = json(record({ name: text, category: { ...record({ id: integer }) } }));
  const category = record({ id: integer, name: text });
  const list = { responses: ok({ type: 'array', items: category }) };
  await using service = await recordingServer({}, ({ path }) =>
    path.startsWith('/categories')
      ? { body: [{ id: 2, name: 'Cats' }] }
      : { status: 201, body: { ...rex, id: 1, categoryId: 2 } },
  );
  const paths = { '/categories': { get: list }, '/pets': { post: { requestBody, responses: {} } } };
  await (await bindTo(service, document(paths))).done(line, { stdin });
  expect(bodies(service, 'POST')).toEqual([sent]);
});

test('a category in words is no category of petstore, but a further field', async () => {
  const body = { id: 1, name: 'Rex', category: 'Dogs' };
  await using service = await recordingServer({}, () => ({ status: 201, body }));
  const { run, done } = await bindTo(service, describeLines('New: name! category', 'POST /pets New'));
  const refused = await run('pets create --name Rex --category Dogs');
  expect(refused.stderr).toContain('has no field categoryId\nhint: its fields are name, category\n');
  await done('pets create --name Rex --field category=Dogs');
  expect(bodies(service, 'POST')).toEqual(['{"name":"Rex","category":"Dogs"}']);
});

test('a category that is shown as an object beside its id is printed by its name', async () => {
  const categories = [{ id: 1, name: 'Dogs' }];
  const pet = { id: 1, name: 'Rex', categoryId: 1, category: categories[0] };
  await using service = await recordingServer({ '/categories': categories, '/pets': [pet] });
  const lines = ['Pet: id# name! categoryId# category.', 'Category: id# name!', 'GET /pets -> Pet[]'];
  const { done } = await bindTo(service, describeLines(...lines, 'GET /categories -> Category[]'));
  expect(await done('pets list -o csv')).toBe('id,name,category,status\n1,Rex,Dogs,\n');
});

test('a filter is trusted if the records do not show its field, but only one that is sent', async () => {
  await using service = await recordingServer({}, ({ path }) => ({
    body: [{ id: path.includes('sold') ? 2 : 1, name: 'Rex' }],
  }));
  const pet = record({ id: integer, name: text });
  const parameters = [
    { name: 'status', in: 'query', schema: { ...text, enum: ['available', 'pending', 'sold'] } },
    { name: 'categoryId', in: 'query', schema: integer },
  ];
  const get = { parameters, responses: ok({ type: 'array', items: pet }) };
  const status = { ...text, enum: ['pending', 'sold', 'archived'] };
  const post = { requestBody: json(record({ name: text, status })), responses: {} };
  const { run, done } = await bindTo(service, document({ '/pets': { get, post } }));
  expect(await done('pets list --status sold -o ids')).toBe('2\n');
  expect(await done('pets list --category 4 -o ids')).toBe('1\n');
  const ofSeveral = await run('pets list --status sold --status pending');
  expect(ofSeveral.stderr).toContain('cannot filter by several values of status');
  expect((await run('pets list --status archived')).stderr).toContain('cannot filter by status archived,');
});

test('a filter may have the name that --map gives to its field', async () => {
  await using service = await recordingServer({}, () => ({ body: [{ id: 1, name: 'Rex', state: 'sold' }] }));
  const pet = record({ id: integer, name: text, state: text });
  const parameters = [{ name: 'state', in: 'query', schema: text }];
  const get = { parameters, responses: ok({ type: 'array', items: pet }) };
  const { done } = await bindTo(service, document({ '/pets': { get } }), { maps: ['pets.status=state'] });
  expect(await done('pets list --status sold -o ids')).toBe('1\n');
  expect(service.calls()).toEqual(['GET /pets?state=sold']);
});

test('a service that requires the id in the body too gets the id in the body', async () => {
  await using service = await recordingServer({}, ({ body }) => ({
    body: { ...rex, ...JSON.parse(body || '{}') },
  }));
  const record = 'Pet: id#! name! categoryId#!';
  const description = describeLines(record, 'GET /pets/{id} -> Pet', 'PUT /pets/{id} Pet -> Pet');
  await (await bindTo(service, description)).done('pets update 7 --name Max');
  expect(JSON.parse(bodies(service, 'PUT')[0] ?? '')).toMatchObject({ id: 7, name: 'Max', categoryId: 1 });
});

test('a PATCH of a count has the fields that its body requires, as they were read, and creates no entry', async () => {
  await using service = await recordingServer({}, ({ path, body }) =>
    path.endsWith('/7')
      ? { body: { petId: 7, quantity: 5, status: 'sold', ...(body && JSON.parse(body)) } }
      : refusal(404),
  );
  const description = describeLines(
    'Entry: petId#! quantity#! status!',
    'GET /inventory/{petId} -> Entry',
    'PATCH /inventory/{petId} Entry -> Entry',
  );
  const maps = ['updateInventory=PATCH /inventory/{petId}'];
  const { run, done } = await bindTo(service, description, { maps });
  await done('inventory set 7 4');
  await done('inventory apply - --yes', { stdin: 'petId,quantity\n7,6\n' });
  const diff = await run('inventory diff - --create-missing', { stdin: 'petId,quantity\n9,1\n' });
  expect(diff.stderr).toContain(
    'the pet has no inventory entry, and the service offers no way to create one',
  );
  expect(bodies(service, 'PATCH').map((body) => JSON.parse(body))).toEqual([
    { petId: 7, status: 'sold', quantity: 4 },
    { petId: 7, status: 'sold', quantity: 6 },
  ]);
});

test('a create leaves out an id that its schema requires, and --field gives one', async () => {
  let made = 6;
  await using service = await recordingServer({}, ({ body }) => {
    made += 1;
    return { body: `{"id":${made},${body.slice(1)}` };
  });
  const { done } = await bindTo(service, describeLines('Pet: id#! name!', 'POST /pets Pet -> Pet'));
  expect(await done('pets create --name Rex -o ids')).toBe('7\n');
  expect(await done('pets create --from - --yes -o ids', { stdin: 'id,name\n7,Mia\n' })).toBe('8\n');
  await done('pets create --name Tom --field id=9007199254740993');
  expect(bodies(service, 'POST')).toEqual([
    '{"name":"Rex"}',
    '{"name":"Mia"}',
    '{"name":"Tom","id":9007199254740993}',
  ]);
});

testWith('sed')('an edit cannot remove a field where the update is a PATCH', async () => {
  const dogs = { id: 1, name: 'Dogs', description: 'large' };
  await using service = await recordingServer({ '/categories/1': dogs });
  const lines = ['Category: id# name description', 'GET /categories/{id} -> Category'];
  const description = describeLines(...lines, 'PATCH /categories/{id} Category -> Category');
  const { run } = await bindTo(service, description, { env: { EDITOR: 'sed -i /description/d' } });
  expect(await run('categories edit 1')).toMatchObject(
    failed(2, 'description cannot be removed: updateCategory of the service is a PATCH'),
  );
  expect(bodies(service, 'PATCH')).toEqual([]);
  // A field without a value is not deleted.
  await using other = await recordingServer({ '/categories/1': { ...dogs, description: null } });
  const renaming = await bindTo(other, description, { env: { EDITOR: 'sed -i s/Dogs/Hounds/' } });
  await renaming.run('categories edit 1');
  expect(bodies(other, 'PATCH')).toEqual(['{"name":"Hounds"}']);
});

test('an update sends back a field with one of our names but another meaning as it came', async () => {
  await using service = await recordingServer({}, ({ body }) => ({
    body: body === '' ? { id: 1, title: 'Rex', name: 'tag 7', category: 'x' } : JSON.parse(body),
  }));
  const record = 'Pet: id#! title! name!';
  const description = describeLines(record, 'GET /pets/{id} -> Pet', 'PUT /pets/{id} Pet -> Pet');
  const { done } = await bindTo(service, description, { maps: ['pets.name=title'] });
  expect(await done('pets get 1 -o csv')).toBe('id,name,category,status\n1,Rex,x,\n');
  const sent = '{"id":1,"title":"Max","name":"tag 7","category":"x"}';
  expect(await done('pets update 1 --name Max -o json')).toBe(`${sent}\n`);
  expect(bodies(service, 'PUT')).toEqual([sent]);
});

test('a new entry has no status if the service does not take it, in a bulk run either', async () => {
  const entries = new Map<string, string>();
  await using service = await recordingServer({}, ({ method, path, body }) => {
    if (path.startsWith('/pets')) return { body: rex };
    if (method === 'POST') entries.set(`/inventory/${JSON.parse(body).petId}`, body);
    if (method === 'POST') return { status: 201 };
    const found = entries.get(path);
    return found ? { body: found } : refusal(404);
  });
  const routes = ['POST /inventory Entry', 'GET /inventory/{petId} -> Entry', 'PUT /inventory/{petId} Entry'];
  const schemas = ['Pet: id# name! status!', 'Entry: petId#! quantity#!'];
  const description = describeLines(...schemas, 'GET /pets/{id} -> Pet', ...routes);
  const { done } = await bindTo(service, description);
  await done('inventory create 3 4');
  await done('inventory apply - --yes --create-missing', { stdin: 'petId,quantity\n7,5\n' });
  expect(bodies(service, 'POST')).toEqual(['{"petId":3,"quantity":4}', '{"petId":7,"quantity":5}']);
});

// What the descriptions that web frameworks generate have in common.

test('an order whose pet has another name is unbound, and its --map line binds all of orders', async () => {
  await using service = await recordingServer({}, ({ body }) => ({
    body: { id: 7, user: 3, pet: 2, quantity: 1, complete: false, ...JSON.parse(body || '{}') },
  }));
  const description = describeLines(
    'Order: id#! user#! pet#! quantity#! complete?!',
    'GET /orders -> Order[]',
    'POST /orders Order -> Order',
    'GET /orders/{id} -> Order',
    'DELETE /orders/{id}',
    'GET /categories',
  );
  const { run } = await bindTo(service, description);
  for (const line of ['orders list', 'orders create --quantity 2 --field pet=1', 'orders delete 7 --yes']) {
    const refused = await run(line);
    expect([line, refused.code, refused.stdout]).toEqual([line, 2, '']);
    expect(refused.stderr).toContain('pet may be meant: to bind it, add --map orders.petId=pet');
  }
  expect(service.requests).toEqual([]);
  const { done } = await bindTo(service, description, { maps: ['orders.petId=pet'] });
  await done('orders create --pet 2 --quantity 4 --no-complete --field user=3');
  const sent = { pet: 2, quantity: 4, user: 3, complete: false };
  expect(bodies(service, 'POST').map((body) => JSON.parse(body))).toEqual([sent]);
  expect(await done('orders get 7 -o csv')).toContain('7,2,1,,false');
});

test('a DELETE whose description has no responses succeeds by any 2xx, and its body is not read as a record', async () => {
  const withBody = [{ deleted: true }, [{ id: 9 }], 'gone'].map((body) => ({ body }));
  for (const reply of [...withBody, { status: 201 }, { status: 202 }, { status: 203 }]) {
    const gone = new Set<string>();
    await using service = await recordingServer({}, ({ method, path }) => {
      if (gone.has(path)) return refusal(404);
      if (method === 'DELETE') gone.add(path);
      return method === 'DELETE' ? reply : { body: rex };
    });
    const description = describeLines('Pet: id# name!', 'GET /pets/{id} -> Pet', 'DELETE /pets/{id}');
    const withoutResponses = JSON.parse(JSON.stringify(description));
    delete withoutResponses.paths['/pets/{id}'].delete.responses;
    await (await bindTo(service, withoutResponses)).done('pets delete 7 --yes');
    expect(service.calls()).toContain('DELETE /pets/7');
  }
});

test.each([
  { anyOf: [{ type: 'string', format: 'numeric' }, { type: 'number' }] },
  { oneOf: [{ type: 'integer' }, { type: 'string', pattern: '^\\d+$' }] },
  { type: ['integer', 'string'], pattern: '^-?(?:0|[1-9]\\d*)$' },
  { type: ['null', 'integer', 'string'], format: 'int64' },
])(
  'a number that may be a numeric text is a number: as an id, a count and the number of a page',
  async (numeric) => {
    const entries = [1, 2, 3].map((petId) => ({ petId, quantity: petId }));
    await using service = await recordingServer({}, ({ method, path, body }) => {
      const { searchParams, pathname } = new URL(path, 'http://service.test');
      if (method === 'PUT') return { body: { petId: 2, ...JSON.parse(body) } };
      if (pathname !== '/inventory') return { body: entries[1] };
      const at = Number(searchParams.get('page') ?? 1) - 1;
      return { body: entries.slice(at, at + 1) };
    });
    const entry = json(record({ petId: numeric, quantity: numeric }));
    const list = json({ type: 'array', items: entry.content['application/json'].schema });
    const petId = { name: 'petId', in: 'path', required: true, schema: numeric };
    const page = { name: 'page', in: 'query', schema: { ...numeric, minimum: 1 } };
    const { done } = await bindTo(
      service,
      document({
        '/inventory': { get: { parameters: [page], responses: { 200: list } } },
        '/inventory/{petId}': {
          parameters: [petId],
          get: { responses: { 200: entry } },
          put: { requestBody: entry, responses: { 200: entry } },
        },
      }),
    );
    expect(await done('inventory export')).toBe('petId,quantity,status\n1,1,\n2,2,\n3,3,\n');
    await done('inventory set 2 9');
    expect(bodies(service, 'PUT').map((sent) => JSON.parse(sent))).toEqual([{ petId: 2, quantity: 9 }]);
  },
);

test('an update sends null back where the body may have it, so that no default replaces it', async () => {
  const pet = { id: 1, name: 'Rex', status: null };
  await using service = await recordingServer({}, ({ body }) => ({
    body: { ...pet, ...JSON.parse(body || '{}') },
  }));
  const shown = record({ id: integer, name: text, status: { type: ['string', 'null'] } });
  const one = { responses: ok(shown) };
  const { done } = await bindTo(
    service,
    document({ '/pets/{id}': { get: one, put: { ...one, requestBody: json(shown) } } }),
  );
  await done('pets update 1 --name Max');
  expect(JSON.parse(bodies(service, 'PUT')[0] ?? '')).toMatchObject({ name: 'Max', status: null });
});

test.each([
  ['one page', ''],
  ['two pages', ', or one that has changed while the list was read'],
])('a list with two entries of one pet on %s is an error before a write', async (on, doubt) => {
  const entry = { petId: 7, quantity: 5 };
  const other = { ...entry, quantity: 9 };
  const headers = { link: '</inventory?page=2>; rel="next"' };
  await using service = await recordingServer({}, ({ path }) => {
    if (on === 'one page') return { body: [entry, other] };
    return path.includes('page=2') ? { body: [other] } : { headers, body: [entry] };
  });
  const lines = ['Entry: petId#! quantity#!', 'GET /inventory -> Entry[]', 'PUT /inventory/{petId} Entry'];
  const { run } = await bindTo(service, describeLines(...lines));
  for (const line of ['adjust 7 +1', 'apply - --yes', 'export'])
    expect(await run(`inventory ${line}`, { stdin: 'petId,quantity\n7,6\n' })).toMatchObject(
      failed(2, `listInventory has several for pet 7${doubt}`),
    );
  expect(service.writes()).toEqual([]);
});

test('a field that the service shows is compared and sent back, although no schema of its records has it', async () => {
  const shown = { id: 1, name: 'Rex', status: 'available', categoryId: 2 };
  await using service = await recordingServer({}, ({ method, body }) => ({
    status: method === 'POST' ? 201 : 200,
    body: method === 'PUT' ? { ...shown, name: JSON.parse(body).name } : shown,
  }));
  const lines = ['Pet: id#! name!', 'New: name! status', 'Put: name!', 'GET /pets/{id} -> Pet'];
  const { run, done } = await bindTo(
    service,
    describeLines(...lines, 'POST /pets New -> Pet', 'PUT /pets/{id} Put -> Pet'),
  );
  expect((await run('pets create --name Rex --status sold')).code).toBe(6);
  await done('pets update 1 --name Max');
  expect(JSON.parse(bodies(service, 'PUT')[0] ?? '')).toEqual({
    name: 'Max',
    status: 'available',
    categoryId: 2,
  });
});

test.each([
  ['an object', { type: 'object' }],
  ['anything', {}],
  ['one of two schemas', { oneOf: [{ type: 'object' }, { type: 'array' }] }],
  ['a map', { type: 'object', additionalProperties: true }],
  ['an open object', { type: 'object', properties: { quantity: {} }, additionalProperties: true }],
])('an update that takes %s keeps every field, by the names of the record', async (_, schema) => {
  const order = {
    id: 7,
    pet_id: 2,
    quantity: 3,
    ship_date: '2027-01-15T09:00:00Z',
    complete: false,
    by: 'x',
  };
  await using service = await recordingServer({}, ({ body }) => ({ body: body || order }));
  const record = 'Order: id#! pet_id# quantity# ship_date complete? by';
  const routes = ['GET /orders/{id} -> Order', 'PUT /orders/{id} Body -> Order'];
  const description = describeLines(record, ...routes);
  Object(description).components.schemas.Body = schema;
  const { done } = await bindTo(service, description);
  await done('orders update 7 --complete --pet 4 --field gift:=true');
  expect(JSON.parse(bodies(service, 'PUT')[0] ?? '')).toEqual({
    ...order,
    pet_id: 4,
    complete: true,
    gift: true,
  });
});

test('an entry without an id is no proof that a DELETE has removed it', async () => {
  await using service = await recordingServer({}, () => ({ body: { quantity: 5, deleted: false } }));
  const lines = [
    'Entry: quantity#!',
    'GET /inventory/{petId} -> Entry',
    'DELETE /inventory/{petId} -> Entry',
  ];
  const { run } = await bindTo(service, describeLines(...lines));
  expect((await run('inventory delete 7 --yes')).code).toBe(6);
});

test('a text that a DELETE answers is a success if the description states no body', async () => {
  const headers = { 'content-type': 'text/plain' };
  await using service = await recordingServer({}, ({ method }) =>
    method === 'DELETE' ? { headers, body: 'Pet deleted' } : { body: rex },
  );
  const description = describeLines('Pet: id# name!', 'GET /pets/{id} -> Pet', 'DELETE /pets/{id}');
  await (await bindTo(service, description)).done('pets delete 7 --yes');
});

test('a POST that deletes and finds no record has succeeded if the record is gone', async () => {
  let isThere = true;
  await using service = await recordingServer({}, ({ method }) => {
    // A gateway has sent it twice.
    if (method === 'POST') isThere = false;
    return isThere ? { body: rex } : refusal(404);
  });
  const description = describeLines('Pet: id# name!', 'GET /pets/{id} -> Pet', 'POST /pets/{id}/delete');
  const { done } = await bindTo(service, description, { maps: ['deletePet=POST /pets/{id}/delete'] });
  await done('pets delete 7 --yes');
  expect(service.writes()).toHaveLength(1);
});

test('a count below the path of its pet is bound by its --map lines, and needs no id of its own', async () => {
  const entry = { quantity: 5, shelf: 'A' };
  await using service = await recordingServer({}, ({ body }) => ({
    body: Object.assign(entry, JSON.parse(body || '{}')),
  }));
  const path = '/pets/{id}/inventory';
  const lines = ['Entry: quantity#! shelf', 'Pet: id# name', 'GET /pets/{id} -> Pet'];
  const description = describeLines(...lines, `GET ${path} -> Entry`, `PUT ${path} Entry -> Entry`);
  const maps = [`getInventory=GET ${path}`, `updateInventory=PUT ${path}`];
  const unbound = await (await bindTo(service, description)).run('inventory set 7 1');
  expect(unbound.stderr).toContain(`add --map updateInventory='PUT ${path}'`);
  const { done } = await bindTo(service, description, { maps });
  expect(await done('inventory get 7 -o csv')).toBe('petId,quantity,status\n7,5,\n');
  await done('inventory apply - --yes', { stdin: 'petId,quantity\n7,8\n' });
  await done('inventory adjust 7 +1');
  expect(bodies(service, 'PUT').map((sent) => JSON.parse(sent))).toEqual([
    { quantity: 8, shelf: 'A' },
    { quantity: 9, shelf: 'A' },
  ]);
});

test('every command that sets counts prints the --map line of an unbound update', async () => {
  await using service = await recordingServer({}, () => ({ body: { petId: 1, quantity: 2 } }));
  const description = describeLines(
    'Entry: petId#! quantity#!',
    'GET /inventory/{petId} -> Entry',
    'PATCH /inventory/{petId} Entry -> Entry',
  );
  const { run } = await bindTo(service, description);
  const file = 'petId,quantity\n1,5\n';
  for (const line of ['set 1 5', 'adjust 1 +1', 'diff -', 'apply - --yes', 'apply - --dry-run'])
    expect(await run(`inventory ${line}`, { stdin: file })).toMatchObject(
      failed(
        2,
        "--map updateInventory='PATCH /inventory/{petId}'\nhint: `petstore api bind <file or URL> --dry-run` shows why,",
      ),
    );
  expect((await run('api operations --all')).stdout).toContain(
    "--map updateInventory='PATCH /inventory/{petId}'",
  );
});
