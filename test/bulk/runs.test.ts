import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Journal } from '../../src/bulk/journal.ts';
import { createRowKeeper } from '../../src/bulk/keep-rows.ts';
import { changeOf } from '../../src/bulk/plan.ts';
import { createLog, type RunHeader } from '../../src/bulk/run.ts';
import { parseEvent, printEvent, toPlanEvent } from '../../src/bulk/run-events.ts';
import { createRow, type RunRow } from '../../src/bulk/run-row.ts';
import { Stop } from '../../src/process/signals.ts';
import type { RecordPort } from '../../src/writes/port.ts';
import { initialState } from '../../src/writes/state.ts';
import { shelves, toCsv, trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A service, and a run of 6 rows that stopped after 3. */
async function stoppedRun() {
  const text = toCsv(shelves(6, (petId) => petId + 10));
  const shop = await stockShop([1, 1, 1, 1, 1, 1], { 'stock.csv': text });
  trouble(shop, (petId) => (petId > 3 ? 409 : undefined));
  await shop.report('inventory apply stock.csv --yes --max-errors 1 --concurrency 1');
  shop.misbehave = undefined;
  return shop;
}

test('lists the newest runs first, and shortens names of files only on a terminal, to 80 columns', async () => {
  await using shop = await stoppedRun();
  shop.write('a-count-of-the-whole-warehouse.csv', toCsv([[1, 77]]));
  await shop.run('inventory apply a-count-of-the-whole-warehouse.csv --yes');
  await shop.run('undo --yes');
  expect(JSON.parse((await shop.run('runs -o json')).stdout)).toMatchObject([
    { id: 'r3', kind: 'undo', file: 'r2', state: 'finished' },
    { id: 'r2', kind: 'apply', file: 'a-count-of-the-whole-warehouse.csv', state: 'undone', undoneBy: 'r3' },
    { id: 'r1', file: 'stock.csv', state: 'open', rows: 6, applied: 3, failed: 1, unprocessed: 2 },
  ]);
  expect((await shop.run('runs -o ids --limit 2')).stdout).toBe('r3\nr2\n');
  const { stdout } = await shop.run('runs', { terminals: ['stdout'], columns: 80, env: { NO_COLOR: '1' } });
  const [header = '', ...rows] = stdout.split('\n').filter((line) => /\w/.test(line));
  expect(header).toMatch(/id.*kind.*file.*started.*state/);
  expect(rows).toEqual(Array(3).fill(expect.stringMatching(/\br\d .* \d{4}-\d\d-\d\d \d\d:\d\d /)));
  expect(rows[1]).toContain(' a-count-of-th... ');
  const named = (await shop.run('runs --fields rows,unprocessed,left,undoneBy')).stdout;
  expect(named).toMatch(/^rows {2}unprocessed {2}left {2}undoneBy\n.*\n +1 +0 {5}0 {2}r3\n/);
  expect(Math.max(...[header, ...rows].map((line) => line.length))).toBeLessThanOrEqual(80);
  const piped = (await shop.run('runs')).stdout.trimEnd().split('\n');
  expect(piped[2]).toContain(' a-count-of-the-whole-warehouse.csv ');
  expect(new Set(piped.map((line) => line.search(/started|\d{4}-\d\d-\d\dT/))).size).toBe(1);
});

test('shows a run row by row', async () => {
  await using shop = await stoppedRun();
  const words = ['runs', 'show', 'r1', '-o', 'csv', '--fields', 'petId,before,after,change,state,code,line'];
  expect((await shop.run(words)).stdout.split('\n')).toEqual([
    'petId,before,after,change,state,code,line',
    '1,1,11,10,applied,,2',
    '2,1,12,11,applied,,3',
    '3,1,13,12,applied,,4',
    '4,1,14,13,failed,no,5',
    '5,1,15,14,unprocessed,,6',
    '6,1,16,15,unprocessed,,7',
    '',
  ]);
  expect((await shop.run('runs show r9')).stderr).toContain('error: run r9: no such run\n');
  await using other = await stockShop([]);
  expect(await other.run('runs show')).toMatchObject({ code: 2, stderr: 'error: no runs yet\n' });
  const last = await shop.run('runs show -o csv --fields petId');
  expect(last.stdout.split('\n'), 'without an id it is the last run').toHaveLength(8);
});

test('settling one row leaves unsent rows unprocessed, and rejects the row once', async () => {
  await using shop = await stoppedRun();
  const named = await shop.report('runs settle r1 5=77 --as applied');
  const message = '5=77: only a row that creates its record takes an id';
  expect(named).toMatchObject({ code: 2, error: { message } });
  const settled = await shop.run('runs settle r1 5 line:6 5 --as failed -o json');
  expect(JSON.parse(settled.stdout)).toEqual([{ id: 5, line: 6, state: 'failed' }]);
  const [run] = JSON.parse((await shop.run('runs -o json')).stdout);
  expect(run).toMatchObject({ state: 'open', applied: 3, failed: 2, unprocessed: 1, unsettled: 0 });
  expect(await shop.report('resume --yes')).toMatchObject({ code: 3, applied: 4, failed: 2 });
  expect(shop.read('stock.rejects.2.csv').match(/^\d,.*$/gm)).toEqual([
    '5,15,6,failed,,settled,a person has said that it was not applied',
  ]);
});

test('--pet shows only the runs on this service that wrote a pet, or may have', async () => {
  await using shop = await stoppedRun();
  shop.write('other.csv', toCsv([[2, 5]]));
  for (const flag of ['', ' --offline']) await shop.run(`inventory apply other.csv --yes${flag}`);
  for (const [pet, ids] of Object.entries({ 2: 'r2\nr1\n', 5: '', '2 --offline': '' }))
    expect((await shop.run(`runs -o ids --pet ${pet}`)).stdout, pet).toBe(ids);
  expect((await shop.run('runs', { terminals: ['stderr'] })).stderr).toContain('runs are on 2 services');
  const table = (await shop.run('runs --pet 2 --fields file,state')).stdout.trimEnd().split('\n');
  expect(new Set(table.map((line) => line.search(/(state|open|finished|undone)$/))).size).toBe(1);
  const path = shop.journal('r2');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"kind":"plan-end"', '"kind":plan-end'));
  const stderr = `warning: ${path}: this journal cannot be read: a plan has no end\n`;
  expect(await shop.run('runs --pet 2 -o ids')).toEqual({ code: 0, stdout: 'r1\n', stderr });
  expect((await shop.run('runs show r2')).stderr).toContain(': a plan has no end\nhint: ');
});

test('a run that was killed before its plan was complete does not exist, and its id is not given again', async () => {
  await using shop = await stoppedRun();
  const text = readFileSync(shop.journal('r1'), 'utf8').replace('"run":"r1"', '"run":"r7"');
  for (const end of [0, 20, text.indexOf('\n') + 1, text.indexOf('{"kind":"plan-end"')]) {
    writeFileSync(shop.journal('r7'), text.slice(0, end));
    expect(await shop.run('runs -o ids')).toEqual({ code: 0, stdout: 'r1\n', stderr: '' });
    for (const line of ['resume r7', 'undo r7', 'runs show r7', 'runs settle r7 1 --as failed'])
      expect((await shop.run(line)).stderr, line).toMatch(/^error: run r7: no such run\n/);
  }
  shop.write('other.csv', toCsv([2]));
  expect(await shop.report('inventory apply other.csv --yes')).toMatchObject({ code: 0, id: 'r8' });
});

test('a journal takes no line after one that could not be written', () => {
  const header = { kind: 'apply' } as RunHeader;
  const journal = new Journal(temporaryFolder(), { id: 'r1', started: '', header }, createLog(header, []));
  const mark = () => journal.append([{ kind: 'mark', rows: [] }]);
  // More events than a function has arguments.
  journal.append(Array.from({ length: 200_000 }, () => ({ kind: 'mark', rows: [] })));
  journal[Symbol.dispose]();
  expect(mark).toThrow('bad file descriptor');
  const { error } = journal;
  expect(mark).toThrow(error as Error);
  expect(journal.error).toBe(error);
});

test('above 1 GB the oldest finished journals go, except deliveries, what follows an unfinished run and the last 50', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv([5]) });
  await shop.report('inventory apply stock.csv --yes');
  const [begin = '', ...events] = readFileSync(shop.journal('r1'), 'utf8').trim().split('\n');
  const { header, ...head } = JSON.parse(begin);
  const headers: Record<string, object> = {
    r1: { target: { ...header.target, tenant: 'other' } },
    r2: { delivery: 'LS-1' },
    r3: { kind: 'undo', undoes: 'r2' },
    r60: { kind: 'undo', undoes: 'r5' },
  };
  const ids = Array.from({ length: 60 }, (_, at) => `r${at + 1}`);
  for (const id of ids) {
    const line = JSON.stringify({ ...head, run: id, header: { ...header, ...headers[id] } });
    const isStopped = id === 'r1' || id === 'r60';
    writeFileSync(
      shop.journal(id),
      isStopped ? `${[line, ...events.slice(0, -1)].join('\n')}\n` : `${line}\n`,
    );
    if (isStopped) continue;
    // A hole takes no room on the disk. Of a finished journal only the first and the last line are read.
    truncateSync(shop.journal(id), Math.floor(2 ** 30 / 56.5));
    appendFileSync(shop.journal(id), `\n${events.at(-1)}\n`);
  }
  expect(await shop.report('inventory apply stock.csv --yes')).toMatchObject({ code: 0, id: 'r61' });
  expect(ids.filter((id) => !existsSync(shop.journal(id)))).toEqual(['r4']);
});

