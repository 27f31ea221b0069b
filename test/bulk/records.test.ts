import { expect, test } from 'vitest';
import { recordShop } from '../helpers/record-shop.ts';
import { refusal } from '../helpers/recording-server.ts';
import type { Fields } from '../helpers/stored-records.ts';

// `update --from` is a run, for pets, categories and orders: it plans, asks, writes what differs, and is undone.

const pets = [1, 2, 3].map((id) => ({ id, name: `Pet ${id}`, categoryId: 1, status: 'available' }));
const update = 'pets update --from pets.csv --yes';

test.each([
  ['pets', '/pets', 'name', ['Luna', 'Rex'], { name: 'Old', categoryId: 1, status: 'sold' }],
  ['categories', '/categories', 'description', ['Small', 'Large'], { name: 'Dogs', description: 'Old' }],
  ['orders', '/store/orders', 'quantity', [7, 8], { petId: 1, quantity: 1, complete: false }],
] as const)('%s: plans, asks, writes what differs, and is undone', async (noun, path, name, values, rest) => {
  await using shop = await recordShop({ [path]: [1, 2, 3].map((id) => ({ id, ...rest })) });
  const before = structuredClone(shop.stored);
  shop.write('file.csv', `id,${name}\n1,${values[0]}\n2,${values[1]}\n3,${(rest as Fields)[name]}\n`);
  const words = `${noun} update --from file.csv`;
  expect((await shop.report(words)).error).toMatchObject({ code: 'confirmation_needed' });
  expect(JSON.parse((await shop.run(`${words} --dry-run -o json`)).stdout)).toHaveLength(2);
  expect(shop.writes()).toEqual([]);
  expect(await shop.report(`${words} --yes`)).toMatchObject({ code: 0, applied: 2, unchanged: 1 });
  expect([1, 2, 3].map((id) => shop.stored.get(`${path}/${id}`)?.[name])).toEqual([
    ...values,
    (rest as Fields)[name],
  ]);
  expect(JSON.parse((await shop.run('runs -o json')).stdout)).toMatchObject([{ noun, state: 'finished' }]);
  expect(await shop.report(`${words} --yes`)).toMatchObject({ code: 0, unchanged: 3 });
  expect((await shop.run('undo r1 --dry-run -o csv')).stdout).toMatch(/^id,before,after,state,/);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(shop.stored).toEqual(before);
});

test('writes back no other field than those of the file, whatever somebody changes meanwhile', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('pets.csv', 'id,name\n1,Luna\n2,Rex\n');
  shop.misbehave = ({ method, path }) => {
    const pet = shop.stored.get(path);
    if (method === 'PUT' && pet?.categoryId === 1) shop.stored.set(path, { ...pet, categoryId: 9 });
    return undefined;
  };
  expect(await shop.report(update)).toMatchObject({ code: 0, applied: 2 });
  expect(shop.stored.get('/pets/1')).toEqual({ id: 1, name: 'Luna', categoryId: 9, status: 'available' });
});

test('an undo is unknown if the service keeps a field that it removes', async () => {
  await using shop = await recordShop({ '/pets': [{ id: 1, name: 'Rex', categoryId: 1 }] });
  shop.write('pets.csv', 'id,status\n1,sold\n');
  expect(await shop.report(update)).toMatchObject({ code: 0, applied: 1 });
  shop.misbehave = ({ method, path }) =>
    method === 'PUT' ? { status: 200, body: shop.stored.get(path) } : undefined;
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 6, applied: 0, unknown: 1 });
});

test('an answer without a field does not show that the field is gone', async () => {
  await using shop = await recordShop({ '/store/orders': [{ id: 1, petId: 1, quantity: 2 }] });
  shop.write('orders.csv', 'id,shipDate\n1,2027-01-01\n');
  expect(await shop.report('orders update --from orders.csv --yes')).toMatchObject({ applied: 1 });
  shop.misbehave = ({ method }) => (method === 'PUT' ? { status: 200, body: { id: 1 } } : undefined);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 6, applied: 0, unknown: 1 });
});

test('undo leaves a record alone that somebody changed since, in the fields of the file', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('pets.csv', 'id,name\n1,Luna\n2,Rex\n3,Tom\n');
  await shop.report(update);
  shop.stored.set('/pets/1', { ...(shop.stored.get('/pets/1') as Fields), name: 'Bella' });
  shop.stored.set('/pets/2', { ...(shop.stored.get('/pets/2') as Fields), status: 'sold' });
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect(shop.stored.get('/pets/1')?.name).toBe('Bella');
  expect(shop.stored.get('/pets/2')).toMatchObject({ name: 'Pet 2', status: 'sold' });
});

