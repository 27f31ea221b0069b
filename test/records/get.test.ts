import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { type Reply, recordingServer, type Seen } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const get = (words: string) => runCli(`--offline pets get ${words}`);
const rex = { id: 9007199254740, name: 'Rex', categoryId: 1, status: 'sold' };
const rexJson = JSON.stringify(rex);

test('prints one pet as a lone record, and several in the order of the ids as a list', async () => {
  const bella = '{"id":1,"name":"Bella","categoryId":1,"status":"available"}\n';
  expect(await get('1 -o json')).toMatchObject({ code: 0, stdout: bella });
  const { code, stdout } = await get('3 1 3 -o json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([3, 1, 3]);
});

test('prints the pets that exist, names each that does not, and exits 3', async () => {
  const { code, stdout, stderr } = await get('998 1 nobody 999 -o ids -q');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '1\n' });
  expect(stderr.match(/error: .*pet 99[89] does not exist/g)).toHaveLength(2);
  expect(stderr).toContain("pet 'nobody': no pet has this name");
  const json = await get('1 999 -o json -q');
  expect(JSON.parse(json.stdout)).toHaveLength(1);
  expect(JSON.parse(json.stderr).error).toMatchObject({
    kind: 'partial',
    errors: [{ kind: 'not-found', code: 'not_found', status: 404, method: 'GET' }],
  });
});

test('exits with the code of the failure if all failed for the same reason', async () => {
  expect(await get('998 999')).toMatchObject({ code: 5, stdout: '' });
  const single = await get('999 -o json -q');
  expect(single).toMatchObject({ code: 5, stdout: '' });
  const service = { code: 'not_found', status: 404, method: 'GET' };
  expect(JSON.parse(single.stderr).error).toMatchObject({
    ...{ kind: 'not-found', ...service, attempts: 1, retryable: false },
  });
});

const gone: Reply[] = [
  { status: 410, body: { code: 'gone', message: 'use listPets', status: 410 } },
  { status: 404 },
  { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' },
  { status: 405 },
];
const unlessList = (reply: Reply) => (seen: Seen) => {
  if (seen.path.startsWith('/pets/') && seen.method === 'GET') return reply;
  if (seen.method === 'POST') return { body: seen.body };
  return { body: seen.path.includes('?') ? [rex] : rex };
};

test.each(gone)('finds the pet through the list if the endpoint answers %j, and says so', async (reply) => {
  await using server = await recordingServer({}, unlessList(reply));
  const run = await runAt(server, `pets get ${rex.id} -o json`);
  expect(run).toMatchObject({ code: 0, stdout: `${rexJson}\n` });
  expect(run.stderr).toContain(`note: getPet answered ${reply.status}: looking through listPets instead`);
});

test.each([
  [`pets get ${rex.id} ${rex.id} -o ids`, 0],
  [`pets get 3 ${rex.id}`, 3],
  ['pets get 3', 5],
  [`pets update ${rex.id} --name Rex`, 0],
  [`inventory create ${rex.id} 8`, 0],
])('%s says once that it looks through the list, and exits %i', async (line, code) => {
  await using server = await recordingServer({}, unlessList({ status: 410 }));
  const run = await runAt(server, line);
  expect(run.code).toBe(code);
  expect(run.stderr.match(/looking through listPets/g)).toHaveLength(1);
  const missing = 'error: pet 3 does not exist: listPets has no record with this id\n';
  expect(run.stderr.includes(missing)).toBe(line.startsWith('pets get 3'));
});

test.each([
  [{ status: 404, body: { code: 'not_found', message: 'pet 3 does not exist', status: 404 } }, 5],
  [{ status: 400 }, 1],
])('an answer of %j does not mean that getPet is gone', async (reply, code) => {
  await using server = await recordingServer({}, () => reply);
  expect((await runAt(server, 'pets get 3 -o json')).code).toBe(code);
  expect(server.calls()).toEqual(['GET /pets/3']);
});

test.concurrent('--until waits until a field has a value, and prints the record', async () => {
  let reads = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets/')) return { body: [] };
    reads += 1;
    return { body: { ...rex, status: reads > 1 ? 'sold' : 'available' } };
  });
  const run = await runAt(server, `pets get ${rex.id} --until status=sold -o json`);
  expect(run).toMatchObject({ code: 0, stdout: `${rexJson}\n` });
  expect(reads).toBe(2);
});

test.concurrent('--until looks once more right before the time is over', async () => {
  using shop = openShop();
  const waiting = shop.run('inventory get 1 --until quantity=77 --timeout 1500ms -o ids');
  await shop.run('inventory get 1');
  await shop.run('inventory set 1 77');
  expect(await waiting).toMatchObject({ code: 0, stdout: '1\n' });
});

