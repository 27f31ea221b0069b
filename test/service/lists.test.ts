import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { recordingServer, type Seen } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { type Shape, shapedService } from '../helpers/shaped-service.ts';

// A list is read to its end, or it is said that it may be cut; and it ends.

const folder = mkdtempSync(join(tmpdir(), 'petstore-lists-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function bound(shape: Shape) {
  const service = await shapedService(shape);
  const home = mkdtempSync(join(folder, 'home-'));
  const env = {
    PETSTORE_CONFIG_DIR: home,
    PETSTORE_STATE_DIR: join(home, 'state'),
    PETSTORE_OFFLINE_STORE: join(home, 'store.json'),
    PETSTORE_BASE_URL: service.url,
  };
  const run = async (line: string, stdin = '') => {
    const { stderr, ...result } = await runCli([...line.split(' '), '--retries', '0'], { env, stdin });
    return { ...result, stderr, words: stderr.replace(/\s+/g, ' ') };
  };
  expect(await run('api bind')).toMatchObject({ code: 0 });
  service.seen.length = 0;
  return { service, run, home };
}

const firstTwo: Shape['page'] = (records) => records.slice(0, 2);
const inQuery = (name: string, schema: object) => ({ name, in: 'query', schema });

/** Lists of five that are cut after two, in ways that no request can go beyond. */
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
  'an envelope that says how many there are': {
    page: firstTwo,
    list: (data, _noun, _url, all) => ({ data, total: all.length }),
  },
  'an envelope that says that there are more': { page: firstTwo, list: (data) => ({ data, hasMore: true }) },
};

describe.each(Object.entries(cut))('a list that is cut, by %s', (_, shape) => {
  test('is printed with a warning, in text and in JSON', async () => {
    const { service, run } = await bound(shape);
    const listed = await run('pets list -o ids');
    expect(listed).toMatchObject({ code: 0, stdout: '1\n2\n' });
    expect(listed.words).toContain('warning: listPets: there may be more records:');
    expect((await run('pets list --limit 2 -o ids')).words).not.toContain('listPets');
    const failed = await run('pets list --fields id,name -o json --fail-if none --name nobody');
    expect(failed.code).toBe(8);
    expect(failed.words).toContain('there may be more records');
    await service[Symbol.asyncDispose]();
  });

  test('is refused where every record is needed: exit 2, the reason, and nothing written', async () => {
    const { service, run, home } = await bound(shape);
    for (const line of ['pets get Pet9', 'inventory export', 'offline pull', 'pets delete Pet9 --yes']) {
      const { code, stdout, words } = await run(line);
      expect({ line, code, stdout }).toEqual({
        line,
        code: 2,
        stdout: line === 'inventory export' ? stdout : '',
      });
      expect(words).toContain('this needs every record, and the list may be cut:');
    }
    const error = JSON.parse(
      (await run('offline pull -o json')).stderr.trim().split('\n').at(-1) ?? '',
    ).error;
    expect(error).toMatchObject({ kind: 'usage', code: 'unbound' });
    expect(readdirSync(home)).not.toContain('store.json');
    expect(service.writes()).toEqual([]);
    await service[Symbol.asyncDispose]();
  });

  test('is missing in the overview, and no hindrance to an apply that can read each entry', async () => {
    const { service, run } = await bound(shape);
    const applied = await run('inventory apply - --yes', 'petId,quantity\n5,51\n');
    expect({ code: applied.code, why: applied.code === 0 ? '' : applied.stderr }).toEqual({
      code: 0,
      why: '',
    });
    expect(service.records.inventory[4]?.quantity).toBe(51);
    const overview = await run('overview');
    expect(overview.code).toBe(2);
    expect(overview.words).toContain('may be cut');
    await service[Symbol.asyncDispose]();
  });
});

test.each<[string, Shape]>([
  [
    'is shorter than the stated maximum',
    {
      parameters: [inQuery('cursor', { type: 'string' }), inQuery('limit', { type: 'integer', maximum: 50 })],
    },
  ],
  ['has as many as it says', { list: (data, _noun, _url, all) => ({ data, total: all.length }) }],
])('a list that certainly is whole is read without a warning: it %s', async (_, shape) => {
  const { service, run } = await bound(shape);
  expect(await run('pets list -o ids')).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n5\n', stderr: '' });
  expect(await run('pets get Pet5 -o ids')).toMatchObject({ code: 0 });
  await service[Symbol.asyncDispose]();
});

