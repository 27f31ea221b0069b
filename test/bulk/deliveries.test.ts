import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockShop } from '../helpers/stock-desk.ts';
import { refuse, trouble } from '../helpers/stock-server.ts';
import { answering, counts, file, healed, type Scene, type Story, setting, stories } from './story.ts';

// A delivery adds to counts, so booking it twice is wrong.

const numbered = 'inventory apply d.csv --relative --delivery LS-1 --yes';
const plain = 'inventory apply d.csv --relative --yes';
const oneByOne = '--concurrency 1';

const changes = (rows: string) => `petId,change\n${rows.replaceAll(' ', '\n')}\n`;
/** The file of a delivery. */
const delivery = (rows: string) => ({ 'd.csv': changes(rows) });
/** Somebody corrects the file of the delivery. */
const corrected = (rows: string): Scene => file('d.csv', changes(rows));
const largest = 9007199254740991;

stories({
  'adds to the counts, and fails a row that would go below 0 or above what a count can be': [
    { counts: [5, 5, 5, 5, largest], files: delivery('1,+24 2,-3 3,-6 4,0 5,1') },
    [numbered, '3: applied 2, unchanged 1, failed 2'],
    ({ read }) =>
      expect(read('d.rejects.csv')).toMatch(/^3,-6,4,failed,,below_zero,[\s\S]*^5,1,6,failed,,too_large,/m),
    counts(29, 2, 5, 5, largest),
  ],
  'a delivery with a number is simply applied again: what is missing is booked, and nothing twice': [
    { counts: [5, 5, 5, 5], files: { ...delivery('1,+1 2,x 3,-9'), 'other.jsonl': '{"id":1,"delta":1}\n' } },
    [`${numbered} --skip-invalid`, '3: applied 1, invalid 1, failed 1'],
    // Somebody corrects the invalid rows in the file, and adds a row.
    corrected('1,+1 2,+2 3,-3 4,+4'),
    [numbered, '0: applied 3, unchanged 1'],
    [numbered, '0: applied 0, unchanged 4'],
    [numbered.replace('d.csv', 'other.jsonl'), '0: applied 0, unchanged 1'],
    corrected('1,+1'),
    [`${numbered} --again`, '0: applied 1'],
    counts(7, 7, 2, 9),
  ],
  'two deliveries with equal rows are two, if both have a number': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    [numbered, '0: applied 2'],
    [numbered.replace('LS-1', 'LS-2'), '0: applied 2'],
    counts(7, 9),
  ],
  'a row that its delivery booked with another change is failed, and says both': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    [numbered, '0: applied 2'],
    corrected('1,+1 2,+3'),
    [numbered, '3: applied 0, unchanged 1, failed 1', /\+2.*\+3/],
    counts(6, 7),
  ],
  'a row that is open in a run of its delivery is unknown and names that run, whose resume settles it': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    answering({ 2: 401 }),
    [`${numbered} ${oneByOne}`, '4: applied 1'],
    healed,
    [numbered, '3: unchanged 1, unknown 1', 'r1', /go on with: petstore resume r1$/],
    ['resume --yes', '3: unknown 1', /go on with: petstore resume r1$/],
    ['resume r1 --yes', '0: applied 2'],
    [numbered, '0: unchanged 2'],
    counts(6, 7),
  ],
  'a row that the undo of its delivery has open names that undo, which settles it': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    [numbered, '0: applied 2'],
    answering({ 2: 401 }),
    [`undo r1 --yes ${oneByOne}`, '4: applied 1'],
    healed,
    [numbered, '3: applied 1, unknown 1', /go on with: petstore undo r1$/],
    ['undo r1 --yes', '0:'],
    [numbered, '0: applied 1, unchanged 1'],
    counts(6, 7),
  ],
  'what was undone can be booked again, and a row whose undo failed is still booked': [
    { counts: [5, 5], files: delivery('1,+5 2,+2') },
    [numbered, '0: applied 2'],
    setting({ 1: 3 }),
    ['undo --yes', '3: applied 1, failed 1'],
    [numbered, '0: applied 1, unchanged 1'],
    counts(3, 7),
  ],
  'what is booked again on purpose is booked again by a resume too': [
    { counts: [5, 5, 1], files: delivery('1,+1 2,+2 3,+3') },
    [numbered, '0: applied 3'],
    corrected('1,+1 2,+2 3,-9'),
    answering({ 2: 401 }),
    [
      `${numbered} --again ${oneByOne}`,
      '4: applied 1',
      /d\.rejects\.csv --relative --delivery LS-1 --again$/,
    ],
    healed,
    ['resume --yes', '3: applied 2, failed 1'],
    counts(7, 9, 4),
  ],
  'fewer equal rows are a warning, and rows that were undone do not count': [
    { counts: [5, 5, 5, 5], files: delivery('1,+1 2,+2 3,+3') },
    [plain, '0: applied 3'],
    corrected('1,+1 2,+9 3,+9 4,+9'),
    [plain, '0: applied 4'],
    ['undo --yes', '0: applied 4'],
    [plain, '0: applied 4'],
    counts(7, 16, 17, 14),
  ],
  'a delivery without a number is refused while a run of its rows is unfinished, and resume is named': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    answering({ 1: 401, 2: 401 }),
    [`${plain} ${oneByOne}`, '4: applied 0'],
    healed,
    [plain, '2:', /booked/, 'petstore resume r1'],
    ['resume --yes', '0: applied 2'],
    counts(6, 7),
  ],
  'rows that add nothing do not make a delivery another one; its rejects keep its number': [
    { counts: [5, 5, 5, 5, 5], files: delivery('1,+1 2,+2 3,+3 4,0 5,0') },
    answering({ 3: 409 }),
    [numbered, '3: failed 1', 'apply d.rejects.csv --relative --delivery LS-1'],
    corrected('1,+1 2,0 3,0 4,0 5,0'),
    [plain, '2:', /booked/],
    counts(6, 7, 5, 5, 5),
  ],
  'shards of one delivery are booked once each': [
    { counts: [5, 5, 5, 5], files: delivery('1,+1 2,+2 3,+3 4,+4') },
    [`${plain} --shard 1/2`, '0:'],
    [`${plain} --shard 1/2`, '2:'],
    [`${plain} --shard 2/2`, '0:'],
    [`${plain} --shard 2/2`, '2:'],
    [plain, '2:'],
    counts(6, 7, 8, 9),
  ],
  'several rows of one pet are refused, or added up with --sum; their reject is their sum': [
    { counts: [5, 5], files: delivery('1,+5 2,+1 1,+7') },
    answering({ 1: 409 }),
    [plain, '2:', '--sum'],
    [`${plain} --sum`, '3: applied 1, failed 1'],
    ({ read }) => expect(read('d.rejects.csv').match(/^\d.*?failed/gm)).toEqual(['1,12,2,failed']),
    counts(5, 6),
  ],
  'the rejects hold only rows that are final; resume takes the others': [
    { counts: [5, 5, 5, 5, 5], files: delivery('1,+1 2,+2 3,+3 4,+4 9,+1 5,x') },
    answering({ 2: 409, 3: 429, 4: 503 }),
    [`${plain} --retries 0 --skip-invalid`, '3: applied 1, failed 4, invalid 1'],
    ({ read }) => expect(read('d.rejects.csv').match(/^\d+,/gm)).toEqual(['2,', '9,', '5,']),
    healed,
    ['resume --yes', '3: applied 3, failed 2, invalid 1'],
    ({ files }) => expect(files()).not.toContain('d.rejects.2.csv'),
    ({ read, write }) => write('d.rejects.csv', read('d.rejects.csv').replace(/^(9|5),.*\n/gm, '')),
    [plain.replace('d.csv', 'd.rejects.csv'), '0: applied 1'],
    counts(6, 7, 8, 9, 5),
  ],
  ...Object.fromEntries(
    [
      ['the whole file after its rejects and an undo', ['rejects', 'undo', 'whole'], [6, 5, 5]],
      ['old rejects after an undo and the whole file', ['undo', 'whole', 'rejects'], [6, 7, 8]],
      ['rejects twice', ['rejects', 'rejects'], [6, 7, 8]],
    ].map(([what, typed, end]) => [
      `a row is not booked twice by ${what}`,
      twice(typed as string[], end as number[]),
    ]),
  ),
});

