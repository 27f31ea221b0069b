import { type Command, type ShownRow, Violation } from './simulator-command.ts';
import type { Ledger, RunRecord } from './simulator-ledger.ts';
import type { World } from './simulator-world.ts';

const notWritten = ['failed', 'unprocessed', 'invalid', 'skipped', 'booked'];

/** Checks what a run says about its rows. @param earlier the rows before the last commands. */
export function checkRows(
  world: World,
  ledger: Ledger,
  run: RunRecord,
  earlier: ReadonlyMap<string, ShownRow>,
  command: Command,
): void {
  const isByPerson = command.words[0] === 'runs';
  const isRunning = run.commands.has(command.number);
  for (const [key, row] of run.rows) {
    const { id, state, code } = row;
    const place = `run ${run.id}, record ${key}, ${state} ${code}`;
    const writes = ledger.writesOf(run, key);
    if (notWritten.includes(state) && writes.length > 0) throw new Violation(`${place}: it was written`);
    const isNew = earlier.get(key)?.state !== state;
    if (!isNew && !isRunning) continue;
    if (state === 'unchanged' && writes.length > 0) throw new Violation(`${place}: it was written`);
    if (!isNew) continue;
    if (state === 'unknown') checkDoubt(world, ledger, run, key, place);
    if (state === 'failed' && !isByPerson && run.undoes === undefined && code !== 'booked_otherwise')
      if (ledger.timesBooked(run, key) > 0) throw new Violation(`${place}: its delivery has booked it`);
    if (state === 'booked') checkBooked(ledger, run, key, place);
    if (state !== 'applied' && state !== 'unchanged') continue;
    if (run.undoes !== undefined) checkUndone(world, ledger, run, key, place);
    const wanted = targetOf(ledger, run, key, row);
    if (wanted === 'any') continue;
    const isAsWritten = writes.some(({ after }) => run.file?.kind === 'creates' || after?.value === wanted);
    if (!isAsWritten && !wasShown(world, run, id || key, state === 'applied', wanted))
      throw new Violation(`${place}: ${wanted} was neither written nor shown`);
  }
}

/** The value that a row is to leave. `any` if nobody but the program can say. */
function targetOf(
  ledger: Ledger,
  run: RunRecord,
  key: string,
  { state, after }: ShownRow,
): number | undefined | 'any' {
  const undone = ledger.undoneOf(run);
  const kind = (undone ?? run).file?.kind;
  if (state === 'applied') return after;
  if (kind === 'delivery') return 'any';
  if (undone && undone.rows.get(key)?.state !== 'applied') return 'any';
  if (undone) return kind === 'creates' ? undefined : undone.rows.get(key)?.before;
  return kind === 'removes' ? undefined : run.typed.get(key)?.value;
}

/** Whether a run was shown a value of a record, since it first tried to write if `isSent`. A reading is believed. */
function wasShown(
  { gateway: { service, writes } }: World,
  { commands }: RunRecord,
  id: string,
  isSent: boolean,
  value: number | undefined,
): boolean {
  const attempt = writes.find((request) => commands.has(request.command) && request.id === id);
  const since = isSent ? (attempt?.number ?? 0) : 0;
  return service.shown.some(
    ({ command, id: shownId, entry, at }) =>
      commands.has(command) && shownId === id && entry?.value === value && at >= since,
  );
}

/** A row is unknown only if an attempt was not certainly refused, a process died. */
function checkDoubt(
  { gateway, commands }: World,
  ledger: Ledger,
  run: RunRecord,
  key: string,
  place: string,
): void {
  const undone = ledger.undoneOf(run);
  const runs = undone ? [run, undone] : [run];
  const own = runs.flatMap((each) => [...each.commands]);
  const first = undone ?? run;
  const id = first.file?.kind === 'creates' ? (first.typed.get(key)?.value ?? key) : key;
  const isDoubtful =
    own.some((number) => gateway.doubtful.has(`${number} ${id}`)) ||
    commands.some(({ number, hasCrashed, isFull }) => (hasCrashed || isFull) && own.includes(number)) ||
    // Nobody heard an answer that came after the time was over or a second Ctrl-C.
    /timeout|interrupted|stopped|unproved/.test(place);
  if (!isDoubtful) throw new Violation(`${place}: every write was certainly refused`);
}

/** A row that is left out because its delivery has it already is booked. */
function checkBooked(ledger: Ledger, run: RunRecord, id: string, place: string): void {
  const isBooked = [...ledger.records.values()].some(
    (other) =>
      other !== run &&
      other.undoes === undefined &&
      ledger.deliveryOf(other) === ledger.deliveryOf(run) &&
      (other.rows.get(id)?.state === 'applied' || ledger.writesOf(other, id).length > 0),
  );
  if (!isBooked) throw new Violation(`${place}: its delivery was never booked on it`);
}

/** What an undo says it has taken back is not the last that was written. */
function checkUndone({ gateway }: World, ledger: Ledger, undo: RunRecord, id: string, place: string): void {
  const undone = ledger.undoneOf(undo);
  const last = ledger.lastOf(id);
  // An old reading is believed.
  if (!undone || !last || gateway.isOld || last.before?.value === last.after?.value) return;
  if (ledger.isOf(undone, last))
    throw new Violation(`${place}: record ${id} is still as run ${undone.id} wrote it`);
  if (ledger.timesBooked(undo, id) > 0) throw new Violation(`${place}: its delivery is still booked on it`);
}

/** A service that adds what it is told to set: a command notices it at the first row that it sends. */
export function checkAdding(ledger: Ledger, { number, words: [verb] }: Command): void {
  const wrong = ledger.changes.filter(
    ({ cause, before, after }) => cause?.command === number && before?.value !== after?.value,
  );
  // A row that is unknown may be the first one of a resume.
  const most = verb === 'undo' ? 0 : verb === 'resume' ? 2 : 1;
  if (wrong.length > most)
    throw new Violation(`command ${number} wrote ${wrong.length} rows to a service that adds`);
}
