import { type Command, type ListedRun, type ShownRow, Violation } from './simulator-command.ts';
import type { InputFile, TypedRows } from './simulator-files.ts';
import type { Change } from './simulator-service.ts';
import type { World } from './simulator-world.ts';

/** The facts that the model knows about a run. */
export interface RunRecord {
  readonly id: string;
  /** The run that it undoes. */
  readonly undone: RunRecord | undefined;
  /** The file that it applies, or takes back. */
  readonly file: InputFile;
  readonly typed: TypedRows;
  readonly commands: Set<number>;
  /** By the key of a row: the id of its record; of a create `line:2`. */
  rows: ReadonlyMap<string, ShownRow>;
}

/** How often each delivery is in a count, by its number. */
type Bookings = ReadonlyMap<string, number>;

/** Knows who made which change, and how often each delivery is in each version of a record. Checks each change. */
export class Ledger {
  readonly world: World;
  readonly records = new Map<string, RunRecord>();
  /** How often a delivery may be booked: once, and once more for each --again. */
  private readonly allowed = new Map<string, number>();
  /** The rows that were not written, and whose run was shown what it sent: others did the same. As `delivery record`. */
  private readonly believed = new Set<string>();
  private readonly bookings = new Map<Change | undefined, Bookings>();
  private readonly checked = new Set<Change>();

  constructor(world: World) {
    this.world = world;
  }

  get changes(): readonly Change[] {
    return this.world.gateway.service.changes;
  }

  get runs(): RunRecord[] {
    return [...this.records.values()];
  }

  /** Finds the run that a command has begun or gone on with, and forgets those that a crash took away. */
  attribute({ touched, summary, number, file, typed, words }: Command, runs: readonly ListedRun[]): void {
    const own = runs.filter(({ id }) => touched.includes(id));
    const listed =
      runs.find(({ id }) => id === summary?.id) ??
      own.findLast(({ kind }) => (kind === 'undo') === (words[0] === 'undo')) ??
      own.at(-1);
    if (listed) {
      const { id, kind } = listed;
      const undone = kind === 'undo' ? this.records.get(/r\d+/.exec(listed.file)?.[0] ?? '') : undefined;
      const facts = { file: undone?.file ?? (file as InputFile), typed: undone?.typed ?? typed ?? new Map() };
      const run = this.records.get(id) ?? { id, undone, ...facts, commands: new Set(), rows: new Map() };
      run.commands.add(number);
      this.records.set(id, run);
      const delivery = run.file.number;
      if (delivery !== undefined && words.includes('--again'))
        this.allowed.set(delivery, (this.allowed.get(delivery) ?? 1) + 1);
    } else if (this.changes.some(({ cause }) => cause?.command === number))
      throw new Violation(`command ${number} wrote, and no run knows of it`);
    for (const run of this.runs.filter(({ id }) => runs.every((each) => each.id !== id))) {
      if (this.changes.some((change) => isOf(run, change)))
        throw new Violation(`run ${run.id} wrote, and is no longer listed`);
      this.records.delete(run.id);
    }
  }

  runOf(command: number | undefined): RunRecord | undefined {
    return this.runs.find(({ commands }) => command !== undefined && commands.has(command));
  }

  writesOf(run: RunRecord, key: string): Change[] {
    const isMaking = run.file.kind === 'creates' && !run.undone;
    const value = run.typed.get(key)?.value;
    return this.changes.filter(
      (change) => isOf(run, change) && (isMaking ? change.after?.value === value : change.id === key),
    );
  }

  lastOf(id: string): Change | undefined {
    return this.changes.findLast((change) => change.id === id);
  }

  /** Whether somebody else, or another run, wrote to a record of a run. */
  isDisturbed(run: RunRecord, id: string): boolean {
    return this.changes.some((change) => change.id === id && !isOf(run, change));
  }

  /** From now on nobody knows how often the delivery of a run is in a record. */
  believe({ file }: RunRecord, id: string): void {
    this.believed.add(`${file.number} ${id}`);
  }

  /** How often the delivery of a run is in the last version of a record; 0 if nobody can say. */
  timesBooked({ file: { number = '' } }: RunRecord, id: string): number {
    if (this.allowed.has(number) || this.believed.has(`${number} ${id}`)) return 0;
    return this.bookingsAt(this.lastOf(id)).get(number) ?? 0;
  }

  private bookingsAt(change: Change | undefined): Bookings {
    const known = this.bookings.get(change);
    if (known || !change) return known ?? new Map();
    const bookings = this.bookingsOf(change);
    this.bookings.set(change, bookings);
    return bookings;
  }

  private bookingsOf(change: Change): Bookings {
    const { cause, id, after, replaces } = change;
    const run = this.runOf(cause?.command);
    const delivery = run?.file.number;
    // A delivery stays booked although others remove its entry: its undo adds the opposite whatever came since.
    if (!run || !cause || delivery === undefined) return this.bookingsAt(replaces);
    if (after === undefined) return new Map();
    const place = placeOf(change, run);
    const sign = run.undone ? -1 : 1;
    const wanted = sign * (run.typed.get(id)?.value ?? Number.NaN);
    if (after.value - (cause.reading?.entry?.value ?? 0) !== wanted || after.value < 0)
      throw new Violation(`${place}: the delivery has ${wanted}`);
    const base = this.bookingsAt(cause.reading?.change);
    const times = (base.get(delivery) ?? 0) + sign;
    const isSure = !this.believed.has(`${delivery} ${id}`);
    if (isSure && (times < 0 || times > (this.allowed.get(delivery) ?? 1)))
      throw new Violation(`${place}: delivery ${delivery} is booked ${times} times now`);
    return new Map([...base, [delivery, times]]);
  }

