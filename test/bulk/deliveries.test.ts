import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockShop } from '../helpers/stock-desk.ts';
import { type Counts, refuse, toCsv, trouble } from '../helpers/stock-server.ts';

// A delivery adds to counts, so booking it twice is wrong.

const withNumber = 'inventory apply d.csv --relative --delivery LS-1 --yes';
const withoutNumber = 'inventory apply d.csv --relative --yes';

/** A service, and a delivery to it. */
async function deliveryShop(counts: Counts, rows: string) {
  const shop = await stockShop(counts);
  const deliver = (text: string) => shop.write('d.csv', `petId,change\n${text}`);
  deliver(rows);
  const counted = () => [...shop.stock.values()];
  return Object.assign(shop, { deliver, counted });
}

test('adds to the counts, and fails a row that would go below 0 or above what a count can be', async () => {
  const largest = 9007199254740991;
  await using shop = await deliveryShop([5, 5, 5, 5, largest], '1,+24\n2,-3\n3,-6\n4,0\n5,1\n');
  expect(await shop.report(`${withNumber} --skip-invalid`)).toMatchObject({
    ...{ code: 3, applied: 2, unchanged: 1, failed: 2 },
  });
  expect(shop.counted()).toEqual([29, 2, 5, 5, largest]);
  const rejects = shop.read('d.rejects.csv');
  expect(rejects).toMatch(/^3,-6,4,failed,,below_zero,/m);
  expect(rejects).toMatch(/^5,1,6,failed,,too_large,/m);
});

test('a delivery with a number is simply applied again: what is missing is booked, and nothing twice', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5], '1,+1\n2,x\n3,-9\n');
  expect(await shop.report(`${withNumber} --skip-invalid`)).toMatchObject({
    code: 3,
    applied: 1,
    invalid: 1,
    failed: 1,
  });
  // The wrong rows are mended in the file itself, and one is added.
  shop.deliver('1,+1\n2,+2\n3,-3\n4,+4\n');
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, applied: 3, unchanged: 1 });
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, applied: 0, unchanged: 4 });
  expect(shop.counted()).toEqual([6, 7, 2, 9]);
  // Whatever the file is called.
  shop.write('other.jsonl', '{"id":1,"delta":1}\n');
  const other = 'inventory apply other.jsonl --relative --delivery LS-1 --yes';
  expect(await shop.report(other)).toMatchObject({ code: 0, applied: 0, unchanged: 1 });
  shop.deliver('1,+1\n');
  expect(await shop.report(`${withNumber} --again`)).toMatchObject({ code: 0, applied: 1 });
  expect(shop.counted()).toEqual([7, 7, 2, 9]);
});

test('a row that its delivery booked with another change is failed, and says both', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.report(withNumber);
  shop.deliver('1,+1\n2,+3\n');
  const report = await shop.report(withNumber);
  expect(report).toMatchObject({ code: 3, applied: 0, unchanged: 1, failed: 1 });
  expect(JSON.stringify(report.failures)).toMatch(/\+?2.*\+?3|\+?3.*\+?2/);
  expect(shop.counted()).toEqual([6, 7]);
});

test('two deliveries with equal rows are two, if both have a number', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  expect((await shop.report(withNumber)).code).toBe(0);
  const second = await shop.report(withNumber.replace('LS-1', 'LS-2'));
  expect(second).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([7, 9]);
});

test('a row that is open in a run of its delivery is unknown and names that run, whose resume settles it', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  trouble(shop, { 2: 401 });
  expect(await shop.report(`${withNumber} --concurrency 1`)).toMatchObject({ code: 4, applied: 1 });
  shop.misbehave = undefined;
  const again = await shop.report(withNumber);
  expect(again).toMatchObject({ code: 3, unchanged: 1, unknown: 1 });
  expect(JSON.stringify(again.failures)).toContain('r1');
  expect(again.error?.hint).toMatch(/^go on with: petstore resume r1$/);
  expect((await shop.report('resume --yes')).error?.hint).toMatch(/^go on with: petstore resume r1$/);
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, unchanged: 2 });
  expect(shop.counted()).toEqual([6, 7]);
});

test('a row that the undo of its delivery has open names that undo, which settles it', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.report(withNumber);
  trouble(shop, { 2: 401 });
  expect(await shop.report('undo r1 --yes --concurrency 1')).toMatchObject({ code: 4, applied: 1 });
  shop.misbehave = undefined;
  const again = await shop.report(withNumber);
  expect(again).toMatchObject({ code: 3, applied: 1, unknown: 1 });
  expect(again.error?.hint).toMatch(/^go on with: petstore undo r1$/);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0 });
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, applied: 1, unchanged: 1 });
  expect(shop.counted()).toEqual([6, 7]);
});

