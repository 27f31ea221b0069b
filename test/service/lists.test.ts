import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { type Reply, recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt } from '../helpers/run-cli.ts';
import { inQuery, pagesOfTwo, type Shape, shapedService } from '../helpers/shaped-service.ts';

// The program reads a list to its end, or a message says that the list may be cut. Every list ends.

const firstTwo = <Value>(records: readonly Value[]) => records.slice(0, 2);
const withTotal: Shape['list'] = (data, _noun, _url, all) => ({ data, total: all.length });
const numbered = [inQuery('page', { type: 'integer', minimum: 1 }), inQuery('limit', { type: 'integer' })];
const twoByDefault: Shape['page'] = (records, url) =>
  records.slice(0, Number(url.searchParams.get('limit') ?? 2));
const refusesAbove =
  (most: number, status: number) =>
  ({ searchParams }: URL): Reply | undefined =>
    Number(searchParams.get('limit') ?? 0) > most ? refusal(status) : undefined;
/** Answers a page in another way. */
const instead =
  (page: string, reply: Reply) =>
  ({ searchParams }: URL) =>
    searchParams.get('page') === page ? reply : undefined;
const anyLimit = { parameters: [inQuery('limit', { type: 'integer' })] };
const pet = (id: number) => ({ id, name: `Pet${id}`, categoryId: 1, status: 'sold' });

/** Lists of five records that are cut after two. No request can get the rest. */
const cut: Record<string, Shape> = {
  'a cursor in a header': {
    page: firstTwo,
    documented: ['X-Next-Cursor'],
    headers: () => ({ 'x-next-cursor': 'abc' }),
    parameters: [{ name: 'X-Cursor', in: 'header', schema: { type: 'string' } }],
  },
  'a token of an unknown place': {
    page: firstTwo,
    parameters: [inQuery('continuation_token', { type: 'string' })],
  },
  'a default size and no way to go on': {
    page: firstTwo,
    parameters: [inQuery('limit', { type: 'integer', default: 2, maximum: 2 })],
  },
  'a default size that its description does not have': { page: twoByDefault, ...anyLimit },
  'a default size above which it refuses': { page: firstTwo, refuses: refusesAbove(2, 422), ...anyLimit },
  'a default size, and links that do not come': { page: twoByDefault, documented: ['Link'], ...anyLimit },
  'a largest size that is its default': {
    page: firstTwo,
    parameters: [inQuery('limit', { type: 'integer', default: 2 })],
  },
  'a cursor that only its description has': {
    page: firstTwo,
    parameters: [inQuery('limit', { type: 'integer', maximum: 2 }), inQuery('cursor', { type: 'string' })],
    list: (data) => (data.some((record) => '$ref' in record) ? { data, next_cursor: 'a' } : { data }),
  },
  'a gateway that drops the links of its description': {
    page: firstTwo,
    documented: ['Link'],
    parameters: [inQuery('limit', { type: 'integer', maximum: 2 })],
  },
  'a link that only the body has': {
    page: firstTwo,
    list: (value) =>
      value.some((record) => '$ref' in record) ? { value } : { value, '@odata.nextLink': '/pets?from=2' },
  },
  'an envelope that says how many there are': { page: firstTwo, list: withTotal },
  'an empty page, although there are more': {
    parameters: numbered,
    page: (records, url) => (url.searchParams.get('page') === '2' ? [] : firstTwo(records)),
    list: withTotal,
  },
  'a service that ignores the number of a page': { parameters: numbered, page: firstTwo },
};

