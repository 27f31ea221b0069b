import { type Command, type ListedRun, type ShownRow, Violation } from './simulator-command.ts';
import type { InputFile, TypedRows } from './simulator-files.ts';
import type { Change } from './simulator-service.ts';
import type { World } from './simulator-world.ts';

/** The facts that the model knows about a run. */
export interface RunRecord {
  readonly id: string;
  /** The file that it applies; undefined for an undo. */
  readonly file: InputFile | undefined;
  readonly typed: TypedRows;
  /** The run that it undoes. */
  readonly undoes: string | undefined;
  readonly commands: Set<number>;
  /** By the key of a row: the id of its record; of a create `line:2`. */
  rows: ReadonlyMap<string, ShownRow>;
}

/** How often each delivery is in a count, by its number. */
type Bookings = ReadonlyMap<string, number>;

/** Knows who made which change, and how often each delivery is in each version of a record. Checks each change. */
export class Ledger {
  readonly records = new Map<string, RunRecord>();
  /** How often a delivery may be booked: once, and once more for each --again. */
  readonly allowed = new Map<string, number>();
  private readonly world: World;
  private readonly bookings = new Map<Change | undefined, Bookings>();
  private readonly checked = new Set<Change>();

  constructor(world: World) {
    this.world = world;
  }

  get changes(): readonly Change[] {
    return this.world.gateway.service.changes;
  }

  /** Finds the run that a command has begun or gone on with. */
  attribute(command: Command, runs: readonly ListedRun[]): void {
    const { touched, summary, number, file, words } = command;
    const isUndo = words[0] === 'undo';
    const own = runs.filter(({ id }) => touched.includes(id));
    const listed =
      runs.find(({ id }) => id === summary?.id) ??
      own.findLast(({ kind }) => (kind === 'undo') === isUndo) ??
      own.at(-1);
    const hasWritten = this.changes.some(({ cause }) => cause?.command === number);
    if (!listed) {
      if (hasWritten) throw new Violation(`command ${number} wrote, and no run knows of it`);
      return;
    }
    const undoes = listed.kind === 'undo' ? /r\d+/.exec(listed.file)?.[0] : undefined;
    const record = this.records.get(listed.id) ?? {
      ...{ id: listed.id, file: undoes === undefined ? file : undefined, undoes },
      ...{ typed: command.typed ?? new Map(), commands: new Set<number>(), rows: new Map() },
    };
    record.commands.add(number);
    this.records.set(listed.id, record);
    const delivery = this.deliveryOf(record);
    if (delivery !== undefined && words.includes('--again'))
      this.allowed.set(delivery, (this.allowed.get(delivery) ?? 1) + 1);
  }

  /** Forgets runs that a crash took away; it must be one that wrote nothing. */
  forget(runs: readonly ListedRun[]): void {
    for (const [id, run] of this.records) {
      if (runs.some((each) => each.id === id)) continue;
      if (this.changes.some((change) => this.isOf(run, change)))
        throw new Violation(`run ${id} wrote, and is no longer listed`);
      this.records.delete(id);
    }
  }

  runsOf({ number }: Command): RunRecord[] {
    return [...this.records.values()].filter(({ commands }) => commands.has(number));
  }

  isOf({ commands }: RunRecord, { cause }: Change): boolean {
    return cause !== undefined && commands.has(cause.command);
  }

  undoneOf({ undoes }: RunRecord): RunRecord | undefined {
    return undoes === undefined ? undefined : this.records.get(undoes);
  }

  /** The delivery that a run books or takes back. */
  deliveryOf(run: RunRecord): string | undefined {
    return (this.undoneOf(run) ?? run).file?.number;
  }

  /** The writes of a run for a row. */
  writesOf(run: RunRecord, key: string): Change[] {
    const value = run.typed.get(key)?.value;
    const isOfRow = ({ id, after }: Change) =>
      run.file?.kind === 'creates' ? after?.value === value : id === key;
    return this.changes.filter((change) => this.isOf(run, change) && isOfRow(change) && !isIdle(change));
  }