test('a killed run has its rows unsettled, and those of another shard skipped', async () => {
  await using shop = await stockShop(shelves(40, 1));
  shop.write('stock.csv', `petId,quantity\n${shelves(40, 9).join('\n')}\n41,x\n`);
  const report = await shop.report('inventory apply stock.csv --yes --skip-invalid --shard 1/2');
  const path = shop.journal('r1');
  const lines = readFileSync(path, 'utf8').split('\n');
  const planned = lines.findIndex((line) => line.includes('"kind":"plan-end"'));
  writeFileSync(path, `${lines.slice(0, planned + 2).join('\n')}\n`);
  const [listed] = JSON.parse((await shop.run('runs -o json')).stdout);
  expect(listed).toMatchObject({
    state: 'open',
    rows: 41,
    invalid: 1,
    skipped: report.skipped,
    unsettled: report.applied,
    unknown: 0,
    unprocessed: 0,
  });
});

test('-q prints plan and summary but no notes, and -o json still prints its document', async () => {
  await using shop = await stockShop(shelves(3, 1));
  shop.write('stock.csv', toCsv(shelves(3, 2)));
  const run = await shop.run('inventory apply stock.csv --yes -q');
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('applied 3 of 3 rows') });
  expect(run.stderr).toBe('plan: 3 of 3 rows to write: +3\n');
  const { stdout } = await shop.run('undo --yes -qo json');
  expect(JSON.parse(stdout)).toMatchObject({ id: 'r2', applied: 3 });
});