test('stops, is resumed without the file, and keeps rejects with the columns of the file', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('pets.csv', 'id,name\n1,Luna\n2,Rex\n3,Tom\n9,Nobody\n');
  shop.misbehave = ({ method, path }) => (method === 'PUT' && path !== '/pets/1' ? refusal(401) : undefined);
  expect(await shop.report(`${update} --concurrency 1`)).toMatchObject({ code: 4, applied: 1 });
  shop.misbehave = undefined;
  shop.write('pets.csv', 'gone');
  expect(await shop.report('resume --yes')).toMatchObject({ code: 3, applied: 3, failed: 1 });
  const rejects = shop.files().filter((name) => name.includes('.rejects'));
  expect(rejects.map((name) => shop.read(name)).join('\n')).toMatch(/^9,Nobody,5,failed,/m);
  // The run knows them from now on.
  for (const line of ['runs -o json', 'resume r1 -o json --yes'])
    expect((await shop.run(line)).stdout).toContain(`${rejects.at(-1)}`);
});

test('runs of records and of counts do not keep each other from a resume or an undo', async () => {
  await using shop = await recordShop({ '/pets': pets, '/store/inventory': [] });
  shop.write('pets.csv', 'id,name\n1,Luna\n2,Rex\n');
  shop.misbehave = ({ method, path }) => (method === 'PUT' && path === '/pets/2' ? refusal(401) : undefined);
  expect((await shop.report(`${update} --concurrency 1`)).code).toBe(4);
  shop.misbehave = undefined;
  shop.stored.set('/store/inventory/1', { id: 1, petId: 1, quantity: 5, status: 'sold' });
  shop.write('stock.csv', 'petId,quantity\n1,6\n');
  await shop.report('inventory apply stock.csv --yes');
  for (const verb of ['resume', 'undo'])
    expect(await shop.report(`${verb} r1 --yes`)).toMatchObject({ code: 0, applied: 2 });
  shop.write('pets.csv', 'id,name\n1,Max\n');
  await shop.report(update);
  expect((await shop.run('runs --pet 1 -o ids')).stdout).toContain('r4');
});

test('what a delete removed is printed with its counts as records that create takes, and nothing that it left', async () => {
  const seen = { ...pets[0], seen: 7 };
  const entry = { id: 1, petId: 1, quantity: 5, status: 'sold' };
  await using shop = await recordShop({ '/pets': [seen, ...pets.slice(1)], '/store/inventory': [entry] });
  shop.write('gone.csv', 'id\n1\n2\n');
  shop.misbehave = ({ method, path }) =>
    method === 'DELETE' && path === '/pets/2' ? refusal(409) : undefined;
  const { code, stderr } = await shop.run('pets delete --from gone.csv --yes');
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('1 inventory entry (5 in stock), which may be deleted too'),
  ]);
  const { stdout } = await shop.run('runs show r1 -o json');
  expect(JSON.parse(stdout)).toEqual([{ ...seen, _quantity: 5 }]);
  const rows = await shop.run('runs show r1 -o json --fields id,state');
  expect(JSON.parse(rows.stdout)).toEqual(
    [1, 2].map((id) => ({ id, state: id === 1 ? 'applied' : 'failed' })),
  );
  shop.write('again.json', stdout);
  const again = await shop.run('pets create --from again.json --yes');
  expect(again.stderr).toMatch(/^note: again.json: ignored columns: id, seen, _quantity$/m);
  expect(shop.stored.get('/pets/4')).toEqual({ ...pets[0], id: 4 });
});

test('a delete that failed for a passing reason is planned anew, with what its record has then', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('gone.csv', 'id\n1\n');
  shop.misbehave = ({ method }) => (method === 'DELETE' ? refusal(429) : undefined);
  expect(await shop.report('pets delete --from gone.csv --yes --retries 0')).toMatchObject({ failed: 1 });
  shop.misbehave = undefined;
  shop.stored.set('/pets/1', { ...pets[0], name: 'Luna' });
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(JSON.parse((await shop.run('runs show r1 -o json')).stdout)).toMatchObject([{ name: 'Luna' }]);
});