describe.each(Object.entries(cut))('a list that is cut by %s', (_, shape) => {
  test('is printed with a warning, with --quiet too, unless --limit ends it before', async () => {
    await using service = await shapedService(shape);
    const { run } = await bindTo(service);
    const list = await run('pets list -q -o ids');
    expect(list).toMatchObject({ code: 0, stdout: '1\n2\n' });
    expect(list.stderr).toContain('warning: there may be more records:');
    expect((await run('pets list -q -o json')).stderr).toContain('warning: there may be more records:');
    expect((await run('pets list --limit 2 -o ids')).stderr).not.toContain('listPets');
  });

  test('cannot answer --fail-if', async () => {
    await using service = await shapedService(shape);
    const { run } = await bindTo(service);
    for (const condition of ['none --name nobody', 'any']) {
      expect(await run(`pets list -o json --fail-if ${condition}`)).toMatchObject(
        failed(2, 'this command needs every record, and the list may be incomplete'),
      );
    }
    const limited = await run('pets list -o ids --fail-if any --limit 2');
    expect(limited).toEqual({ code: 8, stdout: '1\n2\n', stderr: '' });
  });

  test('stops a command that needs every record, before it writes anything', async () => {
    await using service = await shapedService(shape);
    const { run, home } = await bindTo(service);
    for (const line of ['pets get Rex', 'inventory export', 'offline pull --yes', 'pets delete Rex --yes']) {
      const { code, stdout, stderr } = await run(line);
      expect([line, code, stdout]).toEqual([line, 2, '']);
      expect(stderr).toContain('this command needs every record, and the list may be incomplete:');
      expect(stderr).toContain('hint: ask the owner of the service for a list');
    }
    const overview = await run('overview');
    expect(overview).toMatchObject(failed(2, 'may be incomplete'));
    const { stderr } = await run('offline pull --yes -o json');
    expect(JSON.parse(stderr).error).toMatchObject({ kind: 'usage', code: 'unbound' });
    expect(readdirSync(home)).not.toContain('store.json');
    expect(service.writes()).toEqual([]);
  });

  test('does not stop an apply, which reads each entry', async () => {
    await using service = await shapedService(shape);
    const { done } = await bindTo(service);
    await done('inventory apply - --yes', { stdin: 'petId,quantity\n5,51\n' });
    expect(service.records('inventory')[4]?.quantity).toBe(51);
  });
});

test('names cannot be looked up in a list that may be cut, which is no error of each row', async () => {
  await using service = await shapedService(cut['a default size and no way to go on'] ?? {});
  const { run } = await bindTo(service);
  const stdin = 'name,category\nRex,Dogs\nMia,Cats\n';
  const created = await run('pets create --from - --skip-invalid --yes', { stdin });
  expect(created).toMatchObject(failed(2, /^error: this command needs every record.*\nhint: .*\n$/));
});

test.each<[string, Shape]>([
  [
    'has a link to its only page',
    {
      parameters: [inQuery('after', { type: 'string' })],
      headers: (_, url) => ({ link: `<${url.pathname}>; rel="first", <${url.pathname}>; rel="last"` }),
    },
  ],
  ['has as many as it says', { list: withTotal }],
  [
    'has as many as its default',
    { parameters: [inQuery('limit', { type: 'integer', default: 5, maximum: 9 })] },
  ],
  ['refuses a page size', { refuses: refusesAbove(0, 422), ...anyLimit }],
])('a list that certainly is whole is read without a warning: it %s', async (_, shape) => {
  await using service = await shapedService(shape);
  const { run, done } = await bindTo(service);
  expect(await run('pets list -o ids')).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n5\n', stderr: '' });
  await done('pets get Pet5 -o ids');
});

test('a list may be cut, and may be asked again, if nothing shows whether it has more', async () => {
  const refuses = refusesAbove(2, 503);
  await using service = await shapedService({ page: twoByDefault, refuses, ...anyLimit });
  const { run } = await bindTo(service);
  expect((await run('pets list -o ids')).stderr).toContain('a request for 3 records failed: ');
  expect(await run('inventory export')).toMatchObject(failed(6, 'the list may be incomplete: a request'));
});

test('a list without ids is read to its end by its links, although pages are alike', async () => {
  const refuses = ({ search }: URL): Reply => ({
    headers:
      search === '?page=3' ? {} : { link: `</orders?page=${search === '?page=2' ? 3 : 2}>; rel="next"` },
    body: [{ petId: 2, quantity: 1 }],
  });
  await using service = await shapedService({ documented: ['Link'], refuses });
  const { done } = await bindTo(service);
  expect(await done('orders list -o csv --no-header')).toBe(',2,1,,\n'.repeat(3));
});

test('a list without ids ends at a page that repeats', async () => {
  const refuses = () => ({ body: [{ petId: 1, quantity: 2 }] });
  await using service = await shapedService({ parameters: numbered, refuses });
  const { run } = await bindTo(service);
  expect(await run('orders list -o csv --no-header')).toMatchObject({ code: 0, stdout: ',1,2,,\n' });
});

