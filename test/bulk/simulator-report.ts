import {
  type Command,
  type ListedRun,
  namedCommand,
  rightStates,
  type ShownRow,
  Violation,
  wrongStates,
} from './simulator-command.ts';
import { isOf, type Ledger, type RunRecord } from './simulator-ledger.ts';

/**
 * Checks the sums, the exit code and the way on that a command reports.
 *
 * @param listed the run as it is listed afterwards.
 * @param hasSent whether the command sent a write.
 * @param written how many rows of the run were written.
 */
export function checkReport(
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
  if (total(['unprocessed']) > 0 && summary.id !== undefined && listed?.state !== 'undone' && !hasWay)
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