test('an undo names records whose ids no answer gave, and goes on with what a person says of them', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('new.csv', 'name,category\nLuna,1\nRex,1\nTom,1\n');
  shop.misbehave = ({ method, perform }) => {
    if (method !== 'POST' || shop.stored.size === pets.length) return undefined;
    if (shop.stored.size > pets.length + 1) return { status: 201 };
    perform();
    return 'reset';
  };
  const create = 'pets create --from new.csv --yes --concurrency 1';
  const run = await shop.report(create);
  expect(run).toMatchObject({ code: 3, applied: 1, unknown: 2 });
  expect(run.error?.hint).toMatch(
    /^look for the record: petstore pets list --name Rex; then .*line:3=<id>.*; 1 more row must be settled too$/,
  );
  expect((await shop.report(create)).error).toMatchObject({ code: 'unfinished_run', hint: run.error?.hint });
  const next = expect.stringContaining("runs settle r1 'line:3=<id>'");
  const failures = [{ example: { message: expect.stringMatching(/wrote this record: look at/) } }];
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 1, failed: 2, next, failures });
  const made = [...shop.stored.values()].at(-1)?.id;
  for (const [said, code] of [
    ['line:3 --as applied', 2],
    [`line:3=${made} --as applied`, 0],
    ['line:4=9 --as failed', 0],
  ])
    expect(await shop.report(`runs settle r1 ${said}`)).toMatchObject({ code });
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 2, unchanged: 1 });
  expect(shop.stored.size).toBe(pets.length);
});

test('an undo deletes no record with which the service has answered several creates', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('new.csv', 'name,category\nLuna,1\nTom,1\nTom,1\n');
  // It makes two records, and then finds the last one again.
  shop.misbehave = ({ method }) => {
    const isFound = method === 'POST' && shop.stored.size === pets.length + 2;
    return isFound ? { status: 200, body: [...shop.stored.values()].at(-1) } : undefined;
  };
  expect(await shop.report('pets create --from new.csv --yes --concurrency 1')).toMatchObject({ applied: 3 });
  const undo = await shop.report('undo --yes');
  expect(undo).toMatchObject({ code: 3, applied: 1, failed: 2, failures: [{ count: 2, kind: 'shared_id' }] });
  expect([...shop.stored.values()].at(-1)).toMatchObject({ name: 'Tom' });
});

test('an undo leaves alone a record that a later run has created with an id that was given before', async () => {
  await using shop = await recordShop({ '/pets': [] });
  shop.write('new.csv', 'name,category\nLuna,1\n');
  shop.write('old.csv', 'id\n7\n');
  // As SQLite does, the service gives the id of a deleted record again.
  shop.misbehave = ({ method, body }) => {
    if (method !== 'POST') return undefined;
    const made = { ...JSON.parse(body), id: 7 };
    shop.stored.set('/pets/7', made);
    return { status: 201, body: made };
  };
  for (const words of ['create --from new.csv', 'delete --from old.csv', 'create --from new.csv'])
    expect(await shop.report(`pets ${words} --yes`)).toMatchObject({ applied: 1 });
  const next = expect.stringContaining('undo r3');
  expect(await shop.report('undo r1 --yes')).toMatchObject({
    code: 3,
    failures: [{ kind: 'later_run' }],
    next,
  });
  expect(shop.stored.has('/pets/7')).toBe(true);
});

test('a stop while the counts of deleted pets are read ends the plan', async () => {
  await using shop = await recordShop({ '/pets': pets, '/store/inventory': [] });
  shop.misbehave = ({ path }) =>
    path.startsWith('/store/inventory/') ? refusal(503, { 'retry-after': '300' }) : undefined;
  shop.write('gone.csv', 'id\n1\n');
  const stopped = await shop.run('pets delete --from gone.csv --yes --retries 0');
  expect(stopped).toMatchObject({ code: 6, stderr: expect.stringContaining('503 and asks to wait 5 min') });
  expect((await shop.run('runs -o json')).stdout).toBe('[]\n');
});

test('an undo leaves alone and names the orders of which no answer told the id', async () => {
  await using shop = await recordShop({ '/store/orders': [] });
  shop.write('new.csv', 'pet,quantity\n1,3\n');
  shop.misbehave = ({ method, perform }) => {
    const { id, ...body } = perform().body as Fields;
    return method === 'POST' ? { status: 201, body } : undefined;
  };
  expect(await shop.report('orders create --from new.csv --yes')).toMatchObject({ applied: 1 });
  shop.misbehave = undefined;
  for (const _ of [1, 2]) expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 3, failed: 1 });
});

test('a large run passes over a record of the list that has no id', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, petId: 1, quantity: 1 }));
  await using shop = await recordShop({ '/store/orders': many });
  shop.misbehave = ({ method, path }) =>
    method === 'GET' && path === '/store/orders' ? { body: [{ petId: 1 }, ...many] } : undefined;
  shop.write('same.jsonl', many.map(({ id }) => `{"id":${id},"quantity":1}\n`).join(''));
  expect(await shop.report('orders update --from same.jsonl --yes')).toMatchObject({ unchanged: 100 });
});