test('orders without ids that are alike are no repeated page', async () => {
  const pets = [1, 1, 2, 2, 1, 1, 3, 4, 5];
  await using service = await shapedService({
    parameters: [inQuery('page', { type: 'integer' })],
    refuses: ({ searchParams }) => {
      const from = 4 * Number(searchParams.get('page') ?? 0);
      return { body: pets.slice(from, from + 4).map((petId) => ({ petId, quantity: 2 })) };
    },
  });
  const { done } = await bindTo(service);
  const printed = (await done('orders list -o csv --no-header')).match(/\d(?=,2,)/g);
  expect(printed?.map(Number)).toEqual(pets);
});

test('a list that is answered in parts with 206 is read, and may be cut', async () => {
  await using server = await recordingServer({}, () => ({
    status: 206,
    headers: { 'content-range': 'pets 0-0/2' },
    body: [pet(1)],
  }));
  const list = await runAt(server, 'pets list -o ids --retries 0');
  expect([list.code, list.stdout]).toEqual([0, '1\n']);
  expect(list.stderr).toContain(
    'there may be more records: the header content-range says 2, and the list has 1',
  );
  const named = await runAt(server, 'pets get Rex --retries 0');
  expect(named).toMatchObject(failed(2, 'may be incomplete: the header content-range'));
});

test('a service that takes an unknown page size for a filter is asked once without it', async () => {
  await using server = await recordingServer({}, ({ path }) => ({
    body: path.startsWith('/pets/') ? pet(2) : path.includes('limit=') ? [] : [pet(1), pet(2)],
  }));
  const ids = await runAt(server, 'pets list -o ids');
  expect([ids.code, ids.stdout]).toEqual([0, '1\n2\n']);
  expect(server.calls()).toEqual(['GET /pets?limit=1000', 'GET /pets']);
  expect((await runAt(server, 'pets get Pet2 -o ids')).stdout).toBe('2\n');
});

test('a list that needs a filter is unbound, and --map with its value binds a list that may be cut', async () => {
  const values = { type: 'string', enum: ['available', 'pending', 'sold'] };
  const page: Shape['page'] = (records, url) =>
    url.pathname === '/pets'
      ? records.filter(({ status }) => status === url.searchParams.get('status'))
      : records;
  await using service = await shapedService({
    parameters: [{ ...inQuery('status', values), required: true }],
    page,
  });
  const { run } = await bindTo(service);
  expect(await run('pets list')).toMatchObject(failed(2, 'needs the query parameter status'));
  expect(await run(['api', 'bind', '--map', 'listPets=GET /pets?status=available'])).toMatchObject({
    code: 0,
  });
  const list = await run('pets list -o ids');
  expect([list.code, list.stdout]).toEqual([0, '3\n']);
  expect(list.stderr).toContain('there may be more records: it has only the records with status available');
  const sold = await run('pets list --status sold -o ids');
  expect(sold).toMatchObject({ code: 0, stdout: '2\n5\n', stderr: '' });
  expect(await run('pets delete Pet1 --yes')).toMatchObject(
    failed(2, 'this command needs every record, and the list may be incomplete: it has only the records'),
  );
});

test('a large page that repeats is found at once', { timeout: 20_000 }, async () => {
  const pets = Array.from({ length: 60_000 }, (_, index) => pet(index + 1));
  await using service = await shapedService({ parameters: numbered, refuses: () => ({ body: pets }) });
  const { run } = await bindTo(service);
  expect((await run('pets list -o ids')).stdout.length).toBeGreaterThan(300_000);
});