test.concurrent('--until exits 6 at the timeout, and names the last value', async () => {
  using shop = openShop();
  const [run, missing, coming, staying] = await Promise.all([
    shop.run('inventory get 1 --until quantity=77 --timeout 1s'),
    shop.run('pets get 999 --until status=sold'),
    shop.run('pets get 999 Luna --until exists --timeout 1s -o ids'),
    shop.run('orders get 1 --until gone --timeout 1s'),
  ]);
  expect(run).toMatchObject({ code: 6, stdout: '' });
  expect(run.stderr).toMatch(
    /the inventory entry of pet 1 did not meet quantity=77 within 1 s: quantity is \d+\nhint: allow more time with --timeout/,
  );
  expect(missing.code).toBe(5);
  expect(coming).toMatchObject({ code: 3, stdout: '3\n' });
  expect(coming.stderr).toContain('pet 999 did not come within 1 s: it does not exist');
  expect(staying).toMatchObject({ code: 6, stdout: '' });
  expect(staying.stderr).toContain('order 1 was not gone within 1 s: it is still there');
});

test.concurrent('--until exists and --until gone wait for records to come and go, by id or by name', async () => {
  using shop = openShop();
  const coming = Promise.all([
    shop.run('pets get Rex --until exists -o csv --fields name'),
    shop.run('pets get Luna --until gone -o json'),
    shop.run('orders get 7 8 --until gone'),
  ]);
  await shop.run('pets get 1');
  await shop.run('pets create --name Rex --category Dogs');
  await shop.run('orders delete 7 8 --yes');
  await shop.run('pets update Luna --name Lunette');
  const silent = { code: 0, stdout: '', stderr: '' };
  expect(await coming).toEqual([{ ...silent, stdout: 'name\nRex\n' }, silent, silent]);
});

test.concurrent('--until takes what smoke takes, and a column in place of its field', async () => {
  using shop = openShop();
  const met = ['status!=SOLD', '/status=available name^=B', 'id<2', 'name*="ell"', 'category<9'];
  for (const condition of met) {
    const run = await shop.run(['pets', 'get', '1', '-o', 'ids', '--until', condition]);
    expect(run).toEqual({ code: 0, stdout: '1\n', stderr: '' });
  }
});

test.each([
  [
    'orders get 1 --until complet=true',
    "--until: no field 'complet'; orders have id, petId, quantity, shipDate",
  ],
  ['orders get 1 --until name=Luna', "--until: no field 'name'"],
  ['pets get 1 --until constructor=red', "--until: no field 'constructor'"],
  ['pets get 1 --until status=adopted', 'status of pets is one of available, pending, sold'],
  ['orders get 1 --until complete!=yes', 'complete of orders is true or false'],
  ['orders get 1 --until quantity=many', 'quantity of orders is a whole number'],
  ['orders get 1 --until pet=Luna', 'petId of orders is an id'],
  ['pets get 1 --until sold', "--until 'sold': this is not a condition on a field, at 'sold'"],
  ['pets get 1 --until id<many', '< needs a number'],
])('%s is refused at once: %s', async (line, message) => {
  await using server = await recordingServer({});
  const run = await runAt(server, line);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test("--until takes the words that a description has for a status, and names the service's own word", async () => {
  await using server = await recordingServer({}, () => ({
    body: { id: 1, name: 'Rex', status: 'AVAILABLE' },
  }));
  const pet = { $ref: '#/components/schemas/Pet' };
  const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } });
  const parameters = [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }];
  const update = { parameters, requestBody: json(pet), responses: { 200: json(pet) } };
  const service = await bindTo(server, {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: {
      '/pets': { get: { responses: { 200: json({ type: 'array', items: pet }) } } },
      '/pets/{petId}': { get: { parameters, responses: { 200: json(pet) } }, put: update },
    },
    components: {
      schemas: {
        Pet: {
          type: 'object',
          properties: {
            id: { type: 'integer' },
            name: { type: 'string' },
            status: { type: 'string', enum: ['AVAILABLE', 'SOLD'] },
          },
        },
      },
    },
  });
  expect(await service.done('pets get 1 -o ids --until status=available')).toBe('1\n');
  const { code, stderr } = await service.run('pets get 1 --until status=pending');
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is one of AVAILABLE, SOLD'),
  });
});

test.concurrent('--until gone waits until nobody has a name that several have, and asks nothing', async () => {
  using shop = openShop();
  for (const _ of [1, 2]) await shop.run('pets create --name Twin --category Dogs');
  const waiting = shop.run('pets get Twin --until gone');
  await shop.run('pets get 1');
  await shop.run('pets delete 26 27 --yes');
  expect(await waiting).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a name that several pets have ends a command on several with exit 2, and nothing is printed', async () => {
  using shop = openShop();
  for (const _ of [1, 2]) await shop.run('pets create --name Twin --category Dogs');
  const { code, stdout, stderr } = await shop.run('pets get 1 twin');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("pet 'twin': 2 pets have this name");
});