  lastOf(id: string): Change | undefined {
    return this.changes.findLast((change) => change.id === id);
  }

  /** The runs that have planned a record after a run was last planned, and were not undone. */
  laterRuns({ id, commands }: RunRecord, key: string): RunRecord[] {
    const last = Math.max(...[...commands].filter((number) => this.wordOf(number) !== 'runs'));
    const hasPlanned = (other: RunRecord) =>
      ['applied', 'failed', 'unknown'].includes(other.rows.get(key)?.state ?? '');
    const isUndone = (other: RunRecord) =>
      [...this.records.values()].some(
        ({ undoes, rows }) =>
          undoes === other.id && ['applied', 'unchanged'].includes(rows.get(key)?.state ?? ''),
      );
    return [...this.records.values()].filter(
      (other) =>
        other.id !== id &&
        other.undoes === undefined &&
        Math.min(...other.commands) > last &&
        hasPlanned(other) &&
        !isUndone(other),
    );
  }

  private wordOf(number: number): string | undefined {
    return this.world.commands.find((command) => command.number === number)?.words[0];
  }

  /** Whether somebody else, or another run, wrote to a record of a run. */
  isDisturbed(run: RunRecord, id: string): boolean {
    return this.changes.some((each) => each.id === id && !this.isOf(run, each));
  }

  /** How often a delivery is in the last version of a record; 0 if it may be there more than once. */
  timesBooked(run: RunRecord, id: string): number {
    const delivery = this.deliveryOf(run);
    if (delivery === undefined || this.allowed.has(delivery)) return 0;
    return this.bookingsAt(this.lastOf(id)).get(delivery) ?? 0;
  }

  private bookingsAt(change: Change | undefined): Bookings {
    const known = this.bookings.get(change);
    if (known || !change) return known ?? new Map();
    const bookings = this.bookingsOf(change);
    this.bookings.set(change, bookings);
    return bookings;
  }

  private bookingsOf(change: Change): Bookings {
    const { cause, after, replaces } = change;
    const run = [...this.records.values()].find((each) => this.isOf(each, change));
    const delivery = run && this.deliveryOf(run);
    // A delivery stays booked although others remove its entry: its undo adds the opposite whatever came since.
    if (!run || !cause || delivery === undefined) return this.bookingsAt(replaces);
    if (after === undefined) return new Map();
    const base = this.bookingsAt(cause.reading?.change);
    if (isIdle(change)) return base;
    const sign = run.undoes === undefined ? 1 : -1;
    const place = placeOf(change, run);
    const wanted = sign * ((this.undoneOf(run) ?? run).typed.get(change.id)?.value ?? Number.NaN);
    const read = cause.reading?.entry?.value ?? 0;
    if (after.value - read !== wanted)
      throw new Violation(`${place}, after reading ${read}: the delivery has ${wanted}`);
    if (after.value < 0) throw new Violation(`${place}, which is below 0`);
    const times = (base.get(delivery) ?? 0) + sign;
    if (times < 0 || times > (this.allowed.get(delivery) ?? 1))
      throw new Violation(`${place}: delivery ${delivery} is booked ${times} times now`);
    return new Map([...base, [delivery, times]]);
  }