test.each([{ status: 404 }, { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>' }])(
  'a page that a gateway may have answered with %j does not end a list',
  async (reply) => {
    await using service = await shapedService({
      parameters: numbered,
      page: pagesOfTwo,
      refuses: instead('3', reply),
    });
    const { run } = await bindTo(service);
    expect(await run('pets get Pet5 -o ids')).toMatchObject(failed(6, 'the answer is 404'));
  },
);

test.each<[answer: string, behind: Reply, hasTotal: boolean, note: string]>([
  ...[204, 404, 416].map((status): [string, Reply, boolean, string] => [
    String(status),
    status === 204 ? { status } : refusal(status),
    false,
    '',
  ]),
  ['null', { body: 'null' }, false, ''],
  ['not asked for, as the total is reached', { status: 500 }, true, ''],
  ['the last page again', { body: [pet(5)] }, false, 'note: ?page=4'],
  ['the first page again', { body: [pet(1), pet(2)] }, false, 'note: ?page=4'],
  ['the last records in another cut', { body: [pet(4), pet(5)] }, false, 'note: ?page=4'],
])('a list ends if the page behind the last one is %s', async (_, behind, hasTotal, note) => {
  await using service = await shapedService({
    parameters: numbered,
    page: pagesOfTwo,
    refuses: instead('4', behind),
    ...(hasTotal && { list: withTotal }),
  });
  const { run } = await bindTo(service);
  const { code, stdout, stderr } = await run('pets get Pet5 -o ids');
  expect([code, stdout, stderr]).toEqual([0, '5\n', expect.stringContaining(note)]);
  if (note === '') expect(stderr).toBe('');
});

test.each([
  [null, 0, /^$/],
  [{ data: null, total: 0 }, 0, /^$/],
  [{ data: null, total: 5 }, 0, /^warning: there may be more records: total says 5/],
  [{ data: null, code: 500 }, 6, /^error: the body is not a list of Pet/],
])(
  'a service may answer null in place of an empty list, but not of a failure: %j',
  async (body, code, stderr) => {
    await using service = await shapedService({
      ...(body && { list: (data) => ({ ...body, data }) }),
      refuses: () => ({ body: JSON.stringify(body) }),
    });
    const { run } = await bindTo(service);
    const listed = await run('pets list -o ids');
    expect(listed).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(stderr) });
    expect(await runAt(service, 'pets list --retries 0')).toMatchObject({ code: 6, stdout: '' });
  },
);

test('a list does not end at a page that the service cannot answer', async () => {
  const refuses = instead('2', { status: 500 });
  await using service = await shapedService({ parameters: numbered, page: pagesOfTwo, refuses });
  const { run } = await bindTo(service);
  expect(await run('pets list -o ids')).toMatchObject({
    code: 6,
    stdout: '1\n2\n',
    stderr: expect.stringMatching(/^error: the answer is 500, .*page=2: 500\)\n$/),
  });
});

describe.each([false, true])('a list whose total changes while it is read (in a header: %s)', (isHeader) => {
  /** A record is gone, or a record has come, before the second page is read. */
  const openChanging = async (isGone: boolean) => {
    const later = (all: Parameters<typeof pagesOfTwo>[0], url: URL) => {
      if (!['2', '3'].includes(url.searchParams.get('page') ?? '')) return all;
      return isGone ? all.slice(1) : [...all, { ...all[0], id: 6, petId: 6 }];
    };
    const shape: Shape = {
      parameters: numbered,
      page: (all, url) => pagesOfTwo(later(all, url), url),
      list: (data, _noun, url, all) => (isHeader ? data : { data, total: later(all, url).length }),
      headers: (all, url): Record<string, string> =>
        isHeader ? { 'x-total-count': String(later(all, url).length) } : {},
    };
    const service = await shapedService(shape);
    return { service, ...(await bindTo(service)) };
  };

  test('may lack a record if it fell', async () => {
    const { service, run } = await openChanging(true);
    await using _ = service;
    const why = 'its total fell from 5 to 4 while it was read';
    const list = await run('pets list -o ids');
    expect([list.code, list.stderr]).toEqual([
      0,
      expect.stringContaining(`there may be more records: ${why}`),
    ]);
    expect(await run('inventory export')).toMatchObject(failed(6, `may be incomplete: ${why}`));
  });

  test('is whole if it rose', async () => {
    const { service, run } = await openChanging(false);
    await using _ = service;
    expect(await run('pets list -o ids')).toEqual({ code: 0, stdout: '1\n2\n3\n4\n5\n6\n', stderr: '' });
  });
});

test('a list that is redirected to another path is read to its end', async () => {
  await using server = await recordingServer({}, ({ path }) => {
    if (path.startsWith('/v1/pets?')) return { status: 307, headers: { location: path.slice(3) } };
    const isFirst = !path.includes('after=1');
    return isFirst
      ? { headers: { link: '</pets?after=1>; rel="next"' }, body: [pet(1)] }
      : { body: [pet(2)] };
  });
  const { code, stdout } = await runAt({ ...server, url: `${server.url}/v1` }, 'pets list --limit 5 -o ids');
  expect([code, stdout]).toEqual([0, '1\n2\n']);
});

