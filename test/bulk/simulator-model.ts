import {
  type Command,
  type ListedRun,
  namedCommand,
  openStates,
  rightStates,
  type ShownRow,
  Violation,
  wrongStates,
} from './simulator-command.ts';
import { maxConcurrency, type Step } from './simulator-history.ts';
import { isOf, Ledger, type RunRecord } from './simulator-ledger.ts';
import type { World } from './simulator-world.ts';

const finishedStates = ['finished', 'undone', 'partly undone'];

/** Types a command. */
type Take = (kind: Step['kind'], words?: readonly string[]) => Promise<Command | undefined>;

/**
 * What runs promise, checked after each command against what the service saw:
 *
 * - a delivery is booked once, with its change, however it is repeated, resumed and undone; a record is made once;
 * - an undo sets back what its run wrote, and only that; of a delivery it adds the opposite;
 * - nothing else changes: no other record, no other field, and nothing that somebody else wrote where If-Match is honoured;
 * - `applied` means that it was written, or shown after an attempt; `failed`, `unprocessed` and `invalid` that it was not
 *   written, `booked` that another run did, `unknown` that an attempt may have been applied;
 * - the counts of a report add up, its exit code fits, and it names a command that goes on, which then succeeds;
 * - at the end a row is unknown only if nobody can know, and a person who has looked can close every run.
 */
export class Model {
  private readonly world: World;
  private readonly ledger: Ledger;
  private runs: readonly ListedRun[] = [];
  /** The runs that wrote files of rejects, by file. */
  private readonly rejecters = new Map<string, RunRecord>();

  constructor(world: World) {
    this.world = world;
    this.ledger = new Ledger(world);
  }

  async check(command: Command): Promise<void> {
    const { ledger, world } = this;
    this.runs = await world.runs();
    ledger.attribute(command, this.runs);
    for (const run of ledger.runs) {
      const earlier = run.rows;
      const isMaking = run.file.kind === 'creates' && !run.undone;
      const rows = await world.show(run.id);
      run.rows = new Map(rows.map((row) => [isMaking || row.id === '' ? `line:${row.line}` : row.id, row]));
      checkRows(ledger, run, earlier, command);
    }
    for (const change of ledger.changes) ledger.checkChange(change);
    // So many may be in flight.
    if (world.gateway.unkept > maxConcurrency)
      throw new Violation(`command ${command.number} goes on, although nothing can be kept`);
    const run = ledger.runOf(command.number);
    this.checkRejects(run);
    if (command.hasCrashed) return;
    const rows = run ? [...run.rows.keys()] : [];
    const written = rows.filter((key) => run && ledger.writesOf(run, key).length > 0).length;
    const hasSent = world.gateway.writes.some((request) => request.command === command.number);
    const listed = this.runs.find(({ id }) => id === run?.id);
    checkReport(command, listed, hasSent, written);
  }

  /** What a run adds or creates is not in its rejects: it must not be done both ways. */
  private checkRejects(run: RunRecord | undefined): void {
    for (const { path, file, keys } of this.world.readRejects()) {
      if (file.kind !== 'delivery' && file.kind !== 'creates') continue;
      if (run?.file === file && !this.rejecters.has(path)) this.rejecters.set(path, run);
      const rejecter = this.rejecters.get(path);
      const both = rejecter && keys.find((key) => this.ledger.writesOf(rejecter, key).length > 0);
      if (both) throw new Violation(`${path} has record ${both}, which its run ${rejecter.id} has written`);
    }
  }

  /** What a person who has looked says about rows of a run. Empty if nothing is open. */
  settleWords({ pick = 0 }: Step): readonly string[] {
    const isOpen = ({ state }: ShownRow) => openStates.includes(state);
    const runs = this.ledger.runs.filter(({ rows }) => [...rows.values()].some(isOpen));
    const run = runs[pick % Math.max(1, runs.length)];
    if (!run) return [];
    // Whoever looks has waited long enough.
    this.world.gateway.landLate();
    const isApplied = pick % 2 === 0;
    return this.wordsOf(run, isApplied) ?? this.wordsOf(run, !isApplied) ?? [];
  }

