import { expect, test } from 'vitest';
import { stockShop } from '../helpers/stock-desk.ts';
import { reply, shelves, toCsv, trouble } from '../helpers/stock-server.ts';

const apply = ['apply', 'stock.csv', '--yes'];

test('sets the counts that differ, and nothing else', async () => {
  await using shop = await stockShop(
    shelves(10, () => 5),
    { 'stock.csv': toCsv(shelves(10, (petId) => (petId % 2 === 0 ? 5 : petId))) },
  );
  const summary = await shop.summary(apply);
  expect(summary).toMatchObject({ code: 0, rows: 10, applied: 4, unchanged: 6, failed: 0, requests: 14 });
  const written = shop.writes().map(({ petId, quantity }) => `${petId}=${quantity}`);
  expect(written.sort()).toEqual(['1=1', '3=3', '7=7', '9=9']);
});

test('reads the paged list for 100 rows and more, and single entries for fewer', async () => {
  await using shop = await stockShop(shelves(2500, () => 5));
  for (const [rows, requests] of [
    [100, 3],
    [99, 99],
  ] as const) {
    shop.write('stock.csv', toCsv(shelves(rows, () => 5)));
    expect(await shop.summary(apply)).toMatchObject({ unchanged: rows, requests });
  }
});

test('a run that is declined, stopped by a guard, dry or without a change leaves no journal', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]), 'same.csv': toCsv([5]) });
  const declined = await shop.inventory(['apply', 'stock.csv']);
  expect(declined).toMatchObject({ code: 2, stdout: '' });
  expect(declined.stderr).toContain('hint: use --yes');
  expect((await shop.inventory([...apply, '--max-changes', '1'])).code).toBe(2);
  expect((await shop.inventory([...apply, '--dry-run'])).code).toBe(0);
  const same = await shop.summary(['apply', 'same.csv']);
  expect(same).toMatchObject({ code: 0, unchanged: 1 });
  expect(same).not.toHaveProperty('run');
  expect(shop.writes()).toEqual([]);
  expect((await shop.inventory(['runs', '-o', 'json'])).stdout).toBe('[]\n');
});

test('refuses before any request what it can refuse', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': toCsv([6, 6]),
    'none.csv': 'petId,quantity\n',
    'empty.csv': '',
    'delivery.csv': 'petId,change\n1,1\n',
  });
  const refusals: readonly (readonly [words: readonly string[], message: string])[] = [
    [[...apply, '--fields', 'petId'], "no field 'petId'"],
    [[...apply, '--sort', 'nothing'], "no field 'nothing'"],
    [[...apply, '--dry-run', '--fields', 'applied'], "no field 'applied'"],
    [['diff', 'stock.csv', '--fields', 'applied'], "no field 'applied'"],
    [[...apply, '--sum'], '--sum: only with --relative'],
    [[...apply, '--again'], '--again: only with --relative'],
    [['apply', 'none.csv', '--yes'], 'error: none.csv: no data rows\n'],
    [['apply', 'empty.csv', '--yes'], 'error: empty.csv: no data rows\n'],
    [['apply', 'nowhere.csv', '--yes'], 'error: nowhere.csv: no such file\n'],
    [[...apply, '--rejects', 'nowhere/r.csv'], '--rejects nowhere/r.csv: no such folder, nothing was sent'],
  ];
  for (const [words, message] of refusals) {
    const run = await shop.inventory(words);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  }
  expect(shop.seen).toEqual([]);
  const nowhere = await shop.inventory(apply, { env: { PETSTORE_BASE_URL: '' } });
  expect(nowhere.stderr).toContain('no service');
});

test('sends no request if a row is invalid, and names line, column and value', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': 'petId,quantity\n1,6\n2,1e3\n3,\n' });
  const run = await shop.inventory(apply);
  const rule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toBe(
    `error: stock.csv:3:3: quantity "1e3": ${rule}\nerror: stock.csv:4:3: quantity is empty: ${rule}\n` +
      'error: stock.csv: 2 rows are invalid; nothing was sent\n',
  );
  expect(shop.seen).toEqual([]);
});

test('counts a repeated row once, and refuses rows that contradict each other', async () => {
  await using shop = await stockShop([5, 5], { 'stock.csv': 'petId,quantity\n1,6\n2,5\n1,6\n' });
  const summary = await shop.summary(apply);
  expect(summary).toMatchObject({ code: 0, rows: 3, applied: 1, unchanged: 1, skipped: 1 });
  shop.write('stock.csv', 'petId,quantity\n1,6\n2,5\n1,7\n');
  const run = await shop.inventory([...apply, '--skip-invalid']);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('error: stock.csv:4:1: pet 1 has 7 here and 6 on line 2');
});

