import { OutputClosedError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import { printJson } from '../json.ts';
import type { OutputStream } from '../output-stream.ts';
import type { OutcomeListener } from './ledger.ts';
import { type NewFile, openNewFile } from './new-file.ts';
import type { Outcome } from './outcome.ts';
import type { Rows } from './rows.ts';

/** Lines that may wait for a slow reader before the run does. */
const mostWaiting = 1000;

interface Sink {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** JSON lines of every outcome, for machines; a reader that goes away ends them, and not the run. */
export class Events implements OutcomeListener {
  private readonly rows: Rows;
  private readonly sink: Sink;
  private waiting: string[] = [];
  private writing: Promise<void> | undefined;
  private failure: unknown;

  constructor(rows: Rows, sink: Sink) {
    this.rows = rows;
    this.sink = sink;
  }

  settled(row: number, { state, ...outcome }: Outcome): void {
    if (this.failure instanceof OutputClosedError) return;
    const { rows } = this;
    const { status, code, message, attempts } = outcome;
    const event = {
      line: rows.line(row) || undefined,
      petId: state === 'invalid' ? undefined : rows.id(row),
      quantity: state === 'invalid' ? undefined : rows.quantity(row),
      before: rows.before(row),
      state,
      status,
      code,
      message,
      attempts,
    };
    this.waiting.push(`${printJson(event)}\n`);
    this.writing ??= this.writeAll();
  }

  /** Resolves when a slow reader has caught up; undefined where none needs to. */
  ready(): Promise<void> | undefined {
    return this.waiting.length > mostWaiting ? this.writing : undefined;
  }

  /** @throws CliError `failed` where a line could not be written. */
  async close(): Promise<void> {
    await this.writing;
    await this.sink.close();
    if (this.failure && !(this.failure instanceof OutputClosedError)) throw this.failure;
  }

  /** What is told while a write goes on goes out with the next one. */
  private async writeAll(): Promise<void> {
    await new Promise(setImmediate);
    try {
      while (this.waiting.length > 0) await this.sink.write(this.waiting.splice(0).join(''));
    } catch (error) {
      this.failure = error;
      this.waiting = [];
    }
    this.writing = undefined;
  }
}

export function createStreamSink(stream: OutputStream): Sink {
  return { write: (text) => stream.write(text), close: async () => {} };
}

/** @throws UsageError where the file is there and may not be replaced. */
export async function createFileSink(file: NewFile): Promise<Sink> {
  const handle = await openNewFile(file);
  return {
    async write(text) {
      try {
        await handle.appendFile(text);
      } catch (error) {
        throw fileError('write', file.name, error);
      }
    },
    close: () => handle.close(),
  };
}
