import { expect, test } from 'vitest';
import { runTyping } from '../helpers/person.ts';
import { failed } from '../helpers/run-cli.ts';
import { delayWrites, shelves, toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { ctrlC, plainText, startInTerminal } from '../helpers/terminal.ts';
import { testWith } from '../helpers/tools.ts';

const apply = 'inventory apply stock.csv --yes';

test('a run that is declined, stopped by a guard, dry or without a row leaves no journal', async () => {
  await using shop = await stockShop([5, 5, 5], {
    'stock.csv': toCsv([6, 6, 6]),
    'same.csv': toCsv([5]),
    'none.csv': 'petId,quantity\n',
  });
  const options = { env: shop.env, cwd: shop.folder };
  expect((await runTyping(['inventory', 'apply', 'stock.csv'], [['(y/N)', 'n\r']], options)).code).toBe(2);
  const unasked = await shop.report('inventory apply stock.csv');
  expect(unasked).toMatchObject({ code: 2, error: { code: 'confirmation_needed' } });
  expect(await shop.report(`${apply} --max-changes 1`)).toMatchObject({ code: 2, error: { code: 'guard' } });
  expect((await shop.run(`${apply} --dry-run`)).code).toBe(0);
  expect((await shop.run('inventory apply none.csv')).code).toBe(0);
  expect((await shop.run('runs -o json')).stdout).toBe('[]\n');
  // A file that changes nothing asks nothing, and is a run.
  expect(await shop.report('inventory apply same.csv')).toMatchObject({ code: 0, unchanged: 1, id: 'r1' });
  expect(shop.writes()).toEqual([]);
});

test.each([
  ["--fields: runs have no field 'petId'; they have id, ", `${apply} --fields petId`],
  ["--sort: runs have no field 'nothing'; they have id, ", `${apply} --sort nothing`],
  ["--fields: rows have no field 'applied'; they have petId, ", `${apply} --dry-run --fields applied`],
  ["--fields: rows have no field 'applied'; they have petId, ", 'inventory diff stock.csv --fields applied'],
  ['--thousands and --decimal cannot both be .', `${apply} --thousands . --decimal .`],
  ['--again: only with --relative', `${apply} --again`],
  ['--delivery: only with --relative', `${apply} --delivery LS-1`],
  ["--delivery '': must not be empty", [...apply.split(' '), '--relative', '--delivery', '']],
  ['--with-expected: --fields leaves out its column', 'inventory export --with-expected --fields petId'],
  ['empty.csv: the file is empty', 'inventory apply empty.csv --yes'],
  ['nowhere.csv: no such file', 'inventory apply nowhere.csv --yes'],
])('refuses before any request: %s', async (why, words) => {
  await using shop = await stockShop([5, 5], { 'stock.csv': toCsv([6, 6]), 'empty.csv': '' });
  expect(await shop.run(words)).toMatchObject(failed(2, `error: ${why}`));
  expect(shop.requests).toEqual([]);
});

test('without a service it says so, before it reads the file', async () => {
  await using shop = await stockShop([], {});
  expect(await shop.run(apply, { env: { PETSTORE_BASE_URL: '' } })).toMatchObject(failed(2, 'no service'));
});

test('a pet without an entry is failed, or created with --create-missing, from 0 if relative', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': 'petId,quantity\n1,6\n9,7\n',
    'd.csv': 'id,change\n7,3\n',
  });
  const first = await shop.report(apply);
  const failures = [{ kind: 'no_entry', state: 'failed', count: 1 }];
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, failures });
  const created = await shop.report(`${apply} --create-missing`);
  expect(created).toMatchObject({ code: 0, applied: 1, unchanged: 1 });
  const relative = 'inventory apply d.csv --relative --delivery LS-1 --yes';
  expect(await shop.report(relative)).toMatchObject({ code: 1, failed: 1 });
  expect(await shop.report(`${relative} --create-missing`)).toMatchObject({ code: 0, applied: 1 });
  expect(Object.fromEntries(shop.stock)).toEqual({ 1: 6, 2: 5, 9: 7, 7: 3 });
});