  /** The command that settles the open rows that were applied, or were not. Undefined if there are none. */
  private wordsOf(run: RunRecord, isApplied: boolean) {
    const names = [...run.rows].flatMap(([key, { state }]) => {
      const made = this.ledger.writesOf(run, key).at(-1);
      if (!openStates.includes(state) || (made !== undefined) !== isApplied) return [];
      return made && run.file.kind === 'creates' && !run.undone ? `${key}=${made.id}` : key;
    });
    if (names.length === 0) return undefined;
    return ['runs', 'settle', run.id, ...names, '--as', isApplied ? 'applied' : 'failed'];
  }

  /** Once all is well: each run that stopped comes to its end by what the program names, and else by what a person says. */
  async finish(take: Take): Promise<void> {
    const [tried, resumed] = [new Set<string>(), new Set<string>()];
    for (let turn = 0; turn < 12; turn += 1) {
      const listed = (await this.world.runs()).findLast(
        ({ id, state, undoneBy }) => !finishedStates.includes(state) && !undoneBy && !tried.has(id),
      );
      if (!listed) break;
      tried.add(listed.id);
      const isUndo = listed.kind === 'undo';
      const command = await take(isUndo ? 'undo' : 'resume', [isUndo ? listed.file : listed.id]);
      if (command?.code !== 2) resumed.add(listed.id);
      else if (namedCommand(command)) await take('follow');
      else if (!/apply|look|runs settle/.test(`${command.error?.hint} ${command.error?.message}`))
        throw new Violation(`${listed.id} is refused, and no way on is named`);
    }
    this.checkUnknown(resumed);
    for (const run of this.ledger.runs) if (!this.isFinished(run)) await this.close(run, take);
    await this.checkEnd();
  }

  /** A person says of every row that is open what happened: then the run is finished. */
  private async close(run: RunRecord, take: Take): Promise<void> {
    for (const isApplied of [true, false]) {
      const words = this.wordsOf(run, isApplied);
      const command = words && (await take('settle', words));
      if (words && command?.code !== 0)
        throw new Violation(`a person cannot settle rows: ${command?.stderr}`);
    }
    // Rows that failed for a transient reason are left too.
    for (const [key, { state }] of run.rows)
      if (state === 'failed' && !this.isFinished(run))
        await take('settle', ['runs', 'settle', run.id, key, '--as', 'failed']);
  }

  private isFinished({ id }: RunRecord): boolean {
    return this.runs.some((run) => run.id === id && finishedStates.includes(run.state));
  }

  /** What a run that could go on in a healthy service leaves unknown, nobody can know. */
  private checkUnknown(resumed: ReadonlySet<string>): void {
    const { runs } = this.ledger;
    if (this.world.history.service.etags === 'random') return;
    for (const run of runs.filter(({ id, file }) => resumed.has(id) && file.kind !== 'creates'))
      for (const [id, { state, code }] of run.rows) {
        const isOfOthers = runs.some((other) => other !== run && other.rows.has(id));
        const isMoved = this.world.gateway.disputed.has(id) || this.ledger.isDisturbed(run, id);
        // Whether a POST has made an entry, its readings cannot tell.
        if (state === 'unknown' && code !== 'perhaps_made' && !isOfOthers && !isMoved)
          throw new Violation(
            `run ${run.id}, record ${id} stays unknown (${code}), and nobody else changed it`,
          );
      }
  }

  /** At the end every run is finished, and each row that failed for good is in the rejects. */
  private async checkEnd(): Promise<void> {
    const rejects = this.world.readRejects();
    this.runs = await this.world.runs();
    for (const run of this.ledger.runs) {
      const { id, undone, file } = run;
      const { state, undoneBy } = this.runs.find((each) => each.id === id) ?? {};
      if (!this.isFinished(run)) throw new Violation(`run ${id} can never be finished: it is ${state}`);
      if (undone || state !== 'finished' || undoneBy) continue;
      const keys = rejects.flatMap((each) => (each.file === file ? each.keys : []));
      for (const [key, row] of run.rows)
        if (row.state === 'failed' && !keys.includes(key))
          throw new Violation(`run ${id}, record ${key} failed, and is in no file of rejects`);
    }
  }
}

