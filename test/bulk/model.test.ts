import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { readJournal } from '../../src/bulk/journal-reader.ts';
import type { Rows, State } from '../../src/bulk/rows.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, stockServer } from '../helpers/stock-server.ts';

const rounds = 80;
const seed = Number(process.env.PETSTORE_TEST_SEED ?? 539_734);

// Journals are synchronised to the disk, thousands of times: in memory that takes no time.
if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');

afterEach(() => vi.restoreAllMocks());
afterAll(() => vi.unstubAllEnvs());

/** Numbers from 0 to 1 that follow from a seed: mulberry32. */
function randomOf(start: number) {
  let state = start >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (count: number) => Math.floor(next() * count),
    chance: (share: number) => next() < share,
  };
}
type Random = ReturnType<typeof randomOf>;

/** The facts of a round. */
interface Round {
  readonly random: Random;
  readonly server: StockServer;
  readonly desk: StockDesk;
  readonly isBlind: boolean;
  readonly isRelative: boolean;
  readonly creates: boolean;
  readonly shards: number;
  /** The values of the file by pet: counts or changes. */
  readonly file: ReadonlyMap<string, number>;
  /** Writes of the program that were applied, in order: counts before and after by pet. */
  readonly applied: Map<string, { before: number | undefined; after: number | undefined }[]>;
  /** Pets whose count others changed. */
  readonly drifted: Set<string>;
  wasKilled: boolean;
}

/** Makes the service apply a write of the program, and records it. */
function applyWrite({ server, applied }: Round, petId: string, after: number | undefined): void {
  const before = server.stock.get(petId);
  applied.set(petId, [...(applied.get(petId) ?? []), { before, after }]);
  if (after === undefined) server.stock.delete(petId);
  else server.stock.set(petId, after);
}

/** The faults of a write; a request without an answer is destroyed. */
const faults = [
  'lost',
  'lost and applied',
  'refused 409',
  'refused 412',
  'refused 429',
  'refused 503',
  'failed 500',
  'failed 500 and applied',
  'failed 504 and applied',
  'other pet',
  'other pet and applied',
  'error with 200',
] as const;

/** Makes writes fail at random; `killAt` takes a snapshot at that write and lets nothing pass from then on. */
function misbehave(round: Round, share: number, killAt: number, onKill: () => void): void {
  const { server, random } = round;
  let writes = 0;
  let isDead = false;
  server.misbehave = ({ method, petId, newPetId, quantity }, response) => {
    if (isDead) return refuse(response, 401, 'dead');
    if (method === 'GET') return undefined;
    const id = petId ?? newPetId ?? '';
    writes += 1;
    if (writes === killAt) {
      onKill();
      isDead = true;
      if (random.chance(0.5) && mayApply(round, method, id)) applyWrite(round, id, quantity);
      response.destroy();
      return true;
    }
    const fault = random.chance(share) ? faults[random.below(faults.length)] : undefined;
    if (fault === undefined) {
      if (mayApply(round, method, id)) applyWrite(round, id, quantity);
      else return refuse(response, method === 'POST' ? 409 : 404, 'not_possible');
      return method === 'DELETE'
        ? reply(response, 200, '{}')
        : reply(response, 200, { petId: Number(id), quantity, status: 'sold' });
    }
    if (fault.endsWith('and applied') && mayApply(round, method, id)) applyWrite(round, id, quantity);
    const status = Number(/\d{3}/.exec(fault)?.[0]);
    if (fault.startsWith('lost')) response.destroy();
    else if (fault.startsWith('other pet')) reply(response, 200, { petId: 999, quantity, status: 'sold' });
    else if (fault === 'error with 200')
      reply(response, 200, { code: 'broken', message: 'it is broken', status: 500 });
    else refuse(response, status, 'fault', status === 429 ? { 'retry-after': '0' } : {});
    return true;
  };
}

function mayApply({ server }: Round, method: string, petId: string): boolean {
  return method === 'POST' ? !server.stock.has(petId) : server.stock.has(petId);
}

function rowsOf(desk: StockDesk): string {
  return join(desk.folder, 'state');
}

/** Copies the files on the disk, without locks, which end with their process. */
function snapshot(desk: StockDesk): string {
  const copy = join(desk.folder, 'snapshot');
  rmSync(copy, { recursive: true, force: true });
  cpSync(rowsOf(desk), copy, {
    recursive: true,
    filter: (path) => !path.endsWith('.lock') && !/target-[^/]*$/.test(path),
  });
  return copy;
}

type Summary = Awaited<ReturnType<StockDesk['summary']>>;

const states: readonly State[] = [
  'applied',
  'unchanged',
  'failed',
  'unknown',
  'invalid',
  'skipped',
  'unprocessed',
];