/** Lists the pets of category 1, unless the request names another category. */
const firstCategory: Shape['page'] = (records, url) =>
  url.pathname === '/pets'
    ? records.filter(({ categoryId }) => categoryId === Number(url.searchParams.get('categoryId') ?? 1))
    : records;

test('a default of a filter with unknown values is a warning for a list, exit 2 for all else', async () => {
  await using service = await shapedService({
    parameters: [inQuery('categoryId', { type: 'integer', default: 1 })],
    page: firstCategory,
  });
  const { run, done } = await bindTo(service);
  const list = await run('pets list -o ids');
  expect(list).toMatchObject({ code: 0, stdout: '2\n4\n' });
  expect(list.stderr).toContain('there may be more records: it has only the records with categoryId 1');
  expect(await run('pets delete Pet2 --yes')).toMatchObject(failed(2, 'needs every record, and'));
  expect(await run('pets list --category 2 -o ids')).toMatchObject({ stdout: '1\n3\n5\n', stderr: '' });
  await done('categories get Dogs -o ids');
});

test('a field that the records lack is an empty column, and its flags are a usage error', async () => {
  const write: Shape['write'] = ({ categoryId, status, shipDate, ...record }) => record;
  await using service = await shapedService({ write });
  const { run, done } = await bindTo(service);
  expect(await done('pets list --limit 1 -o csv')).toBe('id,name,category,status\n1,Pet1,,\n');
  expect(await done('orders get 1 -o csv')).toBe('id,pet,quantity,shipDate,complete\n1,1,1,,false\n');
  service.requests.length = 0;
  for (const line of [
    'pets list --status sold',
    'pets list --category Dogs',
    'orders list --overdue',
    'orders list --due-before 2030-01-01',
    'inventory list --status sold',
    'pets create --name Rex --status sold',
    'pets update 1 --category 2',
    'orders create --pet 1 --quantity 2 --ship-date 2027-01-01',
    'pets create --name Rex --field weight=3',
  ])
    expect({ line, ...(await run(line)) }).toMatchObject({ line, code: 2, stdout: '' });
  expect((await run('pets list --status sold')).stderr).toContain('its records have no field status');
  expect(service.requests).toEqual([]);
  await done('pets create --name Rex');
});

test.each<
  [where: string, page: (count: number) => [link: string, ...ids: number[]], requests: number, why: string]
>([
  ['a next link that was followed before', (count) => ['2', count], 2, 'the link to the next page repeats'],
  ['a page that repeats the one before', (count) => [`${count}`, 1], 2, 'the page repeats earlier records'],
])('a list ends at %s', async (_, page, requests, why) => {
  let count = 0;
  await using server = await recordingServer({}, () => {
    count += 1;
    const [next, ...ids] = page(count);
    return { body: ids.map(pet), headers: { link: `</pets?page=${next}>; rel="next"` } };
  });
  const { code, stderr } = await runAt(server, 'pets list -o ids --retries 0');
  expect([code, server.requests.length]).toEqual([6, requests]);
  expect(stderr).toContain(why);
});