/** A delivery of which one row is refused, and lines of which the last one would book that row again. */
function twice(typed: readonly string[], end: readonly number[]): Story {
  const lines: Readonly<Record<string, string>> = {
    rejects: plain.replace('d.csv', 'd.rejects.csv'),
    whole: plain,
    undo: 'undo r1 --yes',
  };
  const scenes = typed.map((word, at): Scene => [lines[word] ?? '', at < typed.length - 1 ? '0:' : '2:']);
  const [shop, first] = [{ counts: [5, 5, 5], files: delivery('1,+1 2,+2 3,+3') }, answering({ 1: 409 })];
  return [shop, first, [plain, '3: failed 1'], healed, ...scenes, counts(...end)];
}

test('a delivery without a number is refused if half of its rows were written before, in any form', async () => {
  await using shop = await stockShop([5, 5, 5, 5], delivery('1,+1 2,+2 3,+3 4,+4'));
  expect(await shop.report(plain)).toMatchObject({ code: 0, applied: 4 });
  const forms = [
    ['petId,change\r\n1,1\r\n2,2\r\n3,3\r\n4,4\r\n'],
    ['id;delta\n4;+4\n3;3\n\n;\n2;+2\n1;1\n'],
    ['{"petId":1,"change":1}\n{"id":2,"delta":"+2"}\n{"petId":3,"change":3}\n'],
    [changes('1,1 2,1 2,1 3,3 4,9'), '--sum'],
    [changes('1,1')],
    [changes('1,1 2,2 3,4 4,5')],
    [changes('1,1 2,2'), '--shard 1/1'],
    [changes('1,1 2,2'), `--base-url ${shop.url.replace('127.0.0.1', 'LOCALHOST')}`],
    [changes('1,1 2,2'), '--delivery LS-9'],
  ];
  for (const [text = '', words = '--yes'] of forms) {
    shop.write('again.txt', text);
    const { code, error } = await shop.report(`inventory apply again.txt --relative --yes ${words}`);
    expect({ text, words, code, error: error?.code }).toEqual({
      text,
      words,
      code: 2,
      error: 'already_booked',
    });
    expect(`${error?.message} ${error?.hint}`).toMatch(/r1.*petstore undo r1/);
  }
  expect([...shop.stock.values()]).toEqual([6, 7, 8, 9]);
  for (const words of ['inventory diff d.csv --relative', `${plain} --dry-run`])
    expect((await shop.run(words)).stderr).toMatch(/warning: .*r1/s);
  expect(await shop.report(`${plain} --again`)).toMatchObject({ code: 0, applied: 4 });
});