/** A run of three rows that add, the keeper of its rows, and the events in its journal when each of them was on the disk. */
function keepRows(canReadEach = true) {
  const planned = { action: 'set', before: 0, after: 1 } as const;
  const rows = [2, 3, 4].map((line) => ({
    ...createRow({ line, id: BigInt(line), intent: { kind: 'add', change: 1 }, text: undefined }),
    planned,
  }));
  const header = { kind: 'apply' } as RunHeader;
  const journal = new Journal(temporaryFolder(), { id: 'r1', started: '', header }, createLog(header, rows));
  const append = vi.spyOn(journal, 'append');
  const sync = vi.spyOn(journal, 'sync');
  const stop = new Stop();
  const saveStore: RecordPort['saveStore'] = vi.fn().mockRejectedValueOnce(new Error('no space left'));
  const port = { abilities: { canReadEach }, limits: { concurrency: 2 }, saveStore } as RecordPort;
  const keeper = createRowKeeper(journal, { port, rowsToWrite: rows, maxErrors: 100, stop });
  onTestFinished(() => journal[Symbol.dispose]());
  const events = () => append.mock.calls.flatMap(([each]) => each);
  return { row: rows[0] as RunRow, planned, keeper, stop, sync, events };
}

test('rows are on disk before they are sent, and once more before they are sent with new values', () => {
  const { row, planned, keeper, sync, events } = keepRows();
  expect([keeper.mark(row, planned), keeper.mark(row, planned)]).toEqual([true, true]);
  expect([events(), sync.mock.calls.length]).toEqual([[{ kind: 'mark', rows: [2, 3, 4] }], 1]);
  const changed = { action: 'set', before: 1, after: 2 } as const;
  expect(keeper.mark(row, changed)).toBe(true);
  expect(events().slice(1)).toEqual([{ kind: 'mark', rows: [2], planned: changed }]);
  expect(sync).toHaveBeenCalledTimes(2);
});

