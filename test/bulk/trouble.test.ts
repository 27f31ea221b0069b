import { expect, test, vi } from 'vitest';
import { refusal } from '../helpers/recording-server.ts';
import { type StockServer, shelves, toCsv, trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

// The reasons that stop a run, and its pace.

/** A service and a file that changes all of its counts, and the words that do so. */
async function shopOf(count: number) {
  const shop = await stockShop(shelves(count, 5), { 'stock.csv': toCsv(shelves(count, 6)) });
  const apply = (...words: string[]) => shop.report(['inventory', 'apply', 'stock.csv', '--yes', ...words]);
  return Object.assign(shop, { apply });
}

const oneByOne = ['--concurrency', '1', '--retries', '0'];

interface Stop {
  readonly what: string;
  readonly begin: (server: StockServer) => void;
  readonly words?: readonly string[];
  readonly summary: Readonly<Record<string, unknown>>;
  readonly stderr?: RegExp;
}

const stops: readonly Stop[] = [
  {
    what: 'a Retry-After over two minutes',
    begin: (shop) =>
      trouble(shop, (_, __, all) => (all > 10 ? 429 : undefined), { headers: { 'retry-after': '3600' } }),
    words: [],
    summary: { code: 6, applied: 10, failed: 0, next: 'petstore resume r1' },
    stderr: /asks to wait 60 min, longer than 2 min/,
  },
  ...(
    [
      [401, [], /"hint":"give a token in .*; then continue with: petstore resume /],
      [403, [], /"hint":"give a token in /],
      [
        401,
        ['--header', 'authorization: Bearer s3cret'],
        /still valid; then continue with: petstore resume /,
      ],
    ] as const
  ).map(([status, words, stderr]) => ({
    what: `a ${status} ${words[0] ?? 'without a token'}`,
    begin: (shop: StockServer) => trouble(shop, (_, __, all) => (all > 30 ? status : undefined)),
    words: [...oneByOne, ...words],
    summary: { code: 4, applied: 30, failed: 1, unprocessed: 69 },
    stderr,
  })),
  {
    what: 'a 403 page of a gateway',
    begin: (shop) => {
      const headers = { 'content-type': 'text/html' };
      const page = { status: 403, headers, body: '<title>403 Forbidden</title>' };
      shop.misbehave = ({ method }) => (method === 'PUT' ? page : undefined);
    },
    summary: { code: 6, unknown: 1, unprocessed: 99 },
    stderr: /the answer is 403 with text\/html: 403 Forbidden/,
  },
  {
    what: 'a redirect',
    begin: (shop) => trouble(shop, () => 307),
    summary: { code: 1, failed: 1, unknown: 0, unprocessed: 99, left: 99 },
  },
  {
    what: 'a redirect of which nobody knows what it did',
    begin: (shop) => trouble(shop, () => 301),
    summary: { code: 6, failed: 0, unknown: 1, unprocessed: 99 },
  },
  {
    what: '--max-errors',
    begin: (shop) => trouble(shop, () => 409),
    words: ['--max-errors', '5', ...oneByOne],
    summary: { code: 1, failed: 5, unprocessed: 95 },
  },
  {
    what: '--max-errors for unknown rows',
    begin: (shop) => trouble(shop, () => 'lost'),
    words: ['--max-errors', '3', ...oneByOne],
    summary: {
      code: 3,
      failed: 0,
      unknown: 3,
      unprocessed: 97,
      stopped: '3 writes have failed or are unknown, which is the limit of --max-errors',
    },
  },
  {
    what: 'a service that is gone',
    begin: (shop) => {
      shop.misbehave = ({ method }) => {
        if (method !== 'PUT') return undefined;
        // Later connections are refused: those rows are failed, not unknown.
        void shop[Symbol.asyncDispose]();
        return 'reset';
      };
    },
    words: [...oneByOne, '--timeout', '200ms'],
    summary: { code: 6, unknown: 1, applied: 0 },
    stderr: /\d+ attempts in a row got no answer/,
  },
  ...(['whatever is tried again', 'although readings are answered'] as const).map((readings) => ({
    what: `a gateway that finds nobody, ${readings}`,
    begin: (shop: StockServer) => {
      const isGone = (method: string) => readings === 'whatever is tried again' || method === 'PUT';
      shop.misbehave = ({ method }) =>
        shop.writes().length > 0 && isGone(method) ? refusal(502) : undefined;
    },
    words: ['--concurrency', '8', '--timeout', '1s'],
    summary: { code: 6, applied: 0, failed: 0 },
    stderr: /\d+ attempts in a row got no answer/,
  })),
];

test.each(stops)(
  'a run is stopped at once by $what',
  async ({ begin, words = oneByOne, summary, stderr = /./ }) => {
    await using shop = await shopOf(100);
    begin(shop);
    const found = await shop.apply(...words);
    expect(found).toMatchObject(summary);
    expect(found.stderr).toMatch(stderr);
  },
);

test('a gateway that is away for a moment stops no run', async () => {
  await using shop = await shopOf(100);
  let backAt = Number.POSITIVE_INFINITY;
  shop.misbehave = ({ at }) => {
    if (shop.writes().length < 20) return undefined;
    if (backAt === Number.POSITIVE_INFINITY) backAt = at + 700;
    return at < backAt ? refusal(502) : undefined;
  };
  // The delays are the same each time, and short.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.1);
  const words = ['--concurrency', '8', '--retries', '8', '--timeout', '5s'];
  expect(await shop.apply(...words)).toMatchObject({ code: 0, applied: 100 });
  random.mockRestore();
});

test('never has two requests for one pet at once, nor more than --concurrency', async () => {
  await using shop = await shopOf(40);
  shop.misbehave = async ({ method, petId }) => {
    await new Promise((resolve) => setTimeout(resolve, Number(petId) % 5));
    const isFirst = shop.writes().filter((each) => each.petId === petId).length === 1;
    return method === 'PUT' && isFirst && Number(petId) % 8 === 0
      ? refusal(503, { 'retry-after': '0' })
      : undefined;
  };
  expect(await shop.apply('--concurrency', '12')).toMatchObject({ code: 0, applied: 40 });
  expect(shop.mostForOnePet).toBe(1);
  expect(shop.mostAtOnce).toBeGreaterThan(1);
  expect(shop.mostAtOnce).toBeLessThanOrEqual(12);
});

test.each([
  ['the list of the plan', 0],
  ['all workers', 50],
])('pauses %s for as long as the service asks, without a warning of Node', async (_, writes) => {
  await using shop = await shopOf(200);
  const warnings: string[] = [];
  const listen = ({ name }: Error) => warnings.push(name);
  process.on('warning', listen);
  let askedAt = 0;
  shop.misbehave = ({ at }) => {
    if (askedAt !== 0 || shop.writes().length < writes) return undefined;
    askedAt = at;
    return refusal(429, { 'retry-after': '3' });
  };
  // The pause is longer than the time that one request may take.
  const words = ['--timeout', '2500ms', '--concurrency', '16'];
  expect(await shop.apply(...words)).toMatchObject({ code: 0, applied: 200 });
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

test('keeps to --rate, every request counted, and never sends two at once after a pause', async () => {
  await using shop = await stockShop([], { 'stock.csv': toCsv(shelves(10, 6)) });
  shop.misbehave = () => (shop.requests.length === 20 ? refusal(429, { 'retry-after': '0' }) : undefined);
  const words = ['inventory', 'apply', 'stock.csv', '--yes', '--rate', '100', '--create-missing'];
  expect(await shop.report(words)).toMatchObject({ code: 0, applied: 10 });
  const times = shop.requests.map(({ at }) => at);
  const duration = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // A hundred requests a second. A timer may fire a little early.
  expect(duration).toBeGreaterThan((times.length - 1) * 9);
});