test('a row that failed in a run which was undone is free again', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  trouble(shop, { 2: 401 });
  expect(await shop.report(`${withNumber} --concurrency 1`)).toMatchObject({ code: 4, applied: 1 });
  shop.misbehave = undefined;
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([6, 7]);
});

test('what is booked again on purpose is booked again by a resume too', async () => {
  await using shop = await deliveryShop([5, 5, 1], '1,+1\n2,+2\n3,+3\n');
  await shop.report(withNumber);
  shop.deliver('1,+1\n2,+2\n3,-9\n');
  trouble(shop, { 2: 401 });
  const stopped = await shop.report(`${withNumber} --again --concurrency 1`);
  expect(stopped).toMatchObject({ code: 4, applied: 1 });
  expect(stopped.error?.hint).toMatch(/d\.rejects\.csv --relative --delivery LS-1 --again$/);
  shop.misbehave = undefined;
  expect(await shop.report('resume --yes')).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect(shop.counted()).toEqual([7, 9, 4]);
});

test('a delivery whose number is empty is refused', async () => {
  await using shop = await deliveryShop([5], '1,+1\n');
  const run = await shop.run(['inventory', 'apply', 'd.csv', '--relative', '--yes', '--delivery', '']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('--delivery: the number is empty');
});

test('a row whose undo failed is still booked', async () => {
  await using shop = await deliveryShop([5], '1,+5\n');
  await shop.report(withNumber);
  shop.stock.set('1', 3);
  expect(await shop.report('undo --yes')).toMatchObject({ applied: 0, failed: 1 });
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, unchanged: 1 });
  expect(shop.stock.get('1')).toBe(3);
});

test('the undo of a run that found a row open in another run frees nothing and books nothing', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  trouble(shop, () => 401);
  await shop.report(`${withNumber} --concurrency 1`);
  shop.misbehave = undefined;
  expect(await shop.report(withNumber)).toMatchObject({ run: 'r2', unknown: 2 });
  await shop.report('undo r2 --yes');
  expect(await shop.report(withNumber)).toMatchObject({ unknown: 2, unchanged: 0 });
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([6, 7]);
});

test('what was undone can be booked again; what its undo left is open', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.report(withNumber);
  expect((await shop.report('undo --yes')).code).toBe(0);
  expect(shop.counted()).toEqual([5, 5]);
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, applied: 2 });
  trouble(shop, { 2: 401 });
  await shop.report('undo --yes --concurrency 1');
  shop.misbehave = undefined;
  expect(await shop.report(withNumber)).toMatchObject({ code: 3, applied: 1, unknown: 1 });
  expect(shop.counted()).toEqual([6, 7]);
});

test('a number is a usage error without --relative', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv([6]) });
  expect((await shop.report('inventory apply stock.csv --delivery LS-1 --yes')).code).toBe(2);
  expect(shop.seen).toEqual([]);
});

test('a delivery without a number is refused if half of its rows were written before, in any form', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n4,+4\n');
  expect(await shop.report(withoutNumber)).toMatchObject({ code: 0, applied: 4 });
  const forms = [
    ['petId,change\r\n1,1\r\n2,2\r\n3,3\r\n4,4\r\n'],
    ['id;delta\n4;+4\n3;3\n\n;\n2;+2\n1;1\n'],
    ['{"petId":1,"change":1}\n{"id":2,"delta":"+2"}\n{"petId":3,"change":3}\n'],
    ['petId,change\n1,1\n2,1\n2,1\n3,3\n4,9\n', '--sum'],
    ['petId,change\n1,1\n'],
    ['petId,change\n1,1\n2,2\n3,4\n4,5\n'],
    ['petId,change\n1,1\n2,2\n', '--shard 1/1'],
    ['petId,change\n1,1\n2,2\n', `--base-url ${shop.url.replace('127.0.0.1', 'LOCALHOST')}`],
    ['petId,change\n1,1\n2,2\n', '--delivery LS-9'],
  ];
  for (const [text = '', words = '--yes'] of forms) {
    shop.write('again.txt', text);
    const refused = await shop.report(`inventory apply again.txt --relative --yes ${words}`);
    expect({ text, words, code: refused.code, error: refused.error?.code }).toEqual({
      ...{ text, words, code: 2, error: 'already_booked' },
    });
    expect(refused.error?.message).toContain('r1');
    expect(refused.error?.hint).toContain('petstore undo r1');
  }
  expect(shop.counted()).toEqual([6, 7, 8, 9]);
  for (const words of ['inventory diff d.csv --relative', `${withoutNumber} --dry-run`])
    expect((await shop.run(words)).stderr).toMatch(/warning: .*r1/s);
  expect(await shop.report(`${withoutNumber} --again`)).toMatchObject({ code: 0, applied: 4 });
});