  /** Each change of a run is one that it may make, and takes nothing of others away. */
  checkChange(change: Change): void {
    const { cause, id, before, after } = change;
    const run = this.runOf(cause?.command);
    if (this.checked.has(change) || !cause || !run) return;
    this.checked.add(change);
    this.bookingsAt(change);
    const place = placeOf(change, run);
    const read = cause.reading?.entry;
    const typed = run.typed.get(id);
    const { kind } = run.file;
    const isPlainSet = !run.undone && kind === 'count' && typed?.expected === undefined;
    if (cause.method !== 'POST' && this.world.gateway.service.isGuarded && !cause.reading?.isListed) {
      const isLost = isPlainSet
        ? cause.reading !== undefined && read === undefined && before !== undefined
        : before?.value !== read?.value || before?.rest !== read?.rest;
      if (isLost || (before && after && before.rest !== after.rest))
        throw new Violation(`${place}: somebody's change is lost`);
    }
    const undo = this.runs.find((each) => each.undone === run);
    if (undo && Math.min(...undo.commands) < cause.command)
      throw new Violation(`${place}, although ${undo.id} has begun to undo it`);
    if (run.undone) this.checkUndoing(run, run.undone, change, place);
    else if (kind === 'creates') this.checkMaking(run, change, place);
    else if (!typed) throw new Violation(`${place}, which is not in the file`);
    else if (kind === 'removes') {
      if (after || read?.value !== run.rows.get(id)?.before)
        throw new Violation(`${place}: ${run.rows.get(id)?.before} was planned`);
    } else if (kind !== 'delivery' && typed.value !== after?.value)
      throw new Violation(`${place}, and the file says ${typed.value}`);
    else if (typed.expected !== undefined && read?.value !== typed.expected)
      throw new Violation(`${place}, although ${typed.expected} was expected`);
    else if (kind !== 'delivery') {
      const earlier = [...run.commands].filter((number) => number < cause.command);
      const from = Math.max(...earlier, Math.min(...run.commands));
      const later = this.begunBetween(from, cause.command).find(({ rows }) => rows.has(id));
      if (later) throw new Violation(`${place}, which ${later.id} has planned since`);
    }
  }

  private checkMaking(run: RunRecord, change: Change, place: string): void {
    const { cause, after } = change;
    const isTyped = [...run.typed.values()].some(({ value }) => value === after?.value);
    if (cause?.method !== 'POST' || !isTyped) throw new Violation(`${place}, which is not in the file`);
    const all = this.changes.filter((other) => isOf(run, other) && other.after?.value === after?.value);
    if (all[0] !== change) throw new Violation(`${place}: it is made twice`);
  }

  /** The undo of rows that were set writes what was there before, over what its run wrote and nothing else. */
  private checkUndoing(undo: RunRecord, undone: RunRecord, change: Change, place: string): void {
    const { id, before, after, cause } = change;
    const made = this.changes.find((each) => each.id === id && isOf(undone, each));
    if (!made && !this.isDisturbed(undone, id)) throw new Violation(`${place}, which its run never wrote`);
    if (undone.file.kind === 'delivery') return;
    const row = undone.rows.get(id);
    const [wasBefore, wasAfter] =
      undone.file.kind === 'creates' ? [undefined, made?.after?.value] : [row?.before, row?.after];
    const isWrong = after?.value !== wasBefore || cause?.reading?.entry?.value !== wasAfter;
    if (isWrong || (this.world.gateway.service.isGuarded && before?.value !== wasAfter))
      throw new Violation(`${place}; its run took it from ${wasBefore} to ${wasAfter}`);
    const later = this.begunBetween(Math.max(...undone.commands), Math.min(...undo.commands)).find((run) => {
      const mayHaveWritten = ['applied', 'unknown'].includes(run.rows.get(id)?.state ?? '');
      return !run.undone && mayHaveWritten && !this.isTakenBack(run, id);
    });
    if (later) throw new Violation(`${place}, which ${later.id} has written since`);
  }

  /** The runs that have begun between two commands. */
  private begunBetween(from: number, to: number): RunRecord[] {
    return this.runs.filter(({ commands }) => Math.min(...commands) > from && Math.min(...commands) < to);
  }

  isTakenBack(run: RunRecord, id: string): boolean {
    const undo = this.runs.find(({ undone }) => undone === run);
    return ['applied', 'unchanged'].includes(undo?.rows.get(id)?.state ?? '');
  }
}

export function isOf({ commands }: RunRecord, { cause }: Change): boolean {
  return cause !== undefined && commands.has(cause.command);
}

function placeOf({ cause, id, before, after }: Change, run: RunRecord): string {
  const read = cause?.reading?.entry?.value;
  return `command ${cause?.command} of run ${run.id} took record ${id} from ${before?.value} to ${after?.value} after reading ${read}`;
}
