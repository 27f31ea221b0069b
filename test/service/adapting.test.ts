import { describe, expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { inQuery, type Shape, shapedService } from '../helpers/shaped-service.ts';

// The same commands against services of every shape that `api bind` covers. The output is the same as for our
// own shape.

type Fields = Record<string, unknown>;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const renamed = (record: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [rename(name), value]));
const otherCounts: Fields = { petId: 'animalId', quantity: 'onHand', animalId: 'petId', onHand: 'quantity' };
const withOtherCounts: Shape['write'] = (record, noun) =>
  noun === 'inventory' ? { ...renamed(record, (name) => `${otherCounts[name] ?? name}`), id: 9 } : record;
const integer = (name: string, more: object = {}) => inQuery(name, { type: 'integer', ...more });
const numberOf = (url: URL, name: string, fallback: number) => Number(url.searchParams.get(name) ?? fallback);
const categories = ['', 'Dogs', 'Cats'];

/** A list with two records a page. A number requests the first page. */
const paged = (name: string, first: number): Pick<Shape, 'page'> => ({
  page(records, url) {
    const size = numberOf(url, 'size', 2);
    const start = (numberOf(url, name, first) - first) * size;
    return records.slice(start, start + size);
  },
});
const cursor = (records: object[], url: URL, name = 'cursor') => {
  const end = numberOf(url, name, 0) + 2;
  return end < records.length ? `${end}` : null;
};
const fromCursor: Shape['page'] = (records, url) =>
  records.slice(numberOf(url, 'cursor', 0), numberOf(url, 'cursor', 0) + 2);

/** A list with two records a page. A text in the body requests the next page through a parameter. */
const byText = (name: string, toBody: (data: object[], next: string | null) => object): Shape => ({
  parameters: [inQuery(name, { type: 'string' })],
  page: (records, url) => records.slice(numberOf(url, name, 0), numberOf(url, name, 0) + 2),
  list: (data, _, url, all) => toBody(data, cursor(all, url, name)),
});

