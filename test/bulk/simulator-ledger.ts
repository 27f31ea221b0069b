import { type Command, type ShownRow, Violation } from './simulator-command.ts';
import type { InputFile, TypedRows } from './simulator-files.ts';
import type { Change, Store } from './simulator-store.ts';
import type { World } from './simulator-world.ts';

/** The facts that the model knows about a run. */
export interface RunRecord {
  readonly key: string;
  /** The file that it applies; undefined for an undo. */
  readonly file: InputFile | undefined;
  readonly typed: TypedRows;
  readonly store: Store;
  /** The key of the run that it undoes. */
  readonly undoes: string | undefined;
  readonly commands: Set<number>;
  /** By the key of a row: the id of its record; of a create `line:2`. */
  rows: ReadonlyMap<string, ShownRow>;
}

/** How often each delivery is in a count, by its number. */
type Bookings = ReadonlyMap<string, number>;

/** Who made which change, and how often each delivery is in each version of a record. */
export class Ledger {
  readonly records = new Map<string, RunRecord>();
  /** How often a delivery may be booked: once, and once more for each --again. */
  readonly allowed = new Map<string, number>();
  private readonly world: World;
  private readonly bookings = new Map<Change | undefined, Bookings>();

  constructor(world: World) {
    this.world = world;
  }

  get changes(): readonly Change[] {
    return this.world.service.changes;
  }

  runsOf({ number }: Command): RunRecord[] {
    return [...this.records.values()].filter(({ commands }) => commands.has(number));
  }

  runOf(change: Change): RunRecord | undefined {
    return [...this.records.values()].find((run) => this.isOf(run, change));
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

  /** The change that a delivery has for a record. */
  changeOf(run: RunRecord, id: string): number | undefined {
    return (this.undoneOf(run) ?? run).typed.get(id)?.value;
  }

  /** Whether a change writes what its command has read: it proves a reading, and does nothing. */
  isProof({ cause, after }: Change): boolean {
    const entry = cause?.reading?.entry;
    return cause?.method === 'PUT' && after !== undefined && after.value === entry?.value;
  }

  /** The bookings that a version of a record has. */
  bookingsAt(change: Change | undefined): Bookings {
    const known = this.bookings.get(change);
    if (known || !change) return known ?? new Map();
    const bookings = this.bookingsOf(change);
    this.bookings.set(change, bookings);
    return bookings;
  }

  bookingsOf(change: Change): Bookings {
    const { cause, id, after, replaces } = change;
    const run = this.runOf(change);
    const delivery = run && this.deliveryOf(run);
    // A delivery stays booked although others remove its entry: its undo adds the opposite whatever came since.
    if (!run || !cause || delivery === undefined) return this.bookingsAt(replaces);
    if (after === undefined) return new Map();
    const base = this.bookingsAt(cause.reading?.change);
    if (this.isProof(change)) return base;
    const sign = run.undoes === undefined ? 1 : -1;
    const place = `command ${cause.command} of run ${run.key} took record ${id} from ${change.before?.value} to ${after.value}`;
    const wanted = sign * (this.changeOf(run, id) ?? Number.NaN);
    const read = cause.reading?.entry?.value ?? 0;
    if (after.value - read !== wanted)
      throw new Violation(`${place}, after reading ${read}: the delivery has ${wanted}`);
    if (after.value < 0) throw new Violation(`${place}, which is below 0`);
    const times = (base.get(delivery) ?? 0) + sign;
    if (times < 0 || times > (this.allowed.get(delivery) ?? 1))
      throw new Violation(`${place}: delivery ${delivery} is booked ${times} times now`);
    return new Map([...base, [delivery, times]]);
  }

  /** The writes of a run for a row, without those that prove a reading. */
  writesOf(run: RunRecord, key: string): Change[] {
    const value = run.typed.get(key)?.value;
    return this.changes.filter(
      (change) =>
        this.isOf(run, change) &&
        !this.isProof(change) &&
        (run.file?.kind === 'creates' ? change.after?.value === value : change.id === key),
    );
  }

  /** Whether somebody else, or another run, wrote to a record of a run. */
  isDisturbed(run: RunRecord, id: string): boolean {
    return this.changes.some(
      (change) => change.id === id && change.store === run.store && !this.isOf(run, change),
    );
  }
}