test('reads stdin, also as JSONL, and then needs --yes', async () => {
  await using shop = await stockShop([5, 5, 5]);
  const stdin = '{"petId":1,"quantity":6}\n{"petId":2,"quantity":"7"}\n';
  expect((await shop.inventory(['apply', '-'], { stdin })).code).toBe(2);
  expect(await shop.summary(['apply', '-', '--yes'], { stdin })).toMatchObject({ code: 0, applied: 2 });
  expect([...shop.stock.values()]).toEqual([6, 7, 5]);
});

test('keeps every digit of an id', async () => {
  const id = '9223372036854775807';
  await using shop = await stockShop([[id, 1]], { 'stock.csv': toCsv([[id, 9007199254740991]]) });
  const run = await shop.inventory([...apply, '--dry-run', '-o', 'json']);
  expect(run.stdout).toContain(`"petId":${id}`);
  expect((await shop.inventory(apply)).code).toBe(0);
  expect(shop.stock.get(id)).toBe(9007199254740991);
});

test('a pet without an entry is failed, or created with --create-missing, from 0 if relative', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': toCsv([
      [1, 6],
      [9, 7],
    ]),
    'd.csv': 'id,change\n8,1\n7,3\n',
  });
  shop.misbehave = ({ path }, response) =>
    path === '/pets/8' ? reply(response, 404, { code: 'not_found', message: 'no', status: 404 }) : undefined;
  expect(await shop.summary(apply)).toMatchObject({
    ...{ code: 3, applied: 1, failed: 1 },
    failures: [{ kind: '404 no_entry', count: 1, example: { line: 3, petId: 9 } }],
  });
  expect(await shop.summary([...apply, '--create-missing'])).toMatchObject({
    code: 0,
    applied: 1,
    unchanged: 1,
  });
  const relative = ['apply', 'd.csv', '--relative', '--yes'];
  expect(await shop.summary(relative)).toMatchObject({ code: 1, failed: 2 });
  expect(await shop.summary([...relative, '--create-missing'])).toMatchObject({
    ...{ code: 3, applied: 1, failed: 1 },
    failures: [{ kind: '404 no_pet', example: { petId: 8 } }],
  });
  expect(Object.fromEntries(shop.stock)).toEqual({ 1: 6, 2: 5, 9: 7, 7: 3 });
});

test('applies a row only if the count is the expected one', async () => {
  const text = 'petId,quantity,expected\n1,6,5\n2,6,4\n3,6,\n4,5,1\n';
  await using shop = await stockShop([5, 5, 5, 5], { 'stock.csv': text });
  const summary = await shop.summary(apply);
  expect(summary).toMatchObject({ code: 3, applied: 2, failed: 1, unchanged: 1 });
  expect(summary.failures).toMatchObject([
    { kind: 'unexpected_count', example: { petId: 2, message: 'the count is 5 now, not 4 as expected' } },
  ]);
  expect([...shop.stock.values()]).toEqual([6, 5, 6, 5]);
});

test('sends the ETag that the plan saw, and does not overwrite what has changed since', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]) });
  shop.sendsETags = true;
  shop.misbehave = ({ method, petId }) => {
    // Somebody else writes first.
    if (method === 'PUT' && petId === '2') shop.stock.set('2', 99);
    if (method === 'PUT' && petId === '3') shop.stock.set('3', 6);
    return undefined;
  };
  const summary = await shop.summary(apply);
  expect(summary).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 1 });
  expect(summary.failures).toMatchObject([{ kind: '412 changed', example: { petId: 2 } }]);
  expect(shop.stock.get('2')).toBe(99);
  expect(shop.writes()[0]?.headers['if-match']).toBe('"5"');
});

test.each([
  [['--max-changes', '5'], 'the run changes 6 of 10 rows, and --max-changes allows 5'],
  [['--max-changes', '59%'], 'the run changes 6 of 10 rows, and --max-changes allows 59%'],
  [['--max-delta', '94', '--allow-zero'], 'line 2 changes pet 1 from 100 to 0, and --max-delta allows 94'],
  [['--max-changes', '60%', '--max-delta', '100'], '6 of 10 rows go to 0, more than half'],
])('is stopped by the guard %j before anything is sent', async (guard, message) => {
  await using shop = await stockShop(
    shelves(10, () => 100),
    { 'stock.csv': toCsv(shelves(10, (petId) => (petId <= 6 ? 0 : 100))) },
  );
  const run = await shop.inventory([...apply, ...guard]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(`error: ${message}; nothing was sent`);
  expect(shop.writes()).toEqual([]);
  const allowed = ['--max-changes', '60%', '--max-delta', '100', '--allow-zero'];
  expect(await shop.summary([...apply, ...allowed])).toMatchObject({ code: 0, applied: 6 });
});

test('fails all rows with one kind of refusal and exits 1', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]) });
  trouble(shop, () => 422);
  const example = { line: 2, message: expect.stringContaining('it says') };
  expect(await shop.summary(apply)).toMatchObject({
    ...{ code: 1, failed: 3 },
    failures: [{ kind: '422 no', state: 'failed', count: 3, example }],
  });
});