test('a row with an expected count overwrites nothing else, one without sets its value', async () => {
  const rest = shelves(118, 5).map(([petId, count]) => `${petId + 2},${count},\n`);
  await using shop = await stockShop(shelves(120, 5), {
    'stock.csv': `petId,quantity,expected\n1,6,5\n2,6,\n${rest.join('')}`,
  });
  // The plan reads the list; right after it others write.
  let isListed = false;
  shop.misbehave = ({ petId }) => {
    if (isListed && petId !== undefined && shop.writes().length === 0)
      for (const each of ['1', '2']) shop.stock.set(each, 50);
    isListed ||= petId === undefined;
    return undefined;
  };
  expect(await shop.report(`${apply} --concurrency 1`)).toMatchObject({ applied: 1, failed: 1 });
  expect([shop.stock.get('1'), shop.stock.get('2')]).toEqual([50, 6]);
});

test.each([
  ['--max-changes 5', /6 of 10 rows.*--max-changes/],
  ['--max-changes 59%', /6 of 10 rows.*59%/],
  ['--max-delta 1234 --allow-zero', /line 2 changes pet 1 from 12,345 to 0, and --max-delta allows 1,234/],
  ['--max-changes 60% --max-delta 12345', /more than half of the rows go to 0: 6 of 10/],
])('is stopped by the guard %s before anything is sent', async (guard, message) => {
  await using shop = await stockShop(shelves(10, 12345), {
    'stock.csv': toCsv(shelves(10, (petId) => (petId <= 6 ? 0 : 12345))),
  });
  const error = { code: 'guard', message: expect.stringMatching(message) };
  expect(await shop.report(`${apply} ${guard}`)).toMatchObject({ code: 2, error });
  expect(shop.writes()).toEqual([]);
  const allowed = '--max-changes 60% --max-delta 12345 --allow-zero';
  expect(await shop.report(`${apply} ${allowed}`)).toMatchObject({ code: 0, applied: 6 });
});

test('entries that are created with 0 need no --allow-zero', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv(shelves(10, 0)) });
  expect(await shop.report(`${apply} --create-missing`)).toMatchObject({ code: 0, applied: 10 });
});

const rows = 96;

/** A person in a terminal, who applies a file that changes every count from 1 to 5; writes take a while. */
async function seat(ms: number, words: readonly string[] = []) {
  const shop = await stockShop(shelves(rows, 1), { 'stock.csv': toCsv(shelves(rows, 5)) });
  delayWrites(shop, ms);
  const argv = ['inventory', 'apply', 'stock.csv', ...words];
  const terminal = startInTerminal(argv, { env: shop.env, cwd: shop.folder, columns: 80 });
  return Object.assign(shop, { terminal });
}

testWith('script')(
  'a terminal shows the plan, a question, a bar during the writes, and the summary',
  async () => {
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
  },
);

testWith('script')(
  'Ctrl-C waits for what is in flight; a second one stops at once, and rows in flight are unknown, not rejects',
  async () => {
    await using shop = await seat(60_000, ['--yes']);
    const { terminal } = shop;
    await terminal.until('applying');
    terminal.press(ctrlC);
    await terminal.until('10 s for requests in flight; a second signal stops at once\r\n');
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
  },
);

test('names the columns that it ignores once, and not those of rejects or of an export', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': 'petId,status,quantity,expcted,_message,Shelf\n1,,6,5,,A\n2,,6,5,,B\n',
    'stock.jsonl': '{"petId":1,"quantity":6}\n{"petId":2,"quantity":6,"expcted":5,"_line":2}\n',
  });
  expect((await shop.run('inventory diff stock.csv')).stderr).toMatch(
    /^note: stock.csv: ignored columns: expcted, Shelf\nplan: /,
  );
  const { stdout, stderr } = await shop.run('inventory diff stock.jsonl -o jsonl');
  expect(stderr).toMatch(/^note: stock.jsonl: ignored columns: expcted\nplan: /);
  expect(JSON.parse(`[${stdout.trim().replaceAll('\n', ',')}]`)).toHaveLength(2);
  expect((await shop.run('inventory diff stock.csv -q')).stderr).not.toContain('ignored');
});