/**
 * Checks the sums, the exit code and the way on that a command reports.
 *
 * @param listed the run as it is listed afterwards.
 * @param hasSent whether the command sent a write.
 * @param written how many rows of the run were written.
 */
function checkReport(
  command: Command,
  listed: ListedRun | undefined,
  hasSent: boolean,
  written: number,
): void {
  const { number, words, code, summary, error, stderr, isFull } = command;
  const place = `command ${number}, exit ${code}`;
  if (/internal:|TypeError|RangeError/.test(stderr)) throw new Violation(`${place}: ${stderr}`);
  if (hasSent && (words.includes('--dry-run') || !words.includes('--yes')))
    throw new Violation(`${place}: it wrote, although nobody confirmed it`);
  if (code === 2 && hasSent) throw new Violation(`${place}: it wrote`);
  if (!summary || typeof summary.rows !== 'number') {
    if (hasSent) throw new Violation(`${place}: it wrote, and reports nothing: ${stderr}`);
    if (code === 0 && error) throw new Violation(`${place}: ${stderr}`);
    return;
  }
  const total = (names: readonly string[]) => totalOf(summary, names);
  const sum = total([...rightStates, ...wrongStates]);
  if (sum !== summary.rows) throw new Violation(`${place}: ${summary.rows} rows, and the states make ${sum}`);
  for (const name of ['rows', ...rightStates, ...wrongStates])
    if (listed?.id === summary.id && Number(listed?.[name] ?? 0) !== total([name]) && !isFull)
      throw new Violation(
        `${place}: ${name} is ${summary[name]} in the summary and ${listed?.[name]} in runs`,
      );
  const others = total(['failed', 'invalid', 'unprocessed', 'booked', 'skipped']);
  if (others > summary.rows - written)
    throw new Violation(`${place}: ${others} of ${summary.rows} rows were not written, and ${written} were`);
  checkExit(command, place);
  const hasWay = namedCommand(command) || /look|wait|by hand/.test(String(error?.hint));
  // What a run had not sent is no longer left once its undo has begun.
  if (
    total(['unprocessed']) > 0 &&
    summary.id !== undefined &&
    !/undone$/.test(String(listed?.state)) &&
    !hasWay
  )
    throw new Violation(`${place}: rows are left, and no way on is named: ${stderr}`);
}

function totalOf(summary: Command['summary'], names: readonly string[]): number {
  return names.reduce((sum, name) => sum + Number(summary?.[name] ?? 0), 0);
}

function checkExit({ words, code, error, wasSignalled, isFull, summary }: Command, place: string): void {
  if (wasSignalled && code === 130) return;
  const [wrong, unknown] = [totalOf(summary, wrongStates), totalOf(summary, ['unknown'])];
  const isNoneRight = wrong > 0 && totalOf(summary, ['applied', 'unchanged', 'booked']) === 0;
  const noneRight = unknown === wrong ? 6 : unknown > 0 ? 3 : 1;
  // An undo that has nothing to take back reports the run, which has told its failures itself.
  const isOther = words[0] === 'undo' && summary?.kind !== 'undo';
  const expected = isOther ? 0 : isNoneRight ? noneRight : wrong > 0 ? 3 : 0;
  // A stop outranks the rows.
  const isStopped = isFull || totalOf(summary, ['unprocessed']) > 0 || /stopped/.test(`${error?.message}`);
  const isStop = isStopped && [1, 3, 4, 6].includes(code);
  const isUndo = summary?.kind === 'undo' && wrong > 0 && code === 3;
  if (code !== expected && !isStop && !isUndo)
    throw new Violation(
      `${place}: it must be ${expected}: ${JSON.stringify(summary)} ${JSON.stringify(error)}`,
    );
}

const notWritten = ['failed', 'unprocessed', 'invalid', 'skipped', 'booked'];