test('rows that only a person could settle after a kill share a mark only with those that are sent at once', () => {
  const { row, planned, keeper, events } = keepRows(false);
  keeper.mark(row, planned);
  expect(events()).toEqual([{ kind: 'mark', rows: [2, 3] }]);
});

test('an outcome that is not saved is unknown, and stops the run', async () => {
  const { row, keeper, stop, events } = keepRows();
  await keeper.keepOutcome(row, { state: initialState(row), outcome: { kind: 'applied' } });
  await keeper.flush();
  const outcome = { kind: 'unknown', reason: { code: 'not_saved' }, doubt: 'sent' };
  // The failed save has taken away what rows in flight had changed, so a later save does not hold it.
  await keeper.keepOutcome(row, { state: initialState(row), outcome: { kind: 'applied' } });
  await keeper.flush();
  const unsaved = { kind: 'outcome', row: 2, outcome };
  expect(events()).toMatchObject([unsaved, unsaved]);
  expect(stop.cause).toMatchObject({ kind: 'partial' });
});

test('the outcome of a create waits for no others', async () => {
  const { row, planned, keeper, events } = keepRows();
  const outcome = { kind: 'applied' } as const;
  await keeper.keepOutcome(row, { state: initialState(row), outcome });
  const made = { ...initialState(row), planned: { ...planned, action: 'create' } } as const;
  await keeper.keepOutcome(row, { state: made, outcome });
  await new Promise(setImmediate);
  expect(events()).toHaveLength(2);
});

test('a journal that was read and then removed or cut is not begun again', () => {
  const folder = temporaryFolder();
  const log = { ...createLog({ kind: 'apply' } as RunHeader, []), bytes: 100 };
  const open = () => new Journal(folder, { id: 'r1', started: '', header: log.header }, log);
  expect(open).toThrow('r1.jsonl: no such file');
  writeFileSync(join(folder, 'r1.jsonl'), '{}');
  expect(open).toThrow('it has become shorter');
});

test('a journal keeps apart a field that is null and one that is missing', () => {
  const planned = {
    action: 'set',
    before: { name: 'Rex', status: undefined },
    after: { status: null },
  } as const;
  const intent = { kind: 'set', value: { status: null } } as const;
  const row = { ...createRow({ line: 2, id: 7n, intent, text: '' }), planned };
  expect(parseEvent(printEvent(toPlanEvent(row)))).toMatchObject({ intent, planned });
});

test('the change of a count of more than 2^53 keeps every digit', () => {
  const row = createRow({ line: 2, id: 7n, intent: { kind: 'set', value: 5 }, text: '' });
  const planned = { action: 'set', before: 9223372036854775807n, after: 5 } as const;
  expect(changeOf({ ...row, planned })).toBe(-9223372036854775802n);
});
