import { fieldsOf, isFields, type RecordValue, type ServiceRecord } from '../api/record-values.ts';
import { CutListError } from '../client/lists/read-list.ts';
import type { Pace } from '../client/pace.ts';
import type { InvalidRecord } from '../input/read-rows.ts';
import { errorSentence } from '../output/messages.ts';
import { forEachConcurrently } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { isNumber } from '../process/exact-json.ts';
import { indexOfId } from '../process/sorted.ts';
import { decide, expectedValue } from '../writes/decide.ts';
import { fieldNamesIn, type RecordPort } from '../writes/port.ts';
import { doubtOf, type Outcome, outcomeOf, unprocessed } from '../writes/row.ts';
import { collectClaims } from './claims.ts';
import { type RowPlan, setRowPlan } from './run-events.ts';
import { needsPlan, type RunRow } from './run-row.ts';
import type { SessionRuns } from './session-runs.ts';

/** The plan of a session. Its rows have been decided. */
export interface Plan {
  /** The rows that the session looked at. */
  readonly rows: readonly RunRow[];
  readonly rowsToWrite: readonly RunRow[];
  /** The invalid records, in the first plan of a run. */
  readonly invalid: readonly InvalidRecord[];
  /** Why the inventory entries that are deleted with pets could not be read, a clause. */
  readonly whyNoEntries: string | undefined;
}

/** With fewer rows than this, records are read one by one, with their ETags. Otherwise the whole list is read. */
const minRowsForList = 100;

/** The ports that a session reads and writes by, and the pace of their requests. */
export interface SessionPorts {
  readonly port: RecordPort;
  /** The inventory entries that are deleted with pets. Only a run that deletes pets has them. */
  readonly entries: RecordPort | undefined;
  readonly pace: Pace;
}

/**
 * Reads the records of the rows that the session looks at, and decides each row: it is planned, or it remains uncertain, or it ends
 * because it needs no write or cannot be written.
 *
 * @param onRead called after each record.
 * @throws CliError if a record could not be read: there is no partial plan.
 */
export async function planRun(
  runs: SessionRuns,
  { port, entries }: SessionPorts,
  onRead: () => void,
): Promise<Plan> {
  const { log } = runs;
  const rows = log.rows.filter(needsPlan);
  const claims = await collectClaims(runs, rows);
  const toRead: RowWithId[] = [];
  const planByValue = (row: RunRow, now: RecordValue) => setRowPlan(row, planOf(row, now, port));
  for (const row of rows) {
    const doubt = doubtOf(row);
    const outcome = claims.get(row) ?? outcomeWithoutReading(row, port, log.header.undoes !== undefined);
    if (outcome) setRowPlan(row, { planned: doubt && row.planned, state: outcome });
    else if (hasId(row)) toRead.push(row);
    else planByValue(row, null);
  }
  await readAll(port, toRead, (row, record) => {
    planByValue(row, port.rowValueOf(row.intent, record));
    onRead();
  });
  const rowsToWrite = rows.filter((row) => !outcomeOf(row));
  const whyNoEntries = entries && (await readEntries(entries, rowsToWrite));
  return { rows, rowsToWrite, invalid: log.planNumber === 0 ? log.invalid : [], whyNoEntries };
}

/** Returns the outcome of a row that no reading can decide. */
function outcomeWithoutReading(row: RunRow, { abilities }: RecordPort, isUndo: boolean): Outcome | undefined {
  const doubt = doubtOf(row);
  if (doubt) {
    // The reading of a list may be older than the attempt.
    if (!hasId(row) || abilities.canReadEach) return undefined;
    const message = 'it may have been written, and the service offers no way to read one record';
    return { kind: 'unknown', reason: { code: 'unbound', message }, doubt };
  }
  const { intent } = row;
  const earlier = isUndo && intent.kind === 'set' && isFields(intent.value) ? intent.value : {};
  const unshown = Object.keys(earlier).filter(
    (name) => abilities.writeOnly.has(name) && earlier[name] === undefined,
  );
  if (unshown.length === 0) return undefined;
  const message = `the service does not show ${unshown.join(', ')}, so the earlier value is not known`;
  return { kind: 'failed', reason: { code: 'unbound', message } };
}

type RowWithId = RunRow & { readonly id: bigint };
const hasId = (row: RunRow): row is RowWithId => row.id !== undefined;

type TakeRecord = (row: RunRow, record: ServiceRecord | undefined) => void;

/**
 * Reads the records of rows, by the list or one by one, and passes each row to `take` once, without a record if there is none. No two
 * rows have the same id.
 *
 * @throws CliError if a record could not be read.
 */
