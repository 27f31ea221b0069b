import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stockShop } from '../helpers/stock-desk.ts';
import { refuse, toCsv, trouble } from '../helpers/stock-server.ts';

const apply = ['apply', 'stock.csv', '--yes'];
const notes = '_line,_state,_status,_code,_message,_attempts,_request_id,_run';

test('writes the rejected rows with their own columns, and can apply that file', async () => {
  const text = 'note;Pet ID;stock\n"a;b";1;6\n"c""d";2;7\n;3;6\n" x";4;8\n';
  await using shop = await stockShop([5, 5, 5, 5], { 'stock.csv': text });
  trouble(shop, { 2: 409, 4: 409 });
  expect(await shop.summary(apply)).toMatchObject({ code: 3, failed: 2, rejects: 'stock.rejects.csv' });
  const lines = shop.read('stock.rejects.csv').split('\n');
  expect(lines).toEqual([
    `note;Pet ID;stock;${notes.replaceAll(',', ';')}`,
    expect.stringMatching(/^"c""d";2;7;3;failed;409;no;.*it says no.*;1;;r1$/),
    expect.stringMatching(/^ x;4;8;5;failed;409;no;.*it says no.*;1;;r1$/),
    '',
  ]);
  const again = await shop.summary(['apply', 'stock.rejects.csv', '--yes']);
  expect(again).toMatchObject({ code: 1, failed: 2, rejects: 'stock.rejects.rejects.csv' });
  expect(shop.read('stock.rejects.rejects.csv').split('\n')[0]).toBe(lines[0]);
  shop.misbehave = undefined;
  expect(await shop.summary(['apply', 'stock.rejects.csv', '--yes'])).toMatchObject({ code: 0, applied: 2 });
});

test('skips invalid rows with --skip-invalid, exits 3, and writes them with their reason', async () => {
  const text = 'name,petId,quantity\nRex,1,6\nTom,2,x\nAna,3\n';
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': text });
  const summary = await shop.summary([...apply, '--skip-invalid']);
  expect(summary).toMatchObject({ code: 3, rows: 3, applied: 1, invalid: 2 });
  expect(shop.read('stock.rejects.csv')).toBe(
    `name,petId,quantity,${notes}\n` +
      'Tom,2,x,3,invalid,,invalid,"quantity ""x"": must be a whole number from 0 to 9007199254740991, in digits alone",,,r1\n' +
      'Ana,3,,4,invalid,,invalid,"the row has 2 cells, the header has 3",,,r1\n',
  );
});

test('writes rejected JSON as JSON, and keeps every digit', async () => {
  await using shop = await stockShop([], {
    'a.json': '[{"id": 9223372036854775807,\n "count": 1, "x": [1, 2]}]',
    'b.jsonl': '{"petId":7,"quantity":1}\nnonsense\n',
  });
  for (const name of ['a.json', 'b.jsonl']) await shop.inventory(['apply', name, '--yes', '--skip-invalid']);
  expect(shop.read('a.rejects.jsonl')).toMatch(
    /^\{"id":9223372036854775807,"count":1,"x":\[1, 2\],"_line":1,"_state":"failed"/,
  );
  expect(shop.read('b.rejects.jsonl')).toMatch(
    /^\{"petId":7,"quantity":1,"_line":1,"_state":"failed","_status":404.*\n\{"_text":"nonsense","_line":2,"_state":"invalid"/,
  );
  expect(await shop.summary(['apply', 'a.rejects.jsonl', '--yes'])).toMatchObject({ failed: 1 });
});

test('the command that tries rejected rows again reads and writes them as the run did', async () => {
  await using shop = await stockShop([], { 'stock.csv': 'SKU,stock\n1,6\n' });
  shop.misbehave = ({ method }, response) => (method === 'POST' ? refuse(response, 409, 'no') : undefined);
  const { stderr } = await shop.inventory([...apply, '--map', 'petId=SKU', '--create-missing']);
  const again = 'petstore inventory apply stock.rejects.csv --map petId=SKU --create-missing';
  expect(stderr).toContain(`hint: correct the rejected rows, then run: ${again}\n`);
  shop.misbehave = undefined;
  expect(await shop.summary([...again.split(' ').slice(2), '--yes'])).toMatchObject({ code: 0, applied: 1 });
});

test('never overwrites a file without --force', async () => {
  await using shop = await stockShop([], { 'stock.csv': toCsv([[1, 2]]), 'mine.csv': 'precious' });
  const run = await shop.inventory([...apply, '--rejects', 'mine.csv']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('--rejects mine.csv: the file exists');
  symlinkSync(join(shop.folder, 'stock.csv'), join(shop.folder, 'link'));
  const input = await shop.inventory([...apply, '--rejects', 'link', '--force']);
  expect(input.stderr).toContain('--rejects link: it is the input');
  expect(shop.seen).toEqual([]);
  expect([shop.read('stock.csv'), shop.read('mine.csv')]).toEqual([toCsv([[1, 2]]), 'precious']);
  await shop.inventory([...apply, '--rejects', 'mine.csv', '--force']);
  expect(shop.read('mine.csv')).toContain('1,2,2,failed');
  // A name is in use although its link leads nowhere.
  shop.write('stock.rejects.csv', 'precious');
  symlinkSync('/nonexistent/place', join(shop.folder, 'stock.rejects.2.csv'));
  expect(await shop.summary(apply)).toMatchObject({ failed: 1, rejects: 'stock.rejects.3.csv' });
  expect(shop.read('stock.rejects.csv')).toBe('precious');
  expect(existsSync('/nonexistent/place')).toBe(false);
});

test('reports rejects that cannot be written, and keeps a file that came meanwhile', async () => {
  await using shop = await stockShop([5, 5], { 'stock.csv': toCsv([6, 6]) });
  shop.misbehave = ({ method, petId }, response) => {
    if (method === 'PUT') shop.write('mine.csv', 'precious');
    return method === 'PUT' && petId === '1' ? refuse(response, 409, 'no') : undefined;
  };
  const summary = await shop.summary([...apply, '--rejects', 'mine.csv']);
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(summary).not.toHaveProperty('rejects');
  expect(summary.stderr).toContain('mine.csv');
  expect(shop.read('mine.csv')).toBe('precious');
});
