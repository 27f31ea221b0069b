import { type Command, Violation } from './simulator-command.ts';
import type { Ledger, RunRecord } from './simulator-ledger.ts';
import type { Change } from './simulator-store.ts';
import type { World } from './simulator-world.ts';

/** Checks each change that the program makes. */
export class ChangeRules {
  private readonly world: World;
  private readonly ledger: Ledger;
  private readonly checked = new Set<Change>();

  constructor(world: World, ledger: Ledger) {
    this.world = world;
    this.ledger = ledger;
  }

  /** Each change of a run is one that it may make, and takes nothing of others away. */
  checkChange(change: Change): void {
    if (this.checked.has(change) || !change.cause) return;
    this.checked.add(change);
    this.ledger.bookingsAt(change);
    const { cause, id, before, after, store } = change;
    const run = this.ledger.runOf(change);
    const place = `command ${cause.command}${run ? ` of run ${run.key}` : ''} took record ${id} from ${before?.value} to ${after?.value}`;
    const read = cause.reading?.entry;
    const file = run?.file;
    const typed = run?.typed.get(id);
    const isPlainSet = run
      ? file?.kind === 'count' && typed?.expected === undefined
      : cause.method === 'PUT' && this.isSet(cause.command);
    const { isGuarded } = this.world.service;
    if (isGuarded && cause.method === 'PUT' && !cause.isListed) {
      const isLost = isPlainSet
        ? cause.reading !== undefined && read === undefined && before !== undefined
        : before?.value !== read?.value || before?.rest !== read?.rest;
      if (isLost) throw new Violation(`${place}, after reading ${read?.value}: somebody's change is lost`);
    }
    const isLate = change.at > cause.request;
    if (
      run &&
      !isPlainSet &&
      !isLate &&
      cause.method !== 'POST' &&
      cause.distance > 2 * this.concurrencyOf(cause.command) + 3
    )
      throw new Violation(`${place}: ${cause.distance} requests after its reading of ${read?.value}`);
    if (before && after && before.rest !== after.rest && isGuarded && !cause.isListed)
      throw new Violation(`${place}, and its other field`);
    if (!run) return;
    if (run.store !== store) throw new Violation(`${place}: its run is for another tenant`);
    if (run.undoes !== undefined) this.checkUndoing(run, change, place);
    else if (file?.kind === 'creates') this.checkMaking(run, change, place);
    else if (!typed) throw new Violation(`${place}, which is not in the file`);
    else if (file?.kind === 'removes') this.checkRemoving(change, place);
    else if (file?.kind !== 'delivery' && typed.value !== after?.value)
      throw new Violation(`${place}, and the file says ${typed.value}`);
    else if (typed.expected !== undefined && read?.value !== typed.expected && !this.ledger.isProof(change))
      throw new Violation(`${place}, although ${typed.expected} was expected`);
  }

  private concurrencyOf(number: number): number {
    const words = this.world.commands.find((command) => command.number === number)?.words ?? [];
    return words.includes('--concurrency') ? Number(words[words.indexOf('--concurrency') + 1]) : 8;
  }

  private isSet(number: number): boolean {
    return this.world.commands.find((command) => command.number === number)?.words[1] === 'set';
  }

  private checkMaking(run: RunRecord, { cause, after, number }: Change, place: string): void {
    const values = [...run.typed.values()].map(({ value }) => value);
    if (cause?.method !== 'POST' || !values.includes(after?.value as number))
      throw new Violation(`${place}, which is not in the file`);
    const earlier = this.ledger.changes.filter(
      (change) => change.number < number && this.ledger.isOf(run, change),
    );
    if (earlier.some((change) => change.after?.value === after?.value))
      throw new Violation(`${place}: it is made twice`);
  }

  /** A record is removed only as it was read, and as the plan showed it. */
  private checkRemoving({ cause, before }: Change, place: string): void {
    const read = cause?.reading?.entry;
    if (cause?.isListed) return;
    if (this.world.service.isGuarded && (before?.value !== read?.value || before?.rest !== read?.rest))
      throw new Violation(`${place}, after reading ${read?.value}`);
  }

  /** The undo of rows that were set writes what was there before, over what its run wrote and nothing else. */
  private checkUndoing(undo: RunRecord, change: Change, place: string): void {
    const undone = this.ledger.undoneOf(undo);
    if (!undone || this.ledger.isProof(change)) return;
    const { id, before, after, cause } = change;
    const isWritten = this.ledger.changes.some(
      (each) => each.id === id && each.store === undo.store && this.ledger.isOf(undone, each),
    );
    if (!isWritten && !this.ledger.isDisturbed(undone, id))
      throw new Violation(`${place}, which its run never wrote`);
    const { isGuarded } = this.world.service;
    if (undone.file?.kind === 'delivery' || before?.value === after?.value) return;
    const made = this.ledger.changes.find(
      (each) => each.id === id && each.cause?.method === 'POST' && this.ledger.isOf(undone, each),
    );
    const row = undone.rows.get(id);
    const [wasBefore, wasAfter] =
      undone.file?.kind === 'creates' ? [undefined, made?.after?.value] : [row?.before, row?.after];
    // A DELETE that proves that nothing is there names the version by its tag.
    const isRead =
      cause?.reading?.entry?.value === wasAfter || (after === undefined && cause?.isConditional === true);
    if (after?.value !== wasBefore || !isRead || (isGuarded && before?.value !== wasAfter))
      throw new Violation(`${place}; its run took it from ${wasBefore} to ${wasAfter}`);
  }

  /** A command on one record says whether it may have written. */
  checkSingle({ number, words, code, error, hasCrashed, stderr }: Command): void {
    if (hasCrashed) return;
    const writes = this.ledger.changes.filter(
      (change) => change.cause?.command === number && !this.ledger.isProof(change),
    );
    const place = `command ${number}, exit ${code}`;
    if (code === 0 && writes.length === 0 && !/accepted|not yet/.test(stderr))
      throw new Violation(`${place}: nothing was written`);
    if (code !== 0 && error?.applied !== 'unknown' && writes.length > 0)
      throw new Violation(`${place}: it was written`);
    if (words[1] !== 'adjust') return;
    for (const { cause, after } of writes)
      if ((after?.value ?? 0) - (cause?.reading?.entry?.value ?? 0) !== Number(words[3]))
        throw new Violation(`${place}: it took ${cause?.reading?.entry?.value} to ${after?.value}`);
  }
}