async function readAll(port: RecordPort, toRead: readonly RowWithId[], take: TakeRecord): Promise<void> {
  const { contract, noun, abilities, limits } = port;
  const { canReadEach } = abilities;
  // Not a map by id: for a million rows that costs a second and 40 MB.
  const rows = toRead.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const isWorthList = !canReadEach || rows.length >= minRowsForList;
  const hasList = contract.operations.has(noun.operations.list);
  const usesList = hasList && isWorthList && rows.some((row) => mayBeListed(port, row));
  const { unclear, absent } = usesList ? await readListed(port, rows, take) : { unclear: rows, absent: [] };
  // A list may leave a record out, because it changes while it is read or because it shows only some records.
  if (!canReadEach) {
    const again = absent.length > 0 ? await readListed(port, absent, take) : { absent };
    for (const row of again.absent) take(row, undefined);
    return;
  }
  const readEach = (some: readonly RowWithId[], isOffList: boolean) =>
    forEachConcurrently(limits.concurrency, some, async (row) =>
      take(row, (await port.read(row.id, {}, isOffList)).record),
    );
  await readEach(unclear, false);
  await readEach(absent, true);
}

/** Returns true if a list shows as much of a record as any other reading. */
function listShowsAll({ contract, noun }: RecordPort): boolean {
  return noun.isCount || !contract.operations.has(noun.operations.get);
}

/** A list may have fields of its own, and shorter texts. So it is not used for a record that must be as expected. */
function mayBeListed(port: RecordPort, { intent }: RunRow): boolean {
  return listShowsAll(port) || (intent.kind !== 'remove' && expectedValue(intent) === undefined);
}

/** Returns true if a list shows the value that a row is about. It may have null for a field that only the record itself shows. */
function isValueListed(port: RecordPort, row: RunRow, { fields }: ServiceRecord): boolean {
  if (listShowsAll(port)) return true;
  const values = Object.values(fieldsOf(fields, fieldNamesIn(row.intent)));
  return mayBeListed(port, row) && values.every((value) => (value ?? null) !== null);
}

/**
 * Reads the list, and passes each row whose value it shows to `take`.
 *
 * @param rows in the order of their ids.
 * @returns the other rows: `absent` are not in the list; `unclear` are shown without their value, or not in a list that may be cut.
 * @throws CliError if it could not be read, or may be cut and is the only way to read a record.
 */
async function readListed(port: RecordPort, rows: readonly RowWithId[], take: TakeRecord) {
  const isRead = new Uint8Array(rows.length);
  const partlyListed = new Set<RunRow>();
  let isWhole = true;
  let at = 0;
  try {
    for await (const page of port.list())
      for (const record of page) {
        const value = record.fields[port.noun.idField];
        // An order of a list may have no id.
        if (!isNumber(value)) continue;
        const id = BigInt(value);
        // Most lists are in the order of their ids.
        if (rows[at]?.id !== id) at = indexOfId(rows, id);
        const row = rows[at];
        // A list that changes during the reading may contain a record twice.
        if (row?.id !== id || isRead[at]) continue;
        if (isValueListed(port, row, record)) {
          isRead[at] = 1;
          take(row, record);
        } else partlyListed.add(row);
        at += 1;
      }
  } catch (error) {
    // The records are read one by one instead.
    if (!port.abilities.canReadEach || !(error instanceof CutListError)) throw error;
    isWhole = false;
  }
  const unread = rows.filter((_, index) => !isRead[index]);
  const isAbsent = (row: RowWithId) => isWhole && !partlyListed.has(row);
  return { unclear: unread.filter((row) => !isAbsent(row)), absent: unread.filter(isAbsent) };
}

/** Reads the counts of the inventory entries that go with pets. Returns why it could not, if so. */
async function readEntries(inventory: RecordPort, pets: readonly RunRow[]): Promise<string | undefined> {
  try {
    await readAll(inventory, pets.filter(hasId), (row, record) => {
      if (record) row.entryCount = record.fields.quantity;
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error instanceof CutListError ? 'the list of them may be incomplete' : errorSentence(error);
  }
}

/** Plans a row by the value of its record. An uncertain row keeps the write that was sent. */
function planOf(row: RunRow, now: RecordValue, port: RecordPort): RowPlan {
  const { intent } = row;
  const doubt = doubtOf(row);
  // A removal expects the record that its earlier plan has shown to the user. A row that has failed is planned as if for the first time.
  const earlier = doubt || !outcomeOf(row) ? row.planned : undefined;
  const decision = decide({ intent, planned: earlier, doubt }, now, port.abilities);
  const isWrite = decision.kind === 'write';
  if (!doubt) return isWrite ? { planned: decision.planned, state: unprocessed } : { state: decision };
  return { planned: earlier, lastRead: now, state: isWrite ? { kind: 'unsettled', doubt } : decision };
}

/** The value of a record before its row is written, as the last plan read it: `lastRead` of an uncertain row, else `before`. */
export function valueBefore(row: RunRow): RecordValue | undefined {
  return row.lastRead === undefined ? row.planned?.before : row.lastRead;
}

/**
 * Returns the exact change of a count by a row. A missing record counts as 0. Undefined for the fields of a record, and for a row that
 * no plan writes.
 */
export function changeOf(row: RunRow): number | bigint | undefined {
  const [before, after] = [valueBefore(row) ?? 0, row.planned?.after ?? 0];
  if (!row.planned || isFields(before) || isFields(after)) return undefined;
  const areNumbers = typeof before === 'number' && typeof after === 'number';
  return areNumbers ? after - before : BigInt(after) - BigInt(before);
}