test('a filter that is required, or has a default, is asked for each of its values', async () => {
  const values = { type: 'string', enum: ['available', 'pending', 'sold'] };
  for (const parameter of [
    { ...inQuery('status', values), required: true },
    inQuery('status', { ...values, default: 'available' }),
  ]) {
    const page: Shape['page'] = (records, url) =>
      url.pathname === '/pets' && !url.searchParams.has('status')
        ? records.filter(({ status }) => status === 'available')
        : records;
    const { service, run } = await bound({ parameters: [parameter], page });
    expect((await run('pets list --sort id -o ids')).stdout).toBe('1\n2\n3\n4\n5\n');
    expect((await run('pets list --status sold -o ids')).stdout).toBe('2\n5\n');
    expect(service.calls().filter((call) => call.startsWith('GET /pets'))).toEqual(
      ['available', 'pending', 'sold', 'sold'].map((status) => `GET /pets?status=${status}`),
    );
    await service[Symbol.asyncDispose]();
  }
});

test('a field that the records lack is an empty column, and its flags are exit 2 before any request', async () => {
  const write: Shape['write'] = ({ categoryId, status, shipDate, ...record }, noun) =>
    noun === 'inventory' ? { ...record, status: status ?? null } : record;
  const { service, run } = await bound({ write });
  expect((await run('pets list --limit 1 -o csv')).stdout).toBe('id,name,category,status\n1,Pet1,,\n');
  expect((await run('orders get 1 -o csv')).stdout).toBe('id,pet,quantity,shipDate,complete\n1,1,1,,false\n');
  service.seen.length = 0;
  for (const line of [
    'pets list --status sold',
    'pets list --category 1',
    'pets create --name Rex --status sold',
    'pets update 1 --category 2',
    'orders create --pet 1 --ship-date 2027-01-01',
    'pets create --name Rex --field weight=3',
  ])
    expect({ line, ...(await run(line)) }).toMatchObject({ line, code: 2, stdout: '' });
  expect(service.seen).toEqual([]);
  expect(await run('pets create --name Rex')).toMatchObject({ code: 0 });
  await service[Symbol.asyncDispose]();
});

describe('a list ends', () => {
  const pet = (id: number) => ({ id, name: `Pet${id}`, categoryId: 1, status: 'sold' });
  const run = async (answer: (seen: Seen, count: number) => { body: unknown; link?: string }) => {
    let count = 0;
    await using server = await recordingServer({}, (seen) => {
      count += 1;
      const { body, link } = answer(seen, count);
      return { body, headers: link === undefined ? {} : { link: `<${link}>; rel="next"` } };
    });
    const argv = ['pets', 'list', '-o', 'ids', '--base-url', server.url, '--retries', '0'];
    const { code, stderr } = await runCli(argv);
    return { code, why: stderr.replace(/\s+/g, ' '), requests: server.seen.length };
  };

  test('at a next link that was followed before', async () => {
    const { code, why, requests } = await run((_, count) => ({ body: [pet(count)], link: '/pets?page=2' }));
    expect([code, requests]).toEqual([6, 2]);
    expect(why).toContain('the link to the next page repeats');
  });

  test('at a page that repeats the one before', async () => {
    const { code, why, requests } = await run((_, count) => ({
      body: [pet(1)],
      link: `/pets?page=${count}`,
    }));
    expect([code, requests]).toEqual([6, 2]);
    expect(why).toContain('the page repeats the one before');
  });

  test('at ids that do not grow, if our own contract orders them', async () => {
    const { code, why, requests } = await run((_, count) => ({
      body: [pet(10 - count), pet(100)],
      link: `/pets?page=${count}`,
    }));
    expect([code, requests]).toEqual([6, 2]);
    expect(why).toContain('a page after id 100 begins with id 8');
  });

  test('at a thousand empty pages', async () => {
    const { code, why, requests } = await run((_, count) => ({ body: [], link: `/pets?page=${count}` }));
    expect([code, requests]).toEqual([6, 1001]);
    expect(why).toContain('more than 1000 empty pages in a row');
  }, 30_000);
});
