import { isUtf8 } from 'node:buffer';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as v from 'valibot';
import type { InvalidRecord } from '../input/read-rows.ts';
import { CliError, fileError } from '../process/errors.ts';
import { isJsonObject, type JsonValue, jsonIn, valueIn } from '../process/exact-json.ts';
import { syncPath } from '../process/files.ts';
import { createLog, type RunBegin, type RunLog, type RunNumbers, type Target, targetSchema } from './run.ts';
import {
  applyEvent,
  endKilledSession,
  endPlan,
  journalVersion,
  namesItsRows,
  parseEvent,
  toRow,
} from './run-events.ts';
import { findRow, type RunRow } from './run-row.ts';

/**
 * Reads a journal, without an incomplete line or plan at its end. If the last session was killed, syncs the journal first, because a
 * power cut must not take away lines on which a decision rests. The rows that this session may have sent become uncertain.
 *
 * @returns undefined if the journal has no complete plan: then the run does not exist.
 * @throws CliError `usage` if a line cannot be read.
 */
export async function readJournal(path: string): Promise<RunLog | undefined> {
  const invalid: InvalidRecord[] = [];
  let planRows: RunRow[] = [];
  let log: RunLog | undefined;
  for await (const { text, endOffset } of journalLines(path)) {
    const event = log ? parseEvent(text) : undefined;
    if (!log) log = createLog(parseBegin(path, text).header, [], invalid);
    else if (event?.kind === 'plan') {
      planRows.push(toRow(event, findRow(log.rows, event.line)));
      continue;
    } else if (event?.kind === 'plan-end') {
      log = { ...log, rows: replaceRows(log.rows, planRows) };
      endPlan(log, planRows, event.planNumber);
      planRows = [];
    } else if (planRows.length > 0) throw unreadableError(path, 'a plan has no end');
    else if (event?.kind === 'invalid') invalid.push(event.record);
    else if (event && event.kind !== 'begin' && namesItsRows(log, event)) applyEvent(log, event);
    else throw unreadableError(path, 'one of its lines is damaged');
    log.bytes = endOffset;
  }
  if (!log || log.planNumber === 0) return undefined;
  if (!log.isEnded) {
    syncPath(path);
    syncPath(dirname(path));
    endKilledSession(log);
  }
  return log;
}

/** Replaces rows of earlier plans by the rows of a later plan. The later plan of an undo may have further rows. */
function replaceRows(rows: readonly RunRow[], planRows: readonly RunRow[]): readonly RunRow[] {
  if (rows.length === 0) return planRows;
  const rowsByLine = new Map([...rows, ...planRows].map((row) => [row.line, row]));
  return [...rowsByLine.values()].sort((a, b) => a.line - b.line);
}

/**
 * Reads the first line of a journal alone. Returns undefined if no line is complete: the process may have been killed while it wrote the first one.
 *
 * @throws CliError `usage` if the line cannot be read.
 */
export function readBegin(path: string): RunBegin | undefined {
  const line = readFirstLine(path);
  return line === undefined ? undefined : parseBegin(path, line);
}

/** Reads the first line alone. Returns undefined if no line is complete. */
function readFirstLine(path: string): string | undefined {
  for (let size = 4096; ; size *= 16) {
    const bytes = readPart(path, () => 0, size);
    const end = bytes.indexOf('\n');
    if (end !== -1) return bytes.toString('utf8', 0, end);
    if (bytes.length < size) return undefined;
  }
}

/** The end of a session is shorter. A longer one is found by reading the whole journal. */
const maxEndBytes = 1024;

/**
 * Reads the last line alone. Returns undefined if it does not end a session: then the whole journal must be read.
 *
 * @throws CliError `failed` if the file cannot be read.
 */
export function readEnd(path: string): RunNumbers | undefined {
  const tail = readPart(path, (size) => Math.max(0, size - maxEndBytes), maxEndBytes);
  const line = /(?:^|\n)(.*)\n$/.exec(tail.toString())?.[1] ?? '';
  const event = parseEvent(line);
  return event?.kind === 'end' ? event.end : undefined;
}

/** Reads a part of a file, synchronously, because a command reads two parts of each journal. @param from the offset, by the size of the file. */
function readPart(path: string, from: (size: number) => number, maxBytes: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(maxBytes);
      return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, from(fstatSync(file).size)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError('read', path, error);
  }
}

/** How a journal begins. A run that was killed within its first line has sent nothing. Any other text may be a damaged run. */
const beginText = '{"kind":"begin"';

/** Yields the complete lines of a journal, each with the offset in bytes where it ends. */
async function* journalLines(
  path: string,
): AsyncGenerator<{ readonly text: string; readonly endOffset: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      const length = bytes.lastIndexOf(10) + 1;
      if (!isUtf8(bytes.subarray(0, length))) throw unreadableError(path, 'one of its lines is damaged');
      const lines = bytes.toString('utf8', 0, length);
      for (let from = 0; from < lines.length; ) {
        const to = lines.indexOf('\n', from);
        const text = lines.slice(from, to);
        offset += Buffer.byteLength(text) + 1;
        yield { text, endOffset: offset };
        from = to + 1;
      }
      rest = bytes.subarray(length);
    }
    const start = rest.toString('utf8', 0, beginText.length);
    if (offset === 0 && (!beginText.startsWith(start) || rest.includes(0)))
      throw unreadableError(path, 'it does not begin like a journal');
  } catch (error) {
    throw error instanceof CliError ? error : fileError('read', path, error);
  }
}

function parseBegin(path: string, text: string): RunBegin {
  const version = valueIn(jsonIn(text), ['journal']);
  if (version !== undefined && version !== journalVersion)
    throw unreadableError(
      path,
      `${Number(version) > journalVersion ? 'a later' : 'an earlier'} version of petstore wrote it`,
      'finish its run with that version; or ',
    );
  const event = parseEvent(text);
  if (event?.kind !== 'begin') throw unreadableError(path, 'its header is damaged');
  // A journal of another machine must not become a run of this one.
  if (basename(path) !== `${event.run}.jsonl`)
    throw unreadableError(path, `it is the journal of run ${event.run}`);
  const { run: id, started, header } = event;
  return { id, started, header };
}

/** The facts in the first line of an unreadable journal. */
export interface UnreadableHead {
  /** Undefined if the line is damaged, or of an earlier format that has only the name of the target. */
  readonly target: Target | undefined;
  readonly delivery: string | undefined;
  /** False if another version of petstore has written the journal. */
  readonly isDamaged: boolean;
}

/** Reads the facts in the first line of an unreadable journal. The earliest formats had the header in the line itself. */
export function salvageHead(path: string): UnreadableHead {
  let line: JsonValue | undefined;
  try {
    line = jsonIn(readFirstLine(path) ?? '');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
  const { journal: version, ...facts } = isJsonObject(line) ? line : {};
  const { target, delivery } = isJsonObject(facts.header) ? facts.header : facts;
  return {
    target: v.is(targetSchema, target) ? target : undefined,
    delivery: typeof delivery === 'string' ? delivery : undefined,
    isDamaged: typeof version !== 'number' || version === journalVersion || target === undefined,
  };
}

function unreadableError(path: string, why: string, otherWay = ''): CliError {
  return new CliError('usage', `${path}: this journal cannot be read: ${why}`, {
    code: 'invalid_input',
    hint: `${otherWay}check the records of its rows, then move the file away; petstore then forgets what the run booked`,
  });
}
