import { expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { failed, fakeIo, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const list = (flags: string) => runCli(`--offline pets list ${flags}`);

test.each([
  ['pets', 'id,name,category,status\n1,Bella,Dogs,available\n'],
  ['categories', 'id,name,description\n1,Dogs,Puppies and grown dogs of every size\n'],
  ['orders', 'id,pet,quantity,shipDate,complete\n1,5,1,2026-03-02T09:00:00Z,true\n'],
  ['inventory', 'petId,quantity,status\n1,1,available\n'],
])('%s list has its own columns', async (noun, expected) => {
  expect((await runCli(`--offline ${noun} list --limit 1 -o csv`)).stdout).toBe(expected);
});

test('list shows categoryId if --fields names it, and lists the fields there are', async () => {
  const { stdout } = await list('--limit 1 --fields categoryId,name -o csv');
  expect(stdout).toBe('categoryId,name\n1,Bella\n');
  expect((await list('--fields help')).stdout).toBe('id\nname\ncategory\nstatus\ncategoryId\n');
});

type Fields = Readonly<Record<string, unknown>>;

test.each<[string, string, (record: Fields) => boolean]>([
  ['pets', '--status sold', ({ status }) => status === 'sold'],
  ['pets', '--status Sold', ({ status }) => status === 'sold'],
  ['pets', '--status sold,pending', ({ status }) => status !== 'available'],
  ['pets', '--status sold --status pending', ({ status }) => status !== 'available'],
  ['pets', '--category 2', ({ categoryId }) => categoryId === 2],
  ['pets', '--category cats', ({ categoryId }) => categoryId === 2],
  ['pets', '--name LU', ({ name }) => String(name).toLowerCase().includes('lu')],
  ['orders', '--open', ({ complete }) => complete !== true],
  ['orders', '--complete', ({ complete }) => complete === true],
  ['orders', '--pet 4', ({ petId }) => petId === 4],
  ['inventory', '--status sold --status pending', ({ status }) => status !== 'available'],
  [
    'inventory',
    '--below 2 --status available',
    ({ quantity, status }) => Number(quantity) < 2 && status === 'available',
  ],
])('%s list %s prints the records that match, and no others', async (noun, flags, matches) => {
  const shop = openShop();
  const all = (await shop.json(`${noun} list`)) as Fields[];
  const some = await shop.json(`${noun} list ${flags}`);
  expect(some).toEqual(all.filter(matches));
  expect(some).not.toEqual([]);
  expect(some).not.toEqual(all);
});

test('list applies --limit after --sort, and after a filter of its own', async () => {
  expect((await list('--sort -id --limit 2 -o ids')).stdout).toBe('25\n24\n');
  const named = await list('--name L --limit 2 -o csv --fields name');
  expect(named.stdout).toBe('name\nBella\nLuna\n');
  const low = await runCli('--offline inventory ls --below 1 --limit 2 -o ids');
  expect(low.stdout.trim().split('\n')).toHaveLength(2);
});

/** Makes it the last minute of a day for the rest of the test. */
function setToday(day: string): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${day}T23:59:00Z`) });
  onTestFinished(() => void vi.useRealTimers());
}

test.each([
  ['today', '2027-02-28'],
  ['tomorrow', '2027-03-01'],
  ['+3d', '2027-03-03'],
  ['+1w', '2027-03-07'],
  ['2027-02-27', '2027-02-27'],
])('--ship-date %s is the first moment of a day in UTC', async (text, day) => {
  setToday('2027-02-28');
  const run = await runCli(
    `--offline orders create --pet 3 --quantity 1 --ship-date ${text} --dry-run -o json`,
  );
  expect(JSON.parse(run.stdout).body).toEqual({ petId: 3, quantity: 1, shipDate: `${day}T00:00:00Z` });
});

test.each([
  ['--overdue', '1\n'],
  ['--due-before tomorrow', '1\n3\n'],
  ['--due-before +2w', '1\n3\n4\n'],
])('orders list %s has the open orders that ship before a day', async (flags, ids) => {
  setToday('2027-02-28');
  vi.stubEnv('TZ', 'Pacific/Chatham');
  onTestFinished(() => void vi.unstubAllEnvs());
  const orders = [
    { id: 1, shipDate: '2027-02-27T23:59:59Z' },
    { id: 2, shipDate: '2027-02-27T00:00:00Z', complete: true },
    // Without an offset, in UTC.
    { id: 3, shipDate: '2027-02-28T00:00:00' },
    { id: 4, shipDate: '2027-03-03T00:00:00Z' },
    { id: 5 },
  ];
  await using server = await recordingServer({ '/store/orders': orders });
  expect((await runAt(server, `orders list ${flags} -o ids`)).stdout).toBe(ids);
});

const bodies: Readonly<Record<string, readonly object[]>> = {
  '/pets': [
    { id: 1, name: 'A', categoryId: 1 },
    { id: 2, name: 'B', categoryId: 2, status: 'sold' },
    { id: 3, name: 'C', categoryId: 2, status: 'pending' },
  ],
  '/store/orders': [{ id: 1, petId: 1, complete: true }, { id: 2, petId: 2, complete: false }, { id: 3 }],
  '/store/inventory': [
    { petId: 4, quantity: 1, status: 'available' },
    { petId: 5, quantity: 9, status: 'sold' },
  ],
};

test.each([
  ['pets list --status sold', '/pets?status=sold&limit=1000', '2'],
  ['pets list --status available', '/pets?status=available&limit=1000', '1'],
  ['pets list --category 2 --limit 1', '/pets?categoryId=2&limit=1', '2'],
  ['pets list --category 9007199254740993', '/pets?categoryId=9007199254740993&limit=1000', ''],
  ['orders list --complete', '/store/orders?complete=true&limit=1000', '1'],
  ['orders list --open', '/store/orders?complete=false&limit=1000', '2 3'],
  ['orders list --pet 2', '/store/orders?petId=2&limit=1000', '2'],
  ['inventory list --status sold', '/store/inventory?status=sold&limit=1000', '5'],
])('list filters here if the service ignores its own filters: %s', async (words, path, ids) => {
  await using server = await recordingServer(bodies);
  const run = await runAt(server, `${words} -o ids`);
  expect(run).toMatchObject({ code: 0, stdout: ids.replace(/(\d+) ?/g, '$1\n') });
  expect(server.requests[0]?.path).toBe(path);
});

test.each([
  ['pets list --fail-if any', 8],
  ['pets list --fail-if none', 0],
  ['pets list --name nobody --fail-if none', 8],
  ['pets list --name nobody --fail-if any', 0],
  ['orders list --open --fail-if none --limit 1', 0],
  ['inventory list --below 0 --fail-if none', 8],
])('%s exits %i, and the list is printed', async (line, code) => {
  const { stdout } = await runCli(`--offline ${line.replace(/ --fail-if \w+/, '')}`);
  expect(await runCli(`--offline ${line}`)).toEqual({ code, stdout, stderr: '' });
});

const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const max = { ...bella, name: 'Max' };

/** Watches a list on a terminal, gives each poll the next answer, and presses Ctrl-C when `until` is on the screen. */
async function watch(answers: readonly Reply[], until: string, words: readonly string[] = []) {
  let polls = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith(words.length > 0 ? '/categories' : '/pets')) return { body: [] };
    polls += 1;
    return answers[Math.min(polls, answers.length) - 1] ?? {};
  });
  const io = fakeIo({ terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1' } });
  const ended = main(
    ['pets', 'list', ...words, '--watch', '1s', '--retries', '0', '--base-url', server.url],
    io,
  );
  await vi.waitUntil(() => io.written('stdout').includes(until), { timeout: 9000 });
  io.raise('SIGINT');
  const code = await ended;
  return { code, stderr: io.written('stderr'), screens: io.written('stdout').split('\x1b[2J\x1b[H') };
}

test.concurrent('--watch prints the table again with its time, and exits 130 at Ctrl-C', async () => {
  const { code, stderr, screens } = await watch([{ body: [bella] }, { body: [max] }], 'Max');
  expect([code, stderr]).toEqual([130, '']);
  const [, first = '', second = ''] = screens;
  expect(first).toMatch(/^pets of http:\S+ at \d\d:\d\d:\d\d, every 1 s\n┌.*Bella.*┘\n$/s);
  expect(second).toMatch(/^pets of .*Max.*┘\n\n$/s);
});

test.concurrent('a failed poll prints its cause below the table, and the next poll comes', async () => {
  const { screens } = await watch([{ body: [bella] }, { status: 500 }, { body: [max] }], 'Max');
  expect(screens[1]).toMatch(/Bella.*┘\n\d\d:\d\d:\d\d: .*500.*\n$/s);
  // The cause is gone.
  expect(screens[2]).toMatch(/^pets of .*Max.*┘\n\n$/s);
});

test.concurrent('a name that could not be looked up is looked up again in the next poll', async () => {
  const categories = [{ status: 500 }, { body: [{ id: 1, name: 'Dogs' }] }];
  const { screens } = await watch(categories, 'pets of', ['--category', 'Dogs']);
  expect(screens.at(-1)).toMatch(/^pets of /);
});

test('on a dumb terminal --watch is a usage error, and sends nothing', async () => {
  await using server = await recordingServer({});
  expect(
    await runAt(server, 'pets list --watch', { terminals: ['stdout'], env: { TERM: 'dumb' } }),
  ).toMatchObject(failed(2, /^error: --watch .*\nhint: run the command in a loop/));
  expect(server.requests).toEqual([]);
});