/** Checks what a run says about its rows. @param earlier the rows before the command. */
function checkRows(
  ledger: Ledger,
  run: RunRecord,
  earlier: ReadonlyMap<string, ShownRow>,
  { words: [verb] }: Command,
): void {
  for (const [key, row] of run.rows) {
    const { state, code } = row;
    const fail = (what: string) => {
      throw new Violation(`run ${run.id}, record ${key}, ${state} ${code}: ${what}`);
    };
    const writes = ledger.writesOf(run, key);
    if ([...notWritten, 'unchanged'].includes(state) && writes.length > 0) fail('it was written');
    if (earlier.get(key)?.state === state) continue;
    if (state === 'unknown' && !isDoubtful(ledger, run, key, code)) fail('every write was certainly refused');
    const isRefused = state === 'failed' && verb !== 'runs' && code !== 'booked_otherwise' && !run.undone;
    if (isRefused && ledger.timesBooked(run, key) > 0) fail('its delivery has booked it');
    if (state === 'booked' && !isBooked(ledger, run, key)) fail('its delivery was never booked on it');
    if (state !== 'applied' && state !== 'unchanged') continue;
    const last = ledger.lastOf(key);
    if (run.undone && last && (isOf(run.undone, last) || ledger.timesBooked(run, key) > 0))
      fail('it was not taken back');
    const wanted = targetOf(run, key, row);
    const isMade = run.file.kind === 'creates' && writes.length > 0;
    if (wanted === 'any' || isMade || writes.some(({ after }) => after?.value === wanted)) continue;
    if (!wasShown(ledger, run, row.id, state === 'applied', wanted))
      fail(`${wanted} was neither written nor shown`);
    const writer = ledger.runOf(last?.cause?.command);
    if (state === 'applied' && writer && writer !== run) fail(`${writer.id} has written it since`);
    ledger.believe(run, key);
  }
}

/** The value that a row is to leave. `any` if nobody but the program can say. */
function targetOf({ undone, file, typed }: RunRecord, key: string, { state, after }: ShownRow) {
  if (state === 'applied') return after;
  const undoneRow = undone?.rows.get(key);
  if (file.kind === 'delivery' || (undone && undoneRow?.state !== 'applied')) return 'any';
  if (undone) return file.kind === 'creates' ? undefined : undoneRow?.before;
  return file.kind === 'removes' ? undefined : typed.get(key)?.value;
}

/** Whether a run was shown a value of a record, since it first tried to write if `isSent`. A reading is believed. */
function wasShown(
  { world: { gateway } }: Ledger,
  { commands }: RunRecord,
  id: string,
  isSent: boolean,
  value: number | undefined,
): boolean {
  const isOwn = (request: { command: number; id: string | undefined }) =>
    commands.has(request.command) && request.id === id;
  const since = isSent ? (gateway.writes.find(isOwn)?.number ?? 0) : 0;
  return gateway.service.shown.some(
    (reading) => isOwn(reading) && reading.entry?.value === value && reading.at >= since,
  );
}

/** A row is unknown only if an attempt was not certainly refused, or a process died or had no room on its disk. */
function isDoubtful({ world }: Ledger, run: RunRecord, key: string, code: string | undefined): boolean {
  const own = [...run.commands, ...(run.undone?.commands ?? [])];
  const id = run.file.kind === 'creates' ? (run.typed.get(key)?.value ?? key) : key;
  return (
    own.some((number) => world.gateway.doubtful.has(`${number} ${id}`)) ||
    world.commands.some(({ number, hasCrashed, isFull }) => (hasCrashed || isFull) && own.includes(number)) ||
    // Nobody heard an answer that came after a second Ctrl-C.
    code === 'interrupted'
  );
}

function isBooked(ledger: Ledger, run: RunRecord, id: string): boolean {
  return ledger.runs.some(
    (other) =>
      other !== run &&
      !other.undone &&
      other.file.number === run.file.number &&
      !ledger.isTakenBack(other, id) &&
      (other.rows.get(id)?.state === 'applied' || ledger.writesOf(other, id).length > 0),
  );
}
