import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Run, runCli } from '../helpers/run-cli.ts';
import { type Shape, type ShapedService, shapedService } from '../helpers/shaped-service.ts';

// A service of each shape that `api bind` covers, under the same commands: what they print is as if it had our own shape.

const folder = mkdtempSync(join(tmpdir(), 'petstore-shapes-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Fields = Record<string, unknown>;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const renamed = (record: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [rename(name), value]));
const integer = (name: string, more: object = {}) => ({
  name,
  in: 'query',
  schema: { type: 'integer', ...more },
});
const numberOf = (url: URL, name: string, fallback: number) => Number(url.searchParams.get(name) ?? fallback);
const categories = ['', 'Dogs', 'Cats'];

/** A list of two records a page, the first of which is asked for by a number. */
const paged = (name: string, first: number): Pick<Shape, 'page'> => ({
  page(records, url) {
    const size = numberOf(url, 'size', 2);
    const start = (numberOf(url, name, first) - first) * size;
    return records.slice(start, start + size);
  },
});
const cursor = (records: object[], url: URL) => {
  const end = numberOf(url, 'cursor', 0) + 2;
  return end < records.length ? `${end}` : null;
};
const fromCursor: Shape['page'] = (records, url) =>
  records.slice(numberOf(url, 'cursor', 0), numberOf(url, 'cursor', 0) + 2);
const text = { name: 'cursor', in: 'query', schema: { type: 'string' } };

const wrappers: Record<string, Shape> = Object.fromEntries(
  ['items', 'content'].map((field) => [
    `lists in ${field}`,
    { list: (records) => ({ [field]: records, total: records.length }) },
  ]),
);

const shapes: Record<string, Shape> = {
  'our own shape': {},
  ...wrappers,
  'lists in _embedded': {
    list: (records, noun) => ({ _embedded: { [noun]: records }, _links: { self: { href: '/' } } }),
  },
  'records in data': { list: (data) => ({ data }), one: (data) => ({ data }) },
  'records in a field called like the noun': {
    one: (record, noun) => ({
      [noun === 'inventory' ? noun : noun.replace(/ies$/, 'y').replace(/s$/, '')]: record,
    }),
  },
  snake_case: {
    write: (record) => renamed(record, snake) as never,
    read: (record) => renamed(record, camel) as never,
  },
  'a category that is an object': {
    write: ({ categoryId, ...pet }) =>
      categoryId === undefined
        ? pet
        : { ...pet, category: { id: categoryId, name: categories[Number(categoryId)] ?? '' } },
    read: ({ category, ...pet }) =>
      category === undefined ? pet : { ...pet, categoryId: (category as Fields).id as number },
  },
  'a category that is a name': {
    write: ({ categoryId, ...pet }) =>
      categoryId === undefined ? pet : { ...pet, category: categories[Number(categoryId)] ?? '' },
    read: ({ category, ...pet }) =>
      category === undefined ? pet : { ...pet, categoryId: categories.indexOf(String(category)) },
  },
  'further fields': { write: (record) => ({ warehouse: 'north', level: 5, ...record }) },
  'pages by Link': {
    page: fromCursor,
    documented: ['Link'],
    headers: (records, url) => {
      const next = cursor(records, url);
      return next === null ? {} : { link: `<${url.pathname}?cursor=${next}>; rel="next"` };
    },
  },
  'pages from 1': { ...paged('page', 1), parameters: [integer('page', { default: 1 }), integer('size')] },
  'pages from 0': { ...paged('page', 0), parameters: [integer('page', { minimum: 0 }), integer('size')] },
  'pages from 1, unsaid': { ...paged('page', 1), parameters: [integer('page')] },
  'pages from 0, unsaid': { ...paged('page', 0), parameters: [integer('page')] },
  'pages of a stated maximum': {
    ...paged('page', 1),
    parameters: [integer('page', { default: 1 }), integer('size', { maximum: 2 })],
  },
  'pages that have to be asked for': {
    ...paged('page', 1),
    parameters: [{ ...integer('page'), required: true }],
  },
  'offset and limit': {
    parameters: [integer('offset'), integer('limit', { maximum: 2 })],
    page: (records, url) => {
      const start = numberOf(url, 'offset', 0);
      return records.slice(start, start + Math.min(2, numberOf(url, 'limit', 2)));
    },
  },
  'a cursor in the body': {
    parameters: [text],
    page: fromCursor,
    list: (data, _, url, all) => ({ data, next_cursor: cursor(all, url) ?? null }),
  },
  'a link in the body': {
    page: fromCursor,
    list: (data, _, url, all) => {
      const next = cursor(all, url);
      return { data, links: { next: next === null ? null : `${url.pathname}?cursor=${next}` } };
    },
  },
  'the id in the body of an update': { hasIdInBody: true },
  'a create that is answered without a body': { isSilent: true },
};

interface Bound {
  readonly service: ShapedService;
  run(line: string, stdin?: string): Promise<Run>;
}

async function bound(shape: Shape): Promise<Bound> {
  const service = await shapedService(shape);
  const home = mkdtempSync(join(folder, 'home-'));
  const env = {
    PETSTORE_CONFIG_DIR: home,
    PETSTORE_STATE_DIR: join(home, 'state'),
    PETSTORE_BASE_URL: service.url,
    ...(shape.securitySchemes && { PETSTORE_TOKEN: 'me:s3cret' }),
  };
  const run = (line: string, stdin = '') => runCli([...line.split(' '), '--retries', '0'], { env, stdin });
  const binding = await run('api bind');
  expect(binding.stderr.replace(/\s+/g, ' ')).toContain('20 of 20 operations bound');
  expect(binding.code).toBe(0);
  service.seen.length = 0;
  return { service, run };
}

const pets = [1, 2, 3, 4, 5].map(
  (id) => `${id},Pet${id},${id % 2 ? 'Cats' : 'Dogs'},${['available', 'pending', 'sold'][id % 3]}`,
);

describe.each(Object.entries(shapes))('a service with %s', (name, shape) => {
  test('is listed, filtered, read and found by name', async () => {
    const { service, run } = await bound(shape);
    const lines = async (line: string) => {
      const { code, stdout, stderr } = await run(`${line} -o csv`);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
      return stdout.trimEnd().split('\n').slice(1);
    };
    expect(await lines('pets list')).toEqual(pets);
    expect(await lines('pets list --limit 3')).toEqual(pets.slice(0, 3));
    expect(await lines('pets list --status sold --category Cats')).toEqual([pets[4]]);
    expect(await lines('pets list --category 2')).toEqual([pets[0], pets[2], pets[4]]);
    expect(await lines('pets list --status sold,pending')).toEqual([pets[0], pets[1], pets[3], pets[4]]);
    expect(await lines('pets get 3')).toEqual([pets[2]]);
    expect(await lines('pets get pet3')).toEqual([pets[2]]);
    expect(await lines('categories list')).toEqual(['1,Dogs,large', '2,Cats,small']);
    expect(await lines('orders list --open')).toEqual(['1,1,1,2027-01-15T09:00:00Z,false']);
    expect(await lines('inventory list --below 30')).toEqual(['1,10,sold', '2,20,sold']);
    const data = JSON.parse((await run('pets get 3 -o json')).stdout);
    const [, , record = {}] = service.records.pets;
    expect(data).toEqual(shape.write?.(record, 'pets') ?? record);
    const overview = JSON.parse((await run('overview -o json')).stdout);
    expect([overview.pets.total, overview.orders.open]).toEqual([5, 1]);
    await service[Symbol.asyncDispose]();
  });

  test('is written to, and keeps what no command names', async () => {
    const { service, run } = await bound(shape);
    const done = async (line: string, stdin = '') => {
      const { code, stderr } = await run(line, stdin);
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
    };
    await done('pets create --name Rex --category Dogs --status sold');
    await done('pets update 2 --name Max --category Cats');
    await done('pets update 5 --category 1');
    await done('pets delete 4 --yes');
    await done('orders update 1 --quantity 9');
    const dry = await run('inventory set 1 7 --dry-run -o json');
    await done('inventory set 1 7');
    const put = service.seen.filter(({ method }) => method === 'PUT').at(-1);
    expect(JSON.parse(dry.stdout).body).toEqual(JSON.parse(put?.body ?? ''));
    await done('inventory adjust 2 +5');
    expect(service.records.pets).toMatchObject([
      {},
      { id: 2, name: 'Max', categoryId: 2, status: 'sold' },
      {},
      { id: 5, categoryId: 1 },
      { id: 6, name: 'Rex', categoryId: 1, status: 'sold' },
    ]);
    expect(service.records.orders[0]).toMatchObject({
      petId: 1,
      quantity: 9,
      shipDate: '2027-01-15T09:00:00Z',
    });
    expect(service.records.inventory.slice(0, 2)).toMatchObject([
      { petId: 1, quantity: 7, status: 'sold' },
      { petId: 2, quantity: 25, status: 'sold' },
    ]);
    if (name === 'further fields') {
      const { stdout } = await run('pets list --fields id,warehouse,level -o csv --limit 1');
      expect(stdout).toBe('id,warehouse,level\n1,north,5\n');
    }
    if (name === 'further fields')
      for (const record of [service.records.pets[1], ...service.records.inventory.slice(0, 2)])
        expect(record).toMatchObject({ warehouse: 'north', level: 5 });
    await service[Symbol.asyncDispose]();
  });

  test('is exported and changed by a file', async () => {
    const { service, run } = await bound(shape);
    const exported = await run('inventory export');
    expect(exported).toMatchObject({
      code: 0,
      stdout: 'petId,quantity,status\n1,10,sold\n2,20,sold\n3,30,sold\n4,40,sold\n5,50,sold\n',
    });
    const applied = await run('inventory apply - --yes', 'petId,quantity\n1,11\n2,20\n3,33\n');
    expect({ code: applied.code, stderr: applied.code === 0 ? '' : applied.stderr }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(service.records.inventory.map(({ quantity }) => quantity)).toEqual([11, 20, 33, 40, 50]);
    expect(service.writes().map((line) => line.split(' ')[0])).toEqual(['PUT', 'PUT']);
    if (name === 'further fields')
      expect(service.records.inventory[0]).toMatchObject({ warehouse: 'north', level: 5, status: 'sold' });
    await service[Symbol.asyncDispose]();
  });

  test('passes smoke, which writes records of its own and removes them', async () => {
    const { service, run } = await bound(shape);
    const smoke = await run('smoke --write --yes --only op --only write -o json');
    const { checks } = JSON.parse(smoke.stdout) as {
      checks: { id: string; result: string; reason: string }[];
    };
    const red = checks.filter(({ result }) => result !== 'pass');
    expect(red).toEqual([]);
    expect(smoke.code).toBe(0);
    expect(service.records.pets).toHaveLength(5);
    await service[Symbol.asyncDispose]();
  });
});

test.each<[place: string, scheme: object, isAllowed: NonNullable<Shape['isAllowed']>]>([
  [
    'bearer',
    { type: 'http', scheme: 'bearer' },
    ({ headers }) => headers.authorization === 'Bearer me:s3cret',
  ],
  [
    'basic',
    { type: 'http', scheme: 'basic' },
    ({ headers }) => headers.authorization === `Basic ${Buffer.from('me:s3cret').toString('base64')}`,
  ],
  [
    'a header',
    { type: 'apiKey', in: 'header', name: 'X-Key' },
    ({ headers }) => headers['x-key'] === 'me:s3cret' && headers.authorization === undefined,
  ],
  ['the query', { type: 'apiKey', in: 'query', name: 'key' }, ({ path }) => path.includes('key=me%3As3cret')],
  [
    'a cookie',
    { type: 'apiKey', in: 'cookie', name: 'key' },
    ({ headers }) => headers.cookie === 'key=me:s3cret',
  ],
])('a service gets the token as %s, in reads and in writes', async (_, key, isAllowed) => {
  const { service, run } = await bound({ securitySchemes: { key }, isAllowed });
  expect(await run('pets list -o ids')).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n5\n', stderr: '' });
  expect(await run('pets update 2 --name Max')).toMatchObject({ code: 0 });
  expect(await run('inventory apply - --yes', 'petId,quantity\n1,11\n')).toMatchObject({ code: 0 });
  await service[Symbol.asyncDispose]();
});