test('an undo of a create names the counts that go, and removes no record that has got a field or is gone', async () => {
  await using shop = await recordShop({ '/pets': [], '/store/inventory': [] });
  shop.write('new.csv', 'name,category\nRex,1\nLuna,1\nTom,1\n');
  expect(await shop.report('pets create --from new.csv --yes')).toMatchObject({ applied: 3 });
  shop.write('gone.csv', 'id\n1\n');
  expect(await shop.report('pets delete --from gone.csv --yes')).toMatchObject({ applied: 1 });
  shop.stored.set('/store/inventory/2', { id: 2, petId: 2, quantity: 7, status: 'sold' });
  shop.stored.set('/pets/3', { ...shop.stored.get('/pets/3'), colour: 'red' });
  const stderr = expect.stringContaining('1 inventory entry (7 in stock), which may be deleted too');
  const undone = { code: 3, applied: 1, unchanged: 1, failed: 1, stderr };
  expect(await shop.report('undo r1 --yes')).toMatchObject(undone);
});

test('a delete says if the counts that go with the pets cannot be read', async () => {
  await using shop = await recordShop({ '/pets': pets, '/store/inventory': [] });
  shop.write('gone.csv', 'id\n1\n');
  shop.misbehave = ({ path }) => (path.startsWith('/store/inventory') ? refusal(500) : undefined);
  const { stderr } = await shop.run('pets delete --from gone.csv --yes --retries 0');
  expect(stderr).toContain('not all counts that go with these pets are known: it says no (GET http');
});

test('a create is resumed after a later run, because it replaces nothing', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('new.csv', 'name,category\nRex,1\nLuna,1\n');
  shop.misbehave = ({ method }) => (method === 'POST' ? refusal(429) : undefined);
  expect(await shop.report('pets create --from new.csv --yes --retries 0')).toMatchObject({ failed: 2 });
  shop.misbehave = undefined;
  shop.write('pets.csv', 'id,name\n1,Luna\n');
  expect(await shop.report(update)).toMatchObject({ applied: 1 });
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 2 });
});

test('a delete that is resumed leaves a record that has changed since its plan', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('gone.csv', 'id\n1\n2\n');
  shop.misbehave = ({ method }) => (method === 'DELETE' ? refusal(401) : undefined);
  const stopped = await shop.report('pets delete --from gone.csv --yes --concurrency 1');
  expect(stopped).toMatchObject({ code: 4, failed: 1, unprocessed: 1 });
  shop.misbehave = undefined;
  shop.stored.set('/pets/2', { ...shop.stored.get('/pets/2'), name: 'Rex' });
  expect(await shop.report('resume --yes')).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(shop.stored.get('/pets/2')?.name).toBe('Rex');
});

test('a large run reads the fields that the list leaves out, and each record that is to be removed', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ ...pets[0], id: index + 1, status: 'sold' }));
  await using shop = await recordShop({ '/pets': many });
  const shown = ({ id = 0, ...pet }) => ({ ...pet, id, status: id % 2 === 0 ? null : undefined, rank: id });
  shop.misbehave = ({ method, path }) =>
    method === 'GET' && path === '/pets' ? { body: [...shop.stored.values()].map(shown) } : undefined;
  shop.write('same.jsonl', many.map(({ id }) => `{"id":${id},"status":"sold"}\n`).join(''));
  expect(await shop.report('pets update --from same.jsonl --yes')).toMatchObject({ unchanged: 100 });
  shop.write('gone.csv', `id\n${many.map(({ id }) => id).join('\n')}\n`);
  expect(await shop.report('pets delete --from gone.csv --yes')).toMatchObject({ applied: 100 });
  expect(JSON.parse((await shop.run('runs show r2 -o json')).stdout)).toEqual(many);
  expect((await shop.run('pets delete --from gone.csv --yes')).stderr).toContain('0 of 100 rows to delete\n');
  expect((await shop.run('undo')).stderr).toContain('run r3 has written nothing');
  shop.write('new.jsonl', '{"name":"Rex","categoryId":1,"status":"sold"}\n'.repeat(100));
  expect(await shop.report('pets create --from new.jsonl --yes')).toMatchObject({ applied: 100 });
  expect(await shop.report('undo --yes')).toMatchObject({ applied: 100 });
});

test('create --from -o ids prints the ids of the new records, and marks each row once', async () => {
  await using shop = await recordShop({ '/pets': pets });
  shop.write('new.csv', 'name,category\nLuna,1\nRex,1\n');
  const { code, stdout } = await shop.run('pets create --from new.csv --yes --concurrency 1 -o ids');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '4\n5\n' });
  expect(shop.read('state/runs/r1.jsonl').match(/"kind":"mark"/g)).toHaveLength(2);
});