function checkSummary({ file }: Round, summary: Summary): void {
  if (summary.rows === undefined) return;
  expect(states.reduce((sum, state) => sum + Number(summary[state]), 0)).toBe(summary.rows);
  expect(summary.rows).toBe(file.size);
  const wrong = ['failed', 'unknown', 'invalid', 'unprocessed'].some((state) => Number(summary[state]) > 0);
  expect(summary.code === 0).toBe(!wrong);
}

/** The journal must agree with the service about each row. */
function checkRows(round: Round, rows: Rows, target: (row: number) => number | null): void {
  for (let row = 0; row < rows.length; row += 1) {
    const petId = String(rows.id(row));
    const writes = round.applied.get(petId) ?? [];
    const state = rows.state(row);
    const place = `pet ${petId} is ${state}`;
    if (state === 'failed' && !rows.wasSent(row)) expect(writes, place).toEqual([]);
    if (state === 'unchanged' || state === 'skipped') expect(writes, place).toEqual([]);
    // A lost write, and the same count set by others, look alike.
    if (state === 'applied' && !round.wasKilled && !round.drifted.has(petId)) {
      expect(writes.length, place).toBeGreaterThan(0);
      expect(writes.at(-1)?.after, place).toBe(target(row) ?? undefined);
    }
    // A row that was applied is at least marked as perhaps sent, so that undo reads it.
    if (writes.length > 0) expect(rows.wasSent(row), place).toBe(true);
    if (round.isRelative) checkBookedOnce(round, petId);
  }
}

function checkBookedOnce({ applied, file }: Round, petId: string): void {
  const writes = applied.get(petId) ?? [];
  const sum = writes.reduce((total, { before, after }) => total + (after ?? 0) - (before ?? 0), 0);
  expect([0, file.get(petId)], `pet ${petId} was changed by ${sum}`).toContain(sum);
}

async function newestRun(desk: StockDesk): Promise<string | undefined> {
  const names = readdirSync(join(desk.folder, 'state', 'runs')).filter((name) => name.endsWith('.jsonl'));
  return names.sort().at(-1)?.replace('.jsonl', '');
}

/** Applies one shard of the file with faults and kills, resumes it until it is done, and undoes it in some rounds. */
async function surviveShard(round: Round, shard: number): Promise<void> {
  const { random, server, desk, shards, isBlind, isRelative, creates } = round;
  const words = [
    ...['apply', 'stock.csv', '--yes', '--allow-zero'],
    ...(isBlind ? ['--blind'] : []),
    ...(isRelative ? ['--relative'] : []),
    ...(creates ? ['--create-missing'] : []),
    ...(shards > 1 ? ['--shard', `${shard}/${shards}`] : []),
  ];
  const pace = ['--concurrency', String(1 + random.below(8)), '--retries', String(random.below(2))];
  round.applied.clear();
  round.wasKilled = false;
  const initial = new Map(server.stock);
  let run: string | undefined;
  let booked: ReadonlyMap<number, number> = new Map();
  const sessions = 1 + random.below(3);
  for (let session = 0; session < sessions; session += 1) {
    const isLast = session === sessions - 1;
    const killAt = random.chance(0.4) && !isLast ? 1 + random.below(round.file.size) : 0;
    let copy: string | undefined;
    misbehave(round, isLast ? 0 : 0.4, killAt, () => {
      copy = snapshot(desk);
    });
    const limit = random.chance(0.3) ? ['--fail-fast'] : random.chance(0.3) ? ['--max-errors', '3'] : [];
    const verify = random.chance(0.2) && !isBlind ? ['--verify'] : [];
    const summary = await desk.summary([...words, ...pace, ...limit, ...verify]);
    server.misbehave = undefined;
    if (copy !== undefined) {
      round.wasKilled = true;
      rmSync(rowsOf(desk), { recursive: true });
      cpSync(copy, rowsOf(desk), { recursive: true });
    } else checkSummary(round, summary);
    if (copy === undefined && summary.run === undefined && session === 0) return;
    const newest = await newestRun(desk);
    // After a finished apply, the next one is another run, which reads all rows again.
    if (newest !== run && run !== undefined) return;
    run = newest;
    if (run === undefined) return;
    const { rows, ending } = await readJournal(desk.journal(run));
    checkRows(round, rows, (row) => rows.quantity(row));
    checkBooked(round, rows, booked);
    booked = bookedWrites(round, rows);
    if (ending?.ended === 'finished' && (!isRelative || summary.unknown === 0)) break;
    if (random.chance(0.4)) drift(round, rows);
  }
  if (run !== undefined && !isBlind && random.chance(0.7)) await takeBack(round, run, initial);
}

/** Others set counts between two sessions: to random ones, or to those that the run found or wants to set. */
function drift({ random, server, drifted, isRelative }: Round, rows: Rows): void {
  for (let row = 0; row < rows.length; row += 1) {
    const petId = String(rows.id(row));
    if (!random.chance(0.15) || !server.stock.has(petId)) continue;
    const count = [random.below(50), rows.before(row), rows.quantity(row)][random.below(3)] ?? 0;
    // A delivery that may have been booked, with a count that is as before again, cannot be told from one that was not.
    if (isRelative && count === rows.before(row) && !rows.isState(row, 'applied')) continue;
    drifted.add(petId);
    server.stock.set(petId, count);
  }
}