test.each([
  ['two deliveries that add the same, of which the first was lost', false, 15, 21],
  ['one that was booked, and a later one that takes as much away', true, 10, 11],
])('resume sees what later deliveries did: %s', async (_, isApplied, between, end) => {
  const files = { 'e.csv': changes(`1,${isApplied ? -5 : 5}`), 'f.csv': changes('1,1') };
  await using shop = await stockShop([10], { ...delivery('1,5'), ...files });
  trouble(shop, () => 'lost', { isApplied });
  // The record cannot be read afterwards, so the row stays unknown.
  const { misbehave } = shop;
  let isLost = false;
  shop.misbehave = (request, response) => {
    isLost ||= request.method !== 'GET';
    return isLost && request.method === 'GET'
      ? refuse(response, 500, 'down')
      : misbehave?.(request, response);
  };
  expect(await shop.report(`${numbered} --retries 0`)).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  expect((await shop.report('inventory apply e.csv --relative --delivery LS-2 --yes')).code).toBe(0);
  expect(shop.stock.get('1')).toBe(between);
  // Only the next reading can settle the row.
  await shop.report('inventory apply f.csv --relative --delivery LS-3 --yes');
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(end);
});

test.each([
  ['its header', (text: string) => text.replace(/^\{/, '{{')],
  ['an outcome', (text: string) => text.replace('"state":"applied"', '"state":applied')],
])('a journal of which %s is damaged stops deliveries to its target, and is named', async (_, damage) => {
  await using shop = await stockShop([5, 5], delivery('1,+1 2,+2'));
  await shop.report(numbered);
  const path = shop.journal('r1');
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  shop.write('d.csv', changes('1,+3'));
  for (const words of [numbered, plain]) {
    const refused = await shop.report(words);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(path);
  }
  expect([...shop.stock.values()]).toEqual([6, 7]);
});

test('no clock decides what is booked', async () => {
  await using shop = await stockShop([5], delivery('1,+1'));
  await shop.report(numbered);
  const path = shop.journal('r1');
  // The journal looks as if the clock had been years behind.
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"20\d\d-/g, '"2019-'));
  expect(await shop.report(numbered)).toMatchObject({ code: 0, unchanged: 1 });
  expect((await shop.report(plain)).error?.code).toBe('already_booked');
  expect(shop.stock.get('1')).toBe(6);
});
