import { readFileSync } from 'node:fs';
import { CliError, OutputClosedError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import type { OutputStream } from '../process/output-stream.ts';
import { fileError } from '../process/system-error.ts';
import { LineFile } from './line-file.ts';
import type { NewFile } from './new-file.ts';
import type { Outcome, Rows } from './rows.ts';

/** The number of lines that may wait for a slow reader before the run waits too. */
const mostWaiting = 1000;

/** Where events go: a file of their own, or stdout. */
interface EventLines {
  append(line: string): void;
  /** Resolves when a slow reader has caught up; undefined if there is nothing to wait for. */
  ready?(): Promise<void> | undefined;
  /** Writes the lines so far to the file. */
  flush?(): void;
  close(): Promise<void>;
  /** Removes a file that was created, because no row will be sent. */
  discard?(): Promise<void>;
}

/** Writes every outcome as a JSON line, for programs. If the reader goes away, the events end but the run continues. */
export class Events {
  private readonly rows: Rows;
  private readonly lines: EventLines;
  private failure: unknown;

  constructor(rows: Rows, lines: EventLines) {
    this.rows = rows;
    this.lines = lines;
  }

  /** Writes the outcomes from before the events began: rows that were left out, and rows that the plan settled. */
  async tellSettled(outcomes: Iterable<readonly [row: number, outcome: Outcome]>): Promise<void> {
    for (const [row, outcome] of outcomes) {
      this.settled(row, outcome);
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
      state,
      status,
      code,
      message,
      attempts,
      requestId,
    };
    try {
      this.lines.append(printJson(event));
    } catch (error) {
      this.failure = error;
    }
  }

  /** Writes the lines so far to their file; an error is thrown at its end. */
  flush(): void {
    this.lines.flush?.();
  }

  /** Resolves when a slow reader has caught up; undefined if there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    return this.lines.ready?.();
  }

  /** Removes a file that was created, because no row will be sent. */
  async discard(): Promise<void> {
    await this.lines.discard?.();
  }

  /** @throws CliError `failed` if a line could not be written. */
  async close(): Promise<void> {
    await this.lines.close();
    if (this.failure) throw this.failure;
  }
}

/** Lines appended during a write are written together by the next one. */
export function linesOfStream(stream: OutputStream): EventLines {
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
  };
}

/**
 * @param continues whether the file is from an earlier session of the run. @throws CliError if it cannot be created.
 */
export function linesOfFile(file: NewFile, continues: boolean): EventLines {
  const lines = openLines(file, continues);
  return {
    append: (line) => lines.append(line),
    flush: () => lines.flushOrKeepError(),
    close: () => lines.close(),
    discard: () => (continues ? lines.close() : lines.remove()),
  };
}

function openLines({ path, name, mayReplace }: NewFile, continues: boolean): LineFile {
  try {
    // The last line may be incomplete after a kill.
    if (continues) return LineFile.reopen(path, readFileSync(path).lastIndexOf(0x0a) + 1);
    return LineFile.create(path, { mode: 0o666, replace: mayReplace });
  } catch (error) {
    throw error instanceof CliError ? error : fileError('write', name, error);
  }
}
