import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { shelves, toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { ctrlC, plainText, startInTerminal } from '../helpers/terminal.ts';
import { testWith } from '../helpers/tools.ts';

const test = testWith('script');

const rows = 96;

/** A person in a terminal, who applies a file that changes every count from 1 to 5; writes take a while. */
async function seat(ms: number, words: readonly string[] = []) {
  const shop = await stockShop(shelves(rows, 1), { 'stock.csv': toCsv(shelves(rows, 5)) });
  shop.misbehave = async ({ method }) => {
    if (method === 'PUT') await sleep(ms);
    return undefined;
  };
  const argv = ['inventory', 'apply', 'stock.csv', ...words];
  const terminal = startInTerminal(argv, { env: shop.env, cwd: shop.folder, columns: 80 });
  return Object.assign(shop, { terminal });
}

test('a terminal shows the plan, a question, a bar during the writes, and the summary', async () => {
  await using shop = await seat(40);
  const { terminal } = shop;
  await terminal.until(`Set ${rows} counts on ${shop.url}?`);
  expect(shop.writes()).toEqual([]);
  terminal.press('y\r');
  await terminal.until('applying');
  const { code, drawn } = await terminal.ended;
  expect(code).toBe(0);
  const text = plainText(drawn);
  expect(text).toContain('│ petId │ before │ after │ change │\n');
  expect(text).toContain(`│    20 │      1 │     5 │     +4 │\n`);
  expect(text).toContain(
    `and ${rows - 20} more; --dry-run shows all of them\nplan: 96 of 96 rows to write: +384\n`,
  );
  expect(text).toMatch(/\rapplying {2}━*─* {2}\d+\/96 rows {2}/);
  // Each drawing stays on its line, and the last one is erased before anything else is written.
  const bars = drawn.split('\r\x1b[K').filter((part) => part.includes('applying'));
  const done = bars.map((bar) => Number(/(\d+)\/96 rows/.exec(plainText(bar))?.[1]));
  expect(done).toEqual(done.toSorted((one, other) => one - other));
  expect(done[0]).toBeLessThan(done.at(-1) ?? 0);
  for (const bar of bars) expect(plainText(bar).trimEnd().length).toBeLessThan(78);
  expect(drawn.slice(drawn.lastIndexOf('applying'))).toMatch(/^[^\n]*\r\x1b\[K/);
  expect(text.slice(text.lastIndexOf('applying'))).toContain(`applied ${rows} of ${rows} rows in `);
});

test.each([
  ['n\r', 2],
  ['\r', 2],
  [ctrlC, 130],
])('writes nothing where %j is the answer', async (keys, expected) => {
  await using shop = await seat(0);
  const { terminal } = shop;
  await terminal.until('(y/N)');
  terminal.press(keys);
  expect((await terminal.ended).code).toBe(expected);
  expect(shop.writes()).toEqual([]);
  expect((await shop.run('runs -o ids')).stdout).toBe('');
});

test('Ctrl-C waits for what is in flight; a second one stops at once, and rows in flight are unknown, not rejects', async () => {
  await using shop = await seat(60_000, ['--yes']);
  const { terminal } = shop;
  await terminal.until('applying');
  terminal.press(ctrlC);
  await terminal.until('10 s for requests in flight; a second signal ends at once\r\n');
  const second = performance.now();
  terminal.press(ctrlC);
  const { code, drawn } = await terminal.ended;
  expect(performance.now() - second).toBeLessThan(5000);
  expect(code).toBe(130);
  // Until the first row is seen to be stored, no other goes out.
  expect(plainText(drawn)).toMatch(
    /1 unknown, 95 unprocessed\n.*\nhint: continue with: petstore resume r1\n$/s,
  );
  expect(shop.files()).not.toContain('stock.rejects.csv');
});