test('fewer equal rows are a warning, and rows that were undone do not count', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n');
  await shop.report(withoutNumber);
  shop.deliver('1,+1\n2,+9\n3,+9\n4,+9\n');
  const mixed = await shop.report(withoutNumber);
  expect(mixed).toMatchObject({ code: 0, applied: 4 });
  expect(mixed.stderr).toMatch(/warning: .*\b1\b/);
  expect((await shop.report('undo --yes')).code).toBe(0);
  expect(await shop.report(withoutNumber)).toMatchObject({ code: 0, applied: 4 });
});

test('a delivery without a number is refused while a run of its rows is unfinished, and resume is named', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  trouble(shop, () => 401);
  expect(await shop.report(`${withoutNumber} --concurrency 1`)).toMatchObject({ code: 4, applied: 0 });
  shop.misbehave = undefined;
  const refused = await shop.report(withoutNumber);
  expect(refused).toMatchObject({ code: 2, error: { code: 'already_booked' } });
  expect(refused.error?.hint).toContain('petstore resume r1');
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([6, 7]);
});

test.each([
  ['the whole file after its rejects and an undo', ['rejects', 'undo r1', 'whole']],
  ['old rejects after an undo and the whole file', ['undo r1', 'whole', 'rejects']],
  ['rejects twice', ['rejects', 'rejects']],
])('a row is not booked twice by %s', async (_, typed) => {
  await using shop = await deliveryShop([5, 5, 5], '1,+1\n2,+2\n3,+3\n');
  trouble(shop, { 1: 409 });
  expect(await shop.report(withoutNumber)).toMatchObject({ failed: 1 });
  shop.misbehave = undefined;
  const lines: Readonly<Record<string, string>> = {
    rejects: 'inventory apply d.rejects.csv --relative --yes',
    whole: withoutNumber,
    'undo r1': 'undo r1 --yes',
  };
  const reports = [];
  for (const each of typed) reports.push(await shop.report(lines[each] ?? ''));
  const last = reports.pop();
  expect(reports.map(({ code }) => code)).toEqual(reports.map(() => 0));
  expect(last).toMatchObject({ code: 2, error: { code: 'already_booked' } });
  expect(shop.stock.get('1')).toBe(6);
});

test('rows that add nothing do not make a delivery another one; its rejects keep its number', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n4,0\n5,0\n');
  trouble(shop, { 3: 409 });
  const first = await shop.report(withNumber);
  expect(first.error?.hint).toContain('apply d.rejects.csv --relative --delivery LS-1');
  shop.deliver('1,+1\n2,0\n3,0\n4,0\n5,0\n');
  expect((await shop.report(withoutNumber)).error?.code).toBe('already_booked');
  expect(shop.counted()).toEqual([6, 7, 5, 5, 5]);
});

test('shards of one delivery are booked once each', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n4,+4\n');
  for (const [words, code] of [
    ['--shard 1/2', 0],
    ['--shard 1/2', 2],
    ['--shard 2/2', 0],
    ['--shard 2/2', 2],
    ['', 2],
  ] as const)
    expect((await shop.report(`${withoutNumber} ${words}`.trim())).code, words).toBe(code);
  expect(shop.counted()).toEqual([6, 7, 8, 9]);
});