const shapes: Record<string, Shape> = {
  'our own shape': {},
  'lists in items': { list: (items) => ({ items, total: items.length }) },
  'lists in _embedded': {
    list: (records, noun) => ({ _embedded: { [noun]: records }, _links: { self: { href: '/' } } }),
  },
  'records in data': { list: (data) => ({ data }), wrap: (data) => ({ data }) },
  'records in a field called like the noun': {
    wrap: (record, noun) => ({
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
  'names that --map says': {
    write: ({ name, ...record }) => (name === undefined ? record : { ...record, title: name }),
    read: ({ title, ...record }) => (title === undefined ? record : { ...record, name: title }),
    maps: ['pets.name=title', 'categories.name=title'],
  },
  'counts of other names, and ids of their entries': {
    write: withOtherCounts,
    read: withOtherCounts,
    maps: ['inventory.petId=animalId', 'inventory.quantity=onHand'],
  },
  'a category id that is called category': {
    write: ({ categoryId, ...pet }) => (categoryId === undefined ? pet : { ...pet, category: categoryId }),
    read: ({ category, ...pet }) => (category === undefined ? pet : { ...pet, categoryId: Number(category) }),
  },
  'a category that it shows as an object and takes as an id, and a date that it only shows': {
    write: ({ categoryId, ...pet }) =>
      categoryId === undefined ? pet : { ...pet, category: { id: categoryId }, createdAt: '2026-11-01' },
    takes: (record) => record,
  },
  'a category that it shows as an object and takes as a number': {
    write: ({ categoryId, ...pet }) =>
      categoryId === undefined ? pet : { ...pet, category: { id: categoryId } },
    takes: ({ categoryId, ...pet }) => (categoryId === undefined ? pet : { ...pet, category: categoryId }),
    read: ({ category, ...pet }) => (category === undefined ? pet : { ...pet, categoryId: category }),
  },
  'a category that it shows as an id and takes as an object': {
    takes: ({ categoryId, ...pet }) => (categoryId === undefined ? pet : { ...pet, category: { id: 1 } }),
    read: ({ category, ...pet }) =>
      category === undefined ? pet : { ...pet, categoryId: (category as Fields).id },
  },
  'snake_case in answers and camelCase in bodies': {
    write: (record) => renamed(record, snake),
    takes: (record) => record,
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
  'pages from 1': {
    ...paged('PageNumber', 1),
    parameters: [integer('PageNumber', { default: 1 }), integer('PageSize')],
  },
  'pages from 0': { ...paged('page', 0), parameters: [integer('page', { minimum: 0 }), integer('size')] },
  'pages from 1 that its description does not number': { ...paged('page', 1), parameters: [integer('page')] },
  'pages from 0 that its description does not number': { ...paged('page', 0), parameters: [integer('page')] },
  'pages of a stated maximum': {
    ...paged('page', 1),
    parameters: [integer('page', { default: 1 }), integer('size', { maximum: 2 })],
  },
  'pages that have to be asked for': {
    ...paged('page', 1),
    parameters: [{ ...integer('page'), required: true }],
  },
  'an offset, and pages that are shorter than was asked for': {
    parameters: [integer('skip'), integer('take', { maximum: 50 })],
    page: (records, url) => records.slice(numberOf(url, 'skip', 0)).slice(0, 2),
  },
  'a cursor in the body': {
    parameters: [inQuery('cursor', { type: 'string' })],
    page: fromCursor,
    list: (data, _, url, all) => ({ data, next_cursor: cursor(all, url) ?? null }),
  },
  'a page token in the body': byText('pageToken', (items, nextPageToken) => ({ items, nextPageToken })),
  'an `after` in the body': byText('after', (data, next) => ({ data, paging: { next } })),
  'a link in the body': {
    page: fromCursor,
    list: (data, _, url, all) => {
      const next = cursor(all, url);
      return { data, links: { next: next === null ? null : `${url.pathname}?cursor=${next}` } };
    },
  },
  'the id in the body of an update': { hasIdInBody: true },
  'a create that is answered without a body': { creates: 'nothing' },
  'a create that is answered by its id': { creates: 'id' },
};

const pets = [1, 2, 3, 4, 5].map(
  (id) => `${id},Pet${id},${id % 2 ? 'Cats' : 'Dogs'},${['available', 'pending', 'sold'][id % 3]}`,
);
const withoutHead = (csv: string) => csv.trimEnd().split('\n').slice(1);

async function open(shape: Shape) {
  const service = await shapedService(shape);
  const { run, done } = await bindTo(service, undefined, { maps: shape.maps });
  const lines = async (line: string) => {
    const { code, stdout, stderr } = await run(`${line} -o csv`);
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
    return withoutHead(stdout);
  };
  return Object.assign(service, { run, done, lines });
}

describe.each(Object.entries(shapes))('a service with %s', (_, shape) => {
  test('has its records listed, filtered, read by name, and printed as JSON just as it sent them', async () => {
    await using shop = await open(shape);
    const { lines, done } = shop;
    expect(await lines('pets list')).toEqual(pets);
    expect(await lines('pets list --status sold,pending --category Cats --limit 1')).toEqual([pets[0]]);
    expect(await lines('pets get pet3')).toEqual([pets[2]]);
    expect(await lines('orders list --open')).toEqual(['1,1,1,2027-01-15T09:00:00Z,false']);
    expect(await lines('inventory list --below 30')).toEqual(['1,10,sold', '2,20,sold']);
    expect(JSON.parse(await done('overview -o json'))).toMatchObject({
      pets: expect.arrayContaining([{ status: 'sold', total: expect.any(Number) }]),
      orders: [{ id: 1 }],
    });
    const [, , record = {}] = shop.records('pets');
    expect(JSON.parse(await done('pets get 3 -o json'))).toEqual(shape.write?.(record, 'pets') ?? record);
  });

  test('has its counts exported, and only those that differ applied', async () => {
    await using shop = await open(shape);
    const { done } = shop;
    expect(withoutHead(await done('inventory export'))).toEqual(
      [1, 2, 3, 4, 5].map((id) => `${id},${id}0,sold`),
    );
    // What `list` prints as JSON, with the names of the service, is read back.
    const listed = await done('inventory list -o json');
    await done('inventory diff -', { stdin: listed });
    await done('inventory apply - --yes', { stdin: listed.replace(/\b10\b/, '11') });
    await done('inventory apply - --yes', { stdin: 'petId,quantity\n2,20\n3,33\n' });
    expect(shop.records('inventory').map(({ quantity }) => quantity)).toEqual([11, 20, 33, 40, 50]);
    expect(shop.writes().map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  });

  test('passes smoke with writes, which leaves no pet behind', async () => {
    await using shop = await open(shape);
    const smoke = await shop.run('smoke --write --yes --only op --only write -o json');
    const { checks }: { checks: { id: string; result: string }[] } = JSON.parse(smoke.stdout);
    expect(checks.filter(({ result }) => result !== 'pass')).toEqual([]);
    expect([smoke.code, shop.records('pets').length]).toEqual([0, 5]);
  });

  test('gets the request that --dry-run shows', async () => {
    await using shop = await open(shape);
    const dry = await shop.done('inventory set 1 7 --dry-run -o json');
    await shop.done('inventory set 1 7');
    expect(JSON.parse(dry).body).toEqual(JSON.parse(shop.requests.at(-1)?.body ?? ''));
    expect(shop.records('inventory')[0]).toMatchObject({ petId: 1, quantity: 7, status: 'sold' });
  });

  test('has records created, updated and deleted', async () => {
    await using shop = await open(shape);
    const { done } = shop;
    await done('pets create --name Rex --category Dogs --status sold');
    await done('pets create --from - --yes', { stdin: 'name,category\nTom,cats\n' });
    await done('pets update 1 --name Tim');
    await done('pets update 2 --name Max --category Cats');
    await done('pets delete 4 --yes');
    await done('orders update 1 --quantity 9');
    expect(shop.records('pets')).toMatchObject([
      { id: 1, name: 'Tim', categoryId: 2, status: 'pending' },
      { id: 2, name: 'Max', categoryId: 2, status: 'sold' },
      {},
      { id: 5 },
      { name: 'Rex', categoryId: 1, status: 'sold' },
      { name: 'Tom', categoryId: 2 },
    ]);
    expect(shop.records('orders')[0]).toMatchObject({
      petId: 1,
      quantity: 9,
      shipDate: '2027-01-15T09:00:00Z',
    });
  });
});

test('fields that only the service knows can be listed, and stay as they are in a write', async () => {
  await using shop = await open(shapes['further fields'] ?? {});
  const { lines, done } = shop;
  await done('inventory set 1 7');
  await done('pets update 2 --name Max');
  expect(await lines('pets list --fields id,warehouse,level --limit 1')).toEqual(['1,north,5']);
  for (const record of [shop.records('pets')[1], shop.records('inventory')[0]])
    expect(record).toMatchObject({ warehouse: 'north', level: 5 });
});

test('a page token that repeats fails smoke, and its cleanup deletes all the same', async () => {
  await using shop = await open(byText('pageToken', (items) => ({ items, nextPageToken: '00' })));
  const { stdout } = await shop.run('smoke -o json');
  expect(stdout).toContain('"the next page links to itself"');
  const writes = await shop.run('smoke --write --yes --only write -o json');
  expect(writes.stdout).toMatch(/"write\/cleanup"[^}]*the page repeats earlier records/);
  expect(shop.records('categories')).toHaveLength(2);
});
