import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusal } from '../helpers/recording-server.ts';
import { toCsv, trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

const apply = 'inventory apply stock.csv --yes';
const notes = '_line,_state,_status,_code,_message';

test('writes the rejected rows with their own columns, and can apply that file', async () => {
  const text = 'note;Pet ID;stock\n"a;b";1;6\n"c""d";2;7\n;3;6\n" x";4;8\n';
  await using shop = await stockShop([5, 5, 5, 5], { 'stock.csv': text });
  trouble(shop, { 2: 409, 4: 409 });
  expect(await shop.report(apply)).toMatchObject({ code: 3, failed: 2, rejects: 'stock.rejects.csv' });
  const lines = shop.read('stock.rejects.csv').split('\n');
  expect(lines).toEqual([
    `note;Pet ID;stock;${notes.replaceAll(',', ';')}`,
    expect.stringMatching(/^"c""d";2;7;3;failed;409;no;.*it says no.*$/),
    expect.stringMatching(/^" x";4;8;5;failed;409;no;.*it says no.*$/),
    '',
  ]);
  const again = await shop.report('inventory apply stock.rejects.csv --yes');
  expect(again).toMatchObject({ code: 1, failed: 2, rejects: 'stock.rejects.rejects.csv' });
  expect(shop.read('stock.rejects.rejects.csv').split('\n')[0]).toBe(lines[0]);
  shop.misbehave = undefined;
  expect(await shop.report('inventory apply stock.rejects.csv --yes')).toMatchObject({ code: 0, applied: 2 });
});

test('skips invalid rows with --skip-invalid, exits 3, and writes them with their reason', async () => {
  const text = 'name,petId,quantity\nRex,1,6\nTom,2,x\nAna,3\nBo,4,5,,6\n';
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': text });
  const summary = await shop.report(`${apply} --skip-invalid`);
  expect(summary).toMatchObject({ code: 3, rows: 4, applied: 1, invalid: 3 });
  expect(shop.read('stock.rejects.csv')).toBe(
    `name,petId,quantity,${notes}\n` +
      `Tom,2,x,3,invalid,,invalid,quantity 'x': must be a whole number from 0 to 9007199254740991\n` +
      `Ana,3,,4,invalid,,invalid,quantity '': must be a whole number from 0 to 9007199254740991\n` +
      'Bo,4,"5,6",5,invalid,,invalid,"the row has 5 cells, the header has 3"\n',
  );
});

test('writes rejected JSON as JSON, and keeps every digit', async () => {
  await using shop = await stockShop([], {
    'a.json': '[{"id": 9223372036854775807,\n "count": 1, "x": [1, 2]}]',
    'b.jsonl': '{"petId":7,"quantity":1}\nnonsense\n{"id":1,"id":2,"qty":3}\n',
  });
  for (const name of ['a.json', 'b.jsonl']) await shop.run(`inventory apply ${name} --yes --skip-invalid`);
  expect(shop.read('a.rejects.jsonl')).toMatch(
    /^\{"id":9223372036854775807,"count":1,"x":\[1,2\],"_line":1,"_state":"failed"/,
  );
  expect(shop.read('b.rejects.jsonl')).toMatch(
    /^\{"petId":7,"quantity":1,"_line":1,"_state":"failed","_code":"no_entry".*\n\{"_text":"nonsense","_line":2,"_state":"invalid".*\n\{"_text":"\{\\"id\\":1,/,
  );
  expect(await shop.report('inventory apply a.rejects.jsonl --yes')).toMatchObject({ failed: 1 });
});

test('rows that a person calls failed one after the other are rejected with the last', async () => {
  await using shop = await stockShop([5, 5, 5], { 'd.csv': 'petId,change\n1,1\n2,2\n3,3\n' });
  trouble(shop, () => 429);
  const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes --retries 0';
  expect(await shop.report(deliver)).toMatchObject({ failed: 3 });
  for (const petId of ['3', '1']) await shop.report(`runs settle r1 ${petId} --as failed`);
  expect(shop.files()).not.toContain('d.rejects.csv');
  await shop.report('runs settle r1 2 --as failed');
  expect(shop.read('d.rejects.csv').match(/^\d,.*settled/gm)).toHaveLength(3);
  // A process that is killed after the last word leaves them to a resume.
  shop.write('state/runs/r1.jsonl', shop.read('state/runs/r1.jsonl').replace(/\{"kind":"end".*\n$/, ''));
  expect(await shop.report('resume --yes')).toMatchObject({ rejects: 'd.rejects.2.csv' });
  expect((await shop.run('runs -o csv --no-header --fields state')).stdout).toBe('finished\n');
});

test('rows that are added up are rejected with all of their lines, and none is left out', async () => {
  const text = 'place,petId,quantity\nShop,2,3\nCellar,2,4\nShop,1,6\n';
  await using shop = await stockShop([5, 5], { 'stock.csv': text });
  trouble(shop, { 2: 409 });
  const { stderr } = await shop.run(`${apply} --sum --skip-invalid`);
  expect(stderr).toContain('--sum cannot be used with --skip-invalid: without');
  expect(await shop.report(`${apply} --sum`)).toMatchObject({ applied: 1, failed: 1 });
  expect(shop.read('stock.rejects.csv').replaceAll(/(failed|invalid),.*/g, '$1')).toBe(
    `place,petId,quantity,${notes}\nShop,2,3,2,failed\nCellar,2,4,2,failed\n`,
  );
});

test('an invalid row of a killed session is written beside the input, wherever the resume runs', async () => {
  await using shop = await stockShop([1, 1], { 'stock.csv': 'note,petId,quantity\nc,x,1\nd,2,2\n' });
  trouble(shop, { 2: 409 });
  await shop.run('inventory apply stock.csv --yes --skip-invalid');
  const journal = shop.read('state/runs/r1.jsonl').split('\n');
  const killed = journal.filter((line) => !/"kind":"(end|outcome)"/.test(line)).join('\n');
  shop.write('state/runs/r1.jsonl', killed);
  const { rejects } = await shop.report('resume --yes', { cwd: '/' });
  expect(`/${rejects}`).toBe(join(shop.folder, 'stock.rejects.2.csv'));
  expect(shop.read('stock.rejects.2.csv')).toMatch(/^note,petId,quantity,_line,.*\nc,x,1,2,invalid,/);
});

test('distinguishes rows that begin on one line', async () => {
  const rows = ['{"petId":1,"quantity":6}', '{"petId":2,"quantity":"x"}', '{"petId":9,"quantity":3}'];
  await using shop = await stockShop([5, 5], { 'a.json': `[${rows.join(',')},{"petId":3,"quantity":""}]` });
  const report = await shop.report('inventory apply a.json --yes --skip-invalid');
  expect(report).toMatchObject({ applied: 1, failed: 1, invalid: 2 });
  expect(report.stderr).toContain('cannot be written: record 3, pet 9: ');
  const rejects = shop.read('a.rejects.jsonl').trim().split('\n');
  expect(rejects.map((line) => JSON.parse(line))).toMatchObject([
    { petId: 2, quantity: 'x', _state: 'invalid' },
    { petId: 9, quantity: 3, _state: 'failed' },
    { petId: 3, quantity: '', _state: 'invalid' },
  ]);
});

test('takes the next free number for a name that is in use, given or not', async () => {
  await using shop = await stockShop([], { 'stock.csv': toCsv([[1, 2]]), 'mine.csv': 'precious' });
  expect(await shop.report(`${apply} --rejects mine.csv`)).toMatchObject({ rejects: 'mine.2.csv' });
  expect(shop.read('mine.2.csv')).toContain('1,2,2,failed');
  expect(shop.read('mine.csv')).toBe('precious');
  expect(await shop.report(`${apply} --rejects stock.csv`)).toMatchObject({ rejects: 'stock.2.csv' });
  expect(shop.read('stock.csv')).toBe(toCsv([[1, 2]]));
  // A name is in use although its link leads nowhere.
  shop.write('stock.rejects.csv', 'precious');
  symlinkSync('/nonexistent/place', join(shop.folder, 'stock.rejects.2.csv'));
  expect(await shop.report(apply)).toMatchObject({ failed: 1, rejects: 'stock.rejects.3.csv' });
  expect(shop.read('stock.rejects.csv')).toBe('precious');
  expect(existsSync('/nonexistent/place')).toBe(false);
});

test('reports rejects that cannot be written', async () => {
  await using shop = await stockShop([5, 5], { 'stock.csv': toCsv([6, 6]) });
  const folder = join(shop.folder, 'out');
  mkdirSync(folder);
  shop.misbehave = ({ method, petId }) => {
    if (method === 'PUT') rmSync(folder, { recursive: true, force: true });
    return method === 'PUT' && petId === '1' ? refusal(409) : undefined;
  };
  const summary = await shop.report(`${apply} --rejects out/mine.csv`);
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(summary).not.toHaveProperty('rejects');
  expect(summary.stderr).toContain('out/mine.csv');
  expect(summary.error?.hint).toBe("continue with: petstore resume r1 --rejects '<file>'");
});

/** A service on which a run has left its row unknown. The folder of its input, and so of its rejects, is gone. */
async function shopWithoutFolder() {
  const shop = await stockShop([5], {});
  mkdirSync(join(shop.folder, 'in'));
  shop.write('in/stock.csv', toCsv([6]));
  trouble(shop, () => 504);
  await shop.report('inventory apply in/stock.csv --yes --retries 0');
  rmSync(join(shop.folder, 'in'), { recursive: true });
  return shop;
}

test('what a person has said is kept although its rejects cannot be written, and a resume writes them', async () => {
  await using shop = await shopWithoutFolder();
  expect(await shop.run('runs settle r1 1 --as failed')).toMatchObject({
    code: 1,
    stdout: 'run r1: all rows are settled, but the run is not finished\n',
    stderr: expect.stringMatching(
      /^error: write in\/stock.rejects.csv: .*\nhint: .*resume r1 --rejects '<file>'\n$/,
    ),
  });
  const rest = await shop.report('resume --yes --rejects left.csv');
  expect(rest).toMatchObject({ failed: 1, rejects: 'left.csv' });
  expect((await shop.run('runs -o csv --no-header --fields state')).stdout).toBe('finished\n');
});

test('no resume is named for the rejects of a run whose undo has begun', async () => {
  await using shop = await shopWithoutFolder();
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 3 });
  const { stderr } = await shop.run('runs settle r1 1 --as failed');
  expect(stderr).toMatch(/^error: write in\/stock.rejects.csv: .*\n$/);
});