  /** Each change of a run is one that it may make, and takes nothing of others away. */
  checkChange(change: Change): void {
    const { cause, id, before, after } = change;
    if (this.checked.has(change) || !cause) return;
    this.checked.add(change);
    this.bookingsAt(change);
    const command = this.world.commands.find(({ number }) => number === cause.command);
    const run = [...this.records.values()].find((each) => this.isOf(each, change));
    const place = placeOf(change, run);
    const read = cause.reading?.entry;
    const typed = run?.typed.get(id);
    const kind = run?.file?.kind;
    const isPlainSet = kind === 'count' && typed?.expected === undefined;
    const { isGuarded } = this.world.gateway.service;
    if (isGuarded && cause.method !== 'POST') {
      const isLost = isPlainSet
        ? cause.reading !== undefined && read === undefined && before !== undefined
        : before?.value !== read?.value || before?.rest !== read?.rest;
      if (isLost) throw new Violation(`${place}, after reading ${read?.value}: somebody's change is lost`);
    }
    if (before && after && before.rest !== after.rest && isGuarded)
      throw new Violation(`${place}, and its other field`);
    if (!run) return;
    const distance = cause.nth - (cause.reading?.nth ?? 0);
    const words = command?.words ?? [];
    const mostBeside = 2 * Number(words[words.indexOf('--concurrency') + 1] ?? 8) + 3;
    if (!isPlainSet && cause.number === change.at && cause.method !== 'POST' && distance > mostBeside)
      throw new Violation(`${place}: ${distance} requests after its reading of ${read?.value}`);
    if (run.undoes !== undefined) this.checkUndoing(run, change, place);
    else if (kind === 'creates') this.checkMaking(run, change, place);
    else if (!typed) throw new Violation(`${place}, which is not in the file`);
    else if (kind === 'removes') {
      if (read?.value !== run.rows.get(id)?.before)
        throw new Violation(
          `${place}, after reading ${read?.value}: ${run.rows.get(id)?.before} was planned`,
        );
    } else if (kind !== 'delivery' && typed.value !== after?.value)
      throw new Violation(`${place}, and the file says ${typed.value}`);
    else if (typed.expected !== undefined && read?.value !== typed.expected && !isIdle(change))
      throw new Violation(`${place}, although ${typed.expected} was expected`);
  }

  private checkMaking(run: RunRecord, { cause, after, number }: Change, place: string): void {
    const isTyped = [...run.typed.values()].some(({ value }) => value === after?.value);
    if (cause?.method !== 'POST' || !isTyped) throw new Violation(`${place}, which is not in the file`);
    const isSame = (other: Change) => other.number < number && other.after?.value === after?.value;
    if (this.changes.some((other) => this.isOf(run, other) && isSame(other)))
      throw new Violation(`${place}: it is made twice`);
  }

  /** The undo of rows that were set writes what was there before, over what its run wrote and nothing else. */
  private checkUndoing(undo: RunRecord, change: Change, place: string): void {
    const undone = this.undoneOf(undo);
    if (!undone || isIdle(change)) return;
    const { id, before, after, cause } = change;
    const made = this.changes.find((each) => each.id === id && this.isOf(undone, each));
    if (!made && !this.isDisturbed(undone, id)) throw new Violation(`${place}, which its run never wrote`);
    if (undone.file?.kind === 'delivery' || before?.value === after?.value) return;
    const row = undone.rows.get(id);
    const [wasBefore, wasAfter] =
      undone.file?.kind === 'creates' ? [undefined, made?.after?.value] : [row?.before, row?.after];
    const { isGuarded } = this.world.gateway.service;
    const isWrong = after?.value !== wasBefore || cause?.reading?.entry?.value !== wasAfter;
    if (isWrong || (isGuarded && before?.value !== wasAfter))
      throw new Violation(`${place}; its run took it from ${wasBefore} to ${wasAfter}`);
    const [later] = this.laterRuns(undone, id);
    if (later && Math.min(...later.commands) < Math.min(...undo.commands))
      throw new Violation(`${place}, which ${later.id} has planned since`);
  }
}

/** Whether a change writes what its command has read. */
function isIdle({ cause, after }: Change): boolean {
  return cause?.method === 'PUT' && after !== undefined && after.value === cause.reading?.entry?.value;
}

function placeOf({ cause, id, before, after }: Change, run: RunRecord | undefined): string {
  const who = `command ${cause?.command}${run ? ` of run ${run.id}` : ''}`;
  return `${who} took record ${id} from ${before?.value} to ${after?.value}`;
}