test('a page of 150,000 categories is read', async () => {
  const categories = Array.from({ length: 150_000 }, (_, id) => ({ id, name: `Kind ${id}` }));
  await using server = await recordingServer({ '/categories': categories }, () => ({ body: [] }));
  const run = await runAt(server, ['pets', 'list', '--category', 'kind 149999']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(server.calls()).toContain('GET /pets?categoryId=149999&limit=1000');
});

// The name and the type of a parameter decide its role in a list. A parameter has at most one, and a role at most one.

const text = { type: 'string' };
/** Types that give a parameter no role, whatever its name is. */
const strange = [
  { ...text, format: 'date' },
  { ...text, format: 'date-time' },
  { type: 'array', items: { ...text, format: 'date' } },
  { type: 'integer', enum: [10, 20] },
  { type: 'boolean' },
];

test.each<[what: string, Shape, queries: readonly string[]]>([
  [
    'a constant',
    { parameters: [inQuery('api-version', { ...text, enum: ['2'] }, { required: true })] },
    ['api-version'],
  ],
  ...strange.map((schema, at): [string, Shape, string[]] => [
    `names of another type, ${at}`,
    {
      parameters: ['limit', 'size', 'count', 'page', 'offset', 'cursor', 'after', 'status', 'petId'].map(
        (name) => inQuery(name, schema),
      ),
    },
    [],
  ]),
])('a list is read to its end with %s, and no other parameter is sent', async (_, shape, queries) => {
  await using service = await shapedService(shape);
  const { run } = await bindTo(service);
  for (const [line, ids] of [
    ['pets list -o ids', '1\n2\n3\n4\n5\n'],
    ['pets list --status sold -o ids', '2\n5\n'],
    ['pets get Pet5 -o ids', '5\n'],
  ])
    expect({ line, ...(await run(line ?? '')) }).toMatchObject({ line, code: 0, stdout: ids, stderr: '' });
  const lists = service.calls().filter((call) => /^GET \/\w+(\?|$)/.test(call));
  const sent = lists.flatMap((call) => [...new URL(call.slice(4), 'http://x').searchParams.keys()]);
  expect([...new Set(sent)].sort()).toEqual(queries);
});

test.each([
  ['that pages, behind a gateway that drops its links,', (after: number) => after, 2500, 0],
  ['that pages, behind a gateway that drops the second link,', (after: number) => after, 2500, 1000],
  ['that does not page', () => 0, 1000, 0],
])('a full page without a link of a service %s ends no list', async (_, startOf, total, linked) => {
  const stock = Array.from({ length: total }, (__, at) => ({
    petId: at + 1,
    quantity: 1,
    status: 'available',
  }));
  await using server = await recordingServer({}, ({ path }) => {
    const start = startOf(Number(new URL(path, 'http://x').searchParams.get('after') ?? 0));
    const link =
      start < linked ? `</store/inventory?limit=1000&after=${start + 1000}>; rel="next"` : undefined;
    return { headers: { link }, body: stock.slice(start, start + 1000) };
  });
  const { code, stdout } = await runAt(server, 'inventory export');
  expect([code, stdout.trim().split('\n').length]).toEqual([0, total + 1]);
});

test('a later page is asked for with the parameters as the first one has them', async () => {
  const parameters = [...numbered, inQuery('zone', { type: 'string' })];
  const maps = ['listPets=GET /pets?zone=in%20stock'];
  await using service = await shapedService({ parameters, page: pagesOfTwo });
  const { run } = await bindTo(service, service.description, { maps });
  await run('pets list');
  const calls = service.calls().filter((call) => call.startsWith('GET /pets?'));
  expect(calls.length).toBeGreaterThan(2);
  expect(calls.filter((call) => !call.includes('zone=in%20stock'))).toEqual([]);
});

test('a count that changes moves no record to another page', async () => {
  const page: Shape['page'] = (all, { searchParams }) => {
    const end = 2 * Math.min(Number(searchParams.get('page') ?? 1), 3);
    const count = service.requests.length;
    return all.slice(end - 2, end).map((item) => (item.petId === 1 ? { ...item, quantity: count } : item));
  };
  await using service = await shapedService({ parameters: numbered, page });
  const { done } = await bindTo(service);
  expect((await done('inventory export')).split('\n')).toHaveLength(7);
});

test.each([
  ['the first two pages of an open number', [inQuery('page', { type: 'integer' })], 1, 1, '1,2,3,3,4,5,6'],
  ['later pages, so that one repeats,', numbered, 2, 3, '1,2,3,4,5,6'],
])('a change between %s is reported', async (_, parameters, pages, inserted, ids) => {
  let asked = 0;
  const page: Shape['page'] = (_, { searchParams }) => {
    const end = 3 * Number(searchParams.get('page') ?? 1);
    asked += 1;
    const before = asked > pages ? [7, 8, 9].slice(0, inserted) : [];
    return [...before, 1, 2, 3, 4, 5, 6].slice(end - 3, end).map(pet);
  };
  await using service = await shapedService({ parameters, page });
  const { run } = await bindTo(service);
  const { stdout, stderr } = await run('pets list -o ids');
  expect(stdout.trim().replaceAll('\n', ',')).toBe(ids);
  expect(stderr).toContain('there may be more records: it has changed while it was read');
  asked = 0;
  expect((await run('pets list -o ids --fail-if none')).code).toBe(6);
});
