import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

/** A run of 6 rows that stopped after 3. */
async function stoppedRun(server: StockServer) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(6, (petId) => petId + 10)));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && Number(petId) > 3 ? refuse(response, 409, 'no') : undefined;
  await desk.summary(['apply', 'stock.csv', '--yes', '--max-errors', '1', '--concurrency', '1']);
  server.misbehave = undefined;
  return desk;
}

test('lists runs, the newest first, with kind, file, time, state and counts in 80 columns', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = await stoppedRun(server);
  const file = `${desk.folder}/a-count-of-the-whole-warehouse.csv`;
  desk.write('a-count-of-the-whole-warehouse.csv', toCsv([[1, 77]]));
  await desk.inventory(['apply', file, '--yes']);
  await desk.inventory(['undo', '--yes']);
  const runs = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(runs).toMatchObject([
    { id: 'r3', kind: 'undo', file: 'r2', state: 'finished' },
    { id: 'r2', kind: 'apply', file: 'a-count-of-the-whole-warehouse.csv', state: 'undone', undoneBy: 'r3' },
    { id: 'r1', file: 'stock.csv', state: 'stopped', rows: 6, applied: 3, failed: 1, unprocessed: 2 },
  ]);
  const { stdout } = await desk.inventory(['runs'], {
    terminals: ['stdout'],
    columns: 80,
    env: { NO_COLOR: '1' },
  });
  const [header = '', , ...rows] = stdout.split('\n').filter((line) => line.startsWith('│'));
  expect(header).toMatch(/id.*kind.*file.*started.*state/);
  expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
  expect([header, ...rows].join('')).not.toContain(desk.folder);
  const limited = await desk.inventory(['runs', '-o', 'ids', '--limit', '2']);
  expect(limited.stdout).toBe('r3\nr2\n');
});

test('shows a run row by row', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = await stoppedRun(server);
  const words = ['runs', 'show', 'r1', '-o', 'csv', '--fields', 'petId,before,after,change,state,code,line'];
  expect((await desk.inventory(words)).stdout.split('\n')).toEqual([
    'petId,before,after,change,state,code,line',
    '1,1,11,10,applied,,2',
    '2,1,12,11,applied,,3',
    '3,1,13,12,applied,,4',
    '4,1,14,13,failed,no,5',
    '5,1,15,14,unprocessed,,6',
    '6,1,16,15,unprocessed,,7',
    '',
  ]);
  expect((await desk.inventory(['runs', 'show', 'r9'])).code).toBe(2);
});

test('--pet shows only the runs that wrote a pet, or may have', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = await stoppedRun(server);
  desk.write('other.csv', toCsv([[2, 5]]));
  await desk.inventory(['apply', 'other.csv', '--yes']);
  expect((await desk.inventory(['runs', '--pet', '2', '-o', 'ids'])).stdout).toBe('r2\nr1\n');
  expect((await desk.inventory(['runs', '--pet', '5', '-o', 'ids'])).stdout).toBe('');
});

test('a declined, guarded or dry run leaves none, and neither does one that was killed while it planned', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = await stoppedRun(server);
  for (const words of [[], ['--yes', '--max-changes', '1'], ['--dry-run']])
    await desk.inventory(['apply', 'stock.csv', ...words]);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('r1\n');
  const text = readFileSync(desk.journal('r1'), 'utf8');
  writeFileSync(desk.journal('r7'), text.slice(0, text.indexOf('"planned"') - 1));
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('r1\n');
  desk.write('other.csv', toCsv([[1, 2]]));
  expect(await desk.summary(['apply', 'other.csv', '--yes'])).toMatchObject({ code: 0, run: 'r8' });
  expect(desk.files()).not.toContain('r7.jsonl');
});

test('a killed run of a shard calls no row of another shard unknown', async () => {
  await using server = await stockServer(shelves(40, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', `petId,quantity\n${shelves(40, () => 9).join('\n')}\n41,x\n`);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--skip-invalid', '--shard', '1/2']);
  const path = desk.journal('r1');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.indexOf('\n', text.indexOf('"planned"')) + 1));
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({
    state: 'stopped',
    rows: 41,
    invalid: 1,
    skipped: summary.skipped,
    unknown: summary.applied,
    unprocessed: 0,
  });
});

test('-q prints no summary and no notes, and -o json still prints its document', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 2)));
  expect(await desk.inventory(['apply', 'stock.csv', '--yes', '-q'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  const { stdout } = await desk.inventory(['undo', '--yes', '-qo', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({ run: 'r2', applied: 3 });
});

test('exports the expected counts and names too', async () => {
  await using server = await stockServer(shelves(3, (petId) => petId));
  server.misbehave = ({ path }, response) => {
    if (!path.startsWith('/pets')) return undefined;
    const pets = shelves(3, (id) => id).map(([id]) => ({
      id,
      name: `Pet ${id}`,
      categoryId: 1,
      status: 'sold',
    }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(pets));
    return true;
  };
  const desk = stockDesk(server);
  const { stdout } = await desk.inventory(['export', '--with-expected']);
  expect(stdout).toBe('petId,quantity,expected,status\n1,1,1,available\n2,2,2,available\n3,3,3,available\n');
  desk.write('stock.csv', stdout.replace('2,2,2', '2,20,2').replace('3,3,3', '3,30,3'));
  server.stock.set('3', 8);
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 3,
    applied: 1,
    failed: 1,
  });
  expect(server.stock.get('3')).toBe(8);
  const named = await desk.inventory(['export', '--fields', 'petId,name,quantity']);
  expect(named.stdout).toBe('petId,name,quantity\n1,Pet 1,1\n2,Pet 2,20\n3,Pet 3,8\n');
});
