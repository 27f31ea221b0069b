import { type Command, type ShownRow, Violation } from './simulator-command.ts';
import { isOf, type Ledger, type RunRecord } from './simulator-ledger.ts';

const notWritten = ['failed', 'unprocessed', 'invalid', 'skipped', 'booked'];

/** Checks what a run says about its rows. @param earlier the rows before the command. */
export function checkRows(
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
    if (isStillDone(ledger, run, key)) fail('it was not taken back');
    const wanted = targetOf(run, key, row);
    const isMade = run.file.kind === 'creates' && writes.length > 0;
    if (wanted === 'any' || isMade || writes.some(({ after }) => after?.value === wanted)) continue;
    if (!wasShown(ledger, run, row.id, state === 'applied', wanted))
      fail(`${wanted} was neither written nor shown`);
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
  const first = gateway.writes.find((request) => commands.has(request.command) && request.id === id);
  const since = isSent ? (first?.number ?? 0) : 0;
  return gateway.service.shown.some(
    (reading) =>
      commands.has(reading.command) &&
      reading.id === id &&
      reading.entry?.value === value &&
      reading.at >= since,
  );
}

/** A row is unknown only if an attempt was not certainly refused, or a process died or had no room on its disk. */
function isDoubtful({ world }: Ledger, run: RunRecord, key: string, code: string | undefined): boolean {
  const own = [...run.commands, ...(run.undone?.commands ?? [])];
  const id = run.file.kind === 'creates' ? (run.typed.get(key)?.value ?? key) : key;
  return (
    own.some((number) => world.gateway.doubtful.has(`${number} ${id}`)) ||
    world.commands.some(({ number, hasCrashed, isFull }) => (hasCrashed || isFull) && own.includes(number)) ||
    // Nobody heard an answer that came after the time was over or a second Ctrl-C.
    code === 'timeout' ||
    code === 'interrupted'
  );
}

/** Whether another run of the delivery has booked a record. */
function isBooked(ledger: Ledger, run: RunRecord, id: string): boolean {
  return ledger.runs.some(
    (other) =>
      other !== run &&
      !other.undone &&
      other.file.number === run.file.number &&
      (other.rows.get(id)?.state === 'applied' || ledger.writesOf(other, id).length > 0),
  );
}

/** Whether what an undo says it has taken back is still there. An old reading is believed. */
function isStillDone(ledger: Ledger, undo: RunRecord, id: string): boolean {
  const last = ledger.lastOf(id);
  if (!undo.undone || !last || ledger.world.gateway.isOld) return false;
  return isOf(undo.undone, last) || ledger.timesBooked(undo, id) > 0;
}

/** A service that adds what it is told to set: a command notices it at the first row whose answer comes. */
export function checkAdding({ changes }: Ledger, { number, step, words: [verb] }: Command): void {
  const own = changes.filter(({ cause }) => cause?.command === number);
  // A row that is unknown may be the first one of a resume.
  const most = verb === 'resume' ? 2 : 1;
  if (step.conduct.writeFaults === 0 && own.length > most)
    throw new Violation(`command ${number} wrote ${own.length} rows to a service that adds`);
}
