import { type Command, type ShownRow, Violation } from './simulator-command.ts';
import type { Ledger, RunRecord } from './simulator-ledger.ts';
import type { Change } from './simulator-store.ts';
import type { World } from './simulator-world.ts';

/** Checks what a run says about its rows. */
export class RowRules {
  private readonly world: World;
  private readonly ledger: Ledger;

  constructor(world: World, ledger: Ledger) {
    this.world = world;
    this.ledger = ledger;
  }

  /** What a run says about a row is true. */
  checkRows(run: RunRecord, earlier: ReadonlyMap<string, ShownRow>, commands: readonly Command[]): void {
    const delivery = this.ledger.deliveryOf(run);
    const isByPerson = commands.some(({ words }) => words[0] === 'runs');
    const isRunning = commands.some(({ number }) => run.commands.has(number));
    for (const [key, { state, after, code }] of run.rows) {
      const place = `run ${run.key}, record ${key}, ${state}${code === undefined ? '' : ` ${code}`}`;
      const writes = this.ledger.writesOf(run, key);
      if (['failed', 'unprocessed', 'invalid', 'skipped', 'booked'].includes(state) && writes.length > 0)
        throw new Violation(`${place}: it was written`);
      if (earlier.get(key)?.state === state && !isRunning) continue;
      const isNew = earlier.get(key)?.state !== state;
      if (
        state === 'unchanged' &&
        run.undoes === undefined &&
        writes.some((change) => change.before?.value !== change.after?.value)
      )
        throw new Violation(`${place}: it was written`);
      const mayBeOthers = delivery === undefined && this.ledger.isDisturbed(run, key);
      if (state === 'applied' && writes.length === 0 && !mayBeOthers)
        throw new Violation(`${place}: it was never written`);
      if (state === 'unknown' && isNew) this.checkDoubt(run, key, place);
      if (state === 'failed' && isNew && !isByPerson) this.checkNotBooked(run, key, code, place);
      if (state === 'booked' && isNew) this.checkBooked(run, key, place);
      if (!isNew || (state !== 'applied' && state !== 'unchanged')) continue;
      if (run.undoes !== undefined) this.checkUndone(run, key, place);
      else if (after !== undefined && run.file?.kind !== 'creates' && run.file?.kind !== 'removes')
        this.checkValue(run, key, state, after, place);
    }
  }

  /** A row is unknown only if an attempt was not certainly refused, a process died, or another run of the delivery is open. */
  private checkDoubt(run: RunRecord, key: string, place: string): void {
    const runs = [run, ...(this.ledger.undoneOf(run) ? [this.ledger.undoneOf(run) as RunRecord] : [])];
    const first = this.ledger.undoneOf(run) ?? run;
    const commands = runs.flatMap((each) => [...each.commands]);
    const id = first.file?.kind === 'creates' ? (first.typed.get(key)?.value ?? key) : key;
    const isDoubtful =
      commands.some((number) => this.world.service.doubtful.has(`${number} ${id}`)) ||
      this.world.commands.some(({ number, hasCrashed }) => hasCrashed && commands.includes(number)) ||
      // Nobody heard an answer that came after the time was over or a second Ctrl-C. A refused proof proves nothing.
      /timeout|interrupted|unproved/.test(place);
    const isHeld = [...this.ledger.records.values()].some(
      (other) =>
        !runs.includes(other) &&
        this.ledger.deliveryOf(other) !== undefined &&
        this.ledger.deliveryOf(other) === this.ledger.deliveryOf(run) &&
        ['unknown', 'failed', 'unprocessed', 'unsettled'].includes(other.rows.get(key)?.state ?? ''),
    );
    if (!isDoubtful && !isHeld) throw new Violation(`${place}: every write was certainly refused`);
  }

