import { readFileSync } from 'node:fs';
import { CliError, OutputClosedError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import { printJson } from '../json.ts';
import type { OutputStream } from '../output-stream.ts';
import type { Ledger, Outcome, OutcomeListener } from './ledger.ts';
import { LineFile } from './line-file.ts';
import type { NewFile } from './new-file.ts';
import type { Rows } from './rows.ts';

/** Lines that may wait for a slow reader before the run does. */
const mostWaiting = 1000;

/** Where the lines of `--events` go: a file of their own, or stdout. */
interface EventSink {
  append(line: string): void;
  ready(): Promise<void> | undefined;
  close(): Promise<void>;
  /** Takes back a file that was made, because no row will be sent. */
  discard(): Promise<void>;
}

/** JSON lines of every outcome, for machines; a reader that goes away ends them, and not the run. */
export class Events implements OutcomeListener {
  private readonly rows: Rows;
  private readonly sink: EventSink;
  private failure: unknown;

  constructor(rows: Rows, sink: EventSink) {
    this.rows = rows;
    this.sink = sink;
  }

  /** Tells what was settled before the events began: rows that were left out, and those that the plan settled. */
  async tellSettled(ledger: Ledger): Promise<void> {
    const { rows } = ledger;
    for (let row = 0; row < rows.length; row += 1) {
      const state = rows.state(row);
      if (state === 'unprocessed' || state === rows.earlierState(row)) continue;
      this.settled(row, ledger.failureOf(row) ?? { state });
      await this.ready();
    }
  }

  settled(row: number, { state, status, code, message, attempts, requestId }: Outcome): void {
    if (this.failure !== undefined) return;
    const { rows } = this;
    const isKnown = state !== 'invalid';
    const event = {
      line: rows.line(row) || undefined,
      petId: isKnown ? rows.id(row) : undefined,
      change: isKnown ? rows.change(row) : undefined,
      quantity: isKnown ? rows.quantity(row) : undefined,
      before: rows.before(row),
      ...{ state, status, code, message, attempts, requestId },
    };
    try {
      this.sink.append(printJson(event));
    } catch (error) {
      this.failure = error;
    }
  }

  /** Resolves when a slow reader has caught up; undefined if none needs to. */
  ready(): Promise<void> | undefined {
    return this.sink.ready();
  }

  /** Takes back a file that was made, because no row will be sent. */
  discard(): Promise<void> {
    return this.sink.discard();
  }

  /** @throws CliError `failed` if a line could not be written. */
  async close(): Promise<void> {
    await this.sink.close();
    if (this.failure) throw this.failure;
  }
}

/** What is appended while a write goes on goes out with the next one. */
export function createStreamSink(stream: OutputStream): EventSink {
  let waiting: string[] = [];
  let writing: Promise<void> | undefined;
  let failure: unknown;
  const writeAll = async () => {
    await new Promise(setImmediate);
    try {
      while (waiting.length > 0) await stream.write(`${waiting.splice(0).join('\n')}\n`);
    } catch (error) {
      failure = error;
      waiting = [];
    }
    writing = undefined;
  };
  return {
    append(line) {
      if (failure !== undefined) return;
      waiting.push(line);
      writing ??= writeAll();
    },
    ready: () => (waiting.length > mostWaiting ? writing : undefined),
    async close() {
      await writing;
      if (failure !== undefined && !(failure instanceof OutputClosedError)) throw failure;
    },
    discard: async () => {},
  };
}

/** @param continues whether the file is that of an earlier session of the run. @throws CliError if it cannot be made. */
export function createFileSink(file: NewFile, continues: boolean): EventSink {
  const lines = openLines(file, continues);
  return {
    append: (line) => lines.append(line),
    ready: () => undefined,
    close: () => lines.close(),
    discard: () => (continues ? lines.close() : lines.remove()),
  };
}

function openLines({ path, name, mayReplace }: NewFile, continues: boolean): LineFile {
  try {
    // A kill may have torn the last line.
    if (continues) return LineFile.reopen(path, readFileSync(path).lastIndexOf(0x0a) + 1);
    return LineFile.create(path, { mode: 0o666, replace: mayReplace });
  } catch (error) {
    throw error instanceof CliError ? error : fileError('write', name, error);
  }
}