test.each([
  ['two deliveries that add the same, of which the first was lost', false, 15, 21],
  ['one that was booked, and a later one that takes as much away', true, 10, 11],
])('resume sees what later deliveries did: %s', async (_, isApplied, between, end) => {
  await using shop = await deliveryShop([10], '1,5\n');
  trouble(shop, () => 'lost', { isApplied });
  // Nothing can be read afterwards, so the row stays unknown.
  const { misbehave } = shop;
  let isLost = false;
  shop.misbehave = (request, response) => {
    isLost ||= request.method !== 'GET';
    return isLost && request.method === 'GET'
      ? refuse(response, 500, 'down')
      : misbehave?.(request, response);
  };
  expect(await shop.report(`${withNumber} --retries 0`)).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  shop.write('e.csv', `petId,change\n1,${isApplied ? -5 : 5}\n`);
  expect((await shop.report('inventory apply e.csv --relative --delivery LS-2 --yes')).code).toBe(0);
  expect(shop.stock.get('1')).toBe(between);
  // Only the first later reading tells.
  shop.write('f.csv', 'petId,change\n1,1\n');
  await shop.report('inventory apply f.csv --relative --delivery LS-3 --yes');
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(end);
});

test('a resumed change is compared with what its own plan read, and no longer with a later run', async () => {
  await using shop = await deliveryShop([10], '1,5\n');
  trouble(shop, () => 'lost');
  expect(await shop.report(`${withNumber} --retries 0`)).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  const second = withNumber.replace('LS-1', 'LS-2');
  expect(await shop.report(second)).toMatchObject({ code: 0, applied: 1 });
  trouble(shop, () => 500, { isApplied: true });
  expect(await shop.report('resume r1 --yes --retries 0')).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(20);
});

test.each([
  ['its header', (text: string) => text.replace(/^\{/, '{{')],
  ['an outcome', (text: string) => text.replace('"state":"applied"', '"state":applied')],
])('a journal of which %s is damaged stops deliveries to its target, and is named', async (_, damage) => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.report(withNumber);
  const path = shop.journal('r1');
  const text = readFileSync(path, 'utf8');
  const broken = damage(text);
  expect(broken).not.toBe(text);
  writeFileSync(path, broken);
  shop.deliver('1,+3\n');
  for (const words of [withNumber, withoutNumber]) {
    const refused = await shop.report(words);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(path);
  }
  expect(shop.counted()).toEqual([6, 7]);
});

test('no clock decides what is booked', async () => {
  await using shop = await deliveryShop([5], '1,+1\n');
  await shop.report(withNumber);
  const path = shop.journal('r1');
  // As if the clock had been a hundred days behind.
  writeFileSync(
    path,
    readFileSync(path, 'utf8')
      .replace(/"20\d\d-/g, '"2019-')
      .replace(/:1[78]\d{11}\b/g, ':1500000000000'),
  );
  expect(await shop.report(withNumber)).toMatchObject({ code: 0, unchanged: 1 });
  expect((await shop.report(withoutNumber)).error?.code).toBe('already_booked');
  expect(shop.stock.get('1')).toBe(6);
});

test('several rows of one pet are refused, or added up with --sum; their reject is their sum', async () => {
  await using shop = await deliveryShop([5, 5], '1,+5\n2,+1\n1,+7\n');
  trouble(shop, { 1: 409 });
  const refused = await shop.report(withoutNumber);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--sum');
  expect(await shop.report(`${withoutNumber} --sum`)).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(shop.read('d.rejects.csv').match(/^\d.*?failed/gm)).toEqual(['1,12,2,failed']);
});

test('the rejects hold only rows that are final; resume takes the others', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n4,+4\n9,+1\n5,x\n');
  trouble(shop, { 2: 409, 3: 429, 4: 503 }, { fields: { 'retry-after': '0' } });
  expect(await shop.report(`${withoutNumber} --retries 0 --skip-invalid`)).toMatchObject({
    ...{ code: 3, applied: 1, failed: 4, invalid: 1, rejects: 'd.rejects.csv' },
  });
  expect(shop.read('d.rejects.csv').match(/^\d+,/gm)).toEqual(['2,', '9,', '5,']);
  shop.misbehave = undefined;
  const rest = await shop.report('resume --yes');
  expect(rest).toMatchObject({ code: 3, applied: 3, failed: 2, invalid: 1 });
  expect(rest).not.toHaveProperty('rejects');
  shop.write('d.rejects.csv', shop.read('d.rejects.csv').replace(/^(9|5),.*\n/gm, ''));
  const again = await shop.report('inventory apply d.rejects.csv --relative --yes');
  expect(again).toMatchObject({ code: 0, applied: 1 });
  expect(shop.counted()).toEqual([6, 7, 8, 9, 5]);
});

test('a quiet night, a file with a header alone, is exit 0 and leaves no run', async () => {
  await using shop = await deliveryShop([5], '');
  expect((await shop.report(withNumber)).code).toBe(0);
  expect((await shop.run('runs -o ids')).stdout).toBe('');
});