  private checkValue(run: RunRecord, id: string, state: string, after: number, place: string): void {
    // `unchanged` rests on the plan's reading, however old.
    const { records, lists } = this.world.history.service;
    if (state === 'unchanged' && (records !== 'current' || lists !== 'current')) return;
    const first = Math.min(
      ...this.world.commands.filter(({ number }) => run.commands.has(number)).map(({ from }) => from),
    );
    const isOfRecord = (change: Change) => change.id === id && change.store === run.store;
    const before = this.ledger.changes.slice(0, first).findLast(isOfRecord);
    const start = before ? before.after?.value : this.world.history.stock.get(id);
    const values = new Set([
      start,
      ...this.ledger.changes
        .slice(first)
        .filter(isOfRecord)
        .map((change) => change.after?.value),
    ]);
    if (!values.has(after))
      throw new Violation(`${place}: the value was ${[...values]}, and not ${after}, while it ran`);
  }

  /** A row that its delivery has booked is not called failed, unless it was booked with another change. */
  private checkNotBooked(run: RunRecord, id: string, code: string | undefined, place: string): void {
    const delivery = this.ledger.deliveryOf(run);
    if (delivery === undefined || run.undoes !== undefined || code === 'booked_otherwise') return;
    if (this.ledger.allowed.has(delivery)) return;
    const last = this.ledger.changes.findLast((change) => change.id === id && change.store === run.store);
    if ((this.ledger.bookingsAt(last).get(delivery) ?? 0) > 0)
      throw new Violation(`${place}: delivery ${delivery} has booked it`);
  }

  /** A row that is left out because its delivery has it already is booked. */
  private checkBooked(run: RunRecord, id: string, place: string): void {
    const delivery = this.ledger.deliveryOf(run);
    const isBooked = [...this.ledger.records.values()].some(
      (other) =>
        other !== run &&
        other.undoes === undefined &&
        other.store === run.store &&
        this.ledger.deliveryOf(other) === delivery &&
        (other.rows.get(id)?.state === 'applied' || this.ledger.writesOf(other, id).length > 0),
    );
    if (!isBooked) throw new Violation(`${place}: delivery ${delivery} was never booked on it`);
  }

  /** What an undo says it has taken back is not the last that was written. */
  private checkUndone(undo: RunRecord, id: string, place: string): void {
    const undone = this.ledger.undoneOf(undo);
    const last = this.ledger.changes.findLast((change) => change.id === id && change.store === undo.store);
    if (!undone || !last || last.before?.value === last.after?.value || this.ledger.isProof(last)) return;
    // A person who says that a record was made gives no tag, so an old reading without it is believed.
    const isByPerson = [...undone.rows.values()].some((row) => row.id === id && row.code === 'settled');
    if (isByPerson && undone.file?.kind === 'creates') return;
    if (this.ledger.isOf(undone, last))
      throw new Violation(`${place}: record ${id} is still as run ${undone.key} wrote it`);
    const delivery = this.ledger.deliveryOf(undo);
    if (
      delivery !== undefined &&
      !this.ledger.allowed.has(delivery) &&
      (this.ledger.bookingsAt(last).get(delivery) ?? 0) > 0
    )
      throw new Violation(`${place}: delivery ${delivery} is still booked on record ${id}`);
  }

  /** A service that adds what it is told to set: a command notices it at the first row, and is not to be repeated. */
  checkAdding(run: RunRecord, commands: readonly Command[]): void {
    for (const { error, number, words } of commands) {
      if (!run.commands.has(number)) continue;
      const place = `command ${number} of run ${run.key}`;
      if (error?.retryable === true) throw new Violation(`${place} may be repeated for a service that adds`);
      const wrong = this.ledger.changes.filter(
        ({ cause, before, after }) =>
          cause?.command === number && cause.method === 'PUT' && before?.value !== after?.value,
      );
      if (wrong.length > (words[0] === 'undo' ? 0 : 1))
        throw new Violation(`${place} wrote ${wrong.length} rows to a service that adds`);
    }
  }
}