/** Others set counts of rows that the run did not send: an undo must leave them alone. */
function setUnsent({ server, drifted }: Round, rows: Rows): void {
  for (let row = 0; row < rows.length; row += 1) {
    const petId = String(rows.id(row));
    const quantity = rows.quantity(row);
    if (rows.wasSent(row) || rows.before(row) === undefined || quantity === null) continue;
    drifted.add(petId);
    server.stock.set(petId, quantity);
  }
}

/** The number of applied writes of each pet whose row is final: an applied one of a blind or relative run. */
function bookedWrites({ isBlind, isRelative, applied }: Round, rows: Rows): ReadonlyMap<number, number> {
  const booked = new Map<number, number>();
  if (!isBlind && !isRelative) return booked;
  for (const row of rows.inState('applied')) booked.set(row, applied.get(String(rows.id(row)))?.length ?? 0);
  return booked;
}

/** A final row stays applied, and is not sent again. */
function checkBooked({ applied }: Round, rows: Rows, booked: ReadonlyMap<number, number>): void {
  for (const [row, writes] of booked) {
    const petId = String(rows.id(row));
    expect(rows.state(row), `pet ${petId} after it was applied`).toBe('applied');
    expect(applied.get(petId)?.length ?? 0, `writes of pet ${petId}`).toBe(writes);
  }
}

async function takeBack(round: Round, run: string, initial: ReadonlyMap<string, number>): Promise<void> {
  const { server, desk, applied, drifted, random } = round;
  const { rows } = await readJournal(desk.journal(run));
  if (random.chance(0.3)) drift(round, rows);
  if (random.chance(0.3)) setUnsent(round, rows);
  const before = new Map(server.stock);
  const sent = new Map<string, number | null>();
  for (let row = 0; row < rows.length; row += 1)
    if (rows.wasSent(row)) sent.set(String(rows.id(row)), rows.quantity(row));
  const writes = new Map(applied);
  if (random.chance(0.4)) {
    misbehave(round, 0.4, 0, () => {});
    await desk.summary(['undo', run, '--yes', '--retries', '0']);
  }
  misbehave(round, 0, 0, () => {});
  await desk.summary(['undo', run, '--yes']);
  server.misbehave = undefined;
  for (const petId of new Set([...before.keys(), ...server.stock.keys(), ...initial.keys()])) {
    const now = server.stock.get(petId);
    const place = `pet ${petId} after the undo`;
    if (!sent.has(petId) || before.get(petId) !== (sent.get(petId) ?? undefined))
      expect(now, place).toBe(before.get(petId));
    else if (!drifted.has(petId) && writes.has(petId)) expect(now, place).toBe(initial.get(petId));
  }
}

async function surviveRound(number: number): Promise<void> {
  const random = randomOf(seed * 1000 + number);
  const pets = 3 + random.below(20);
  const stock = Array.from({ length: pets }, (_, at): [number, number] => [at + 1, random.below(30)]);
  await using server = await stockServer(stock.filter(() => random.chance(0.9)));
  server.sendsETags = random.chance(0.3);
  const isRelative = random.chance(0.4);
  const file = new Map(
    stock
      .filter(() => random.chance(0.8))
      .map(([petId]) => [String(petId), isRelative ? random.below(20) - 5 : random.below(30)]),
  );
  if (file.size === 0) return;
  const desk = stockDesk(server);
  const header = isRelative ? 'petId,change' : 'petId,quantity';
  desk.write('stock.csv', `${header}\n${[...file].map(([id, count]) => `${id},${count}\n`).join('')}`);
  const round: Round = {
    ...{ random, server, desk, isRelative, file },
    isBlind: !isRelative && random.chance(0.25),
    creates: random.chance(0.5),
    shards: random.chance(0.2) ? 2 : 1,
    applied: new Map(),
    drifted: new Set(),
    wasKilled: false,
  };
  for (let shard = 1; shard <= round.shards; shard += 1) await surviveShard(round, shard);
}

test(`the stock and the summary are what a model says, over ${rounds} rounds of faults, kills and undos (seed ${seed})`, async () => {
  // Delays before retries are fractions of half a second.
  vi.spyOn(Math, 'random').mockImplementation(() => 1e-6);
  const broken: string[] = [];
  for (let round = 0; round < rounds; round += 1)
    try {
      await surviveRound(round);
    } catch (error) {
      broken.push(`round ${round}: ${(error as Error).message.slice(0, 400)}`);
    }
  expect(broken, `PETSTORE_TEST_SEED=${seed}`).toEqual([]);
}, 240_000);
