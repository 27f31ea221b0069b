import {
  closeSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { fileError } from '../file-error.ts';
import { type JournalHeader, type JournalLine, printLine } from './journal-lines.ts';

const linesPerSync = 100;
const syncEveryMs = 1000;
const writeEveryMs = 5;
const synchronise = promisify(fsync);

/**
 * Appends to a journal. What is appended within 5 ms goes to the system in one write, so a kill of the process loses at
 * most that; every 100 lines or second it is synchronised to the disk, which a power cut spares.
 */
export class JournalWriter {
  readonly path: string;
  private readonly file: number;
  private pending: string[] = [];
  /** Bytes appended, and bytes handed to the system. */
  private offset: number;
  private written: number;
  private unsynced = 0;
  private syncing: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;
  private failure: Error | undefined;

  private constructor(path: string, file: number, offset: number) {
    this.path = path;
    this.file = file;
    this.offset = offset;
    this.written = offset;
    this.timer = setInterval(() => this.sync(), syncEveryMs);
    this.timer.unref();
  }

  /** Starts a journal. @throws CliError `failed` where one is there already or it cannot be written. */
  static create(path: string, header: JournalHeader): JournalWriter {
    const writer = orFileError(path, () => new JournalWriter(path, openSync(path, 'ax', 0o600), 0));
    writer.append(header);
    writer.flush();
    return writer;
  }

  /** Goes on with a journal, behind its last whole line: what follows is a torn one. */
  static reopen(path: string): JournalWriter {
    return orFileError(path, () => {
      const file = openSync(path, 'r+');
      const length = wholeLength(file);
      ftruncateSync(file, length);
      return new JournalWriter(path, file, length);
    });
  }

  /** Appends a line and gives the byte at which it begins. @throws CliError `failed` where an earlier one was lost. */
  append(line: JournalHeader | JournalLine): number {
    if (this.failure) throw this.failure;
    const text = `${printLine(line)}\n`;
    const at = this.offset;
    this.offset += Buffer.byteLength(text);
    this.pending.push(text);
    if (this.pending.length === 1) setTimeout(() => this.flushOrKeepError(), writeEveryMs);
    return at;
  }

  /** Hands what was appended to the system. @throws CliError `failed` where it does not take it; then nothing more is written. */
  flush(): void {
    try {
      this.writePending();
    } catch (error) {
      this.failure = error as Error;
      throw error;
    }
  }

  private writePending(): void {
    if (this.pending.length === 0) return;
    const { pending } = this;
    this.pending = [];
    const bytes = Buffer.from(pending.join(''));
    orFileError(this.path, () => {
      for (let at = 0; at < bytes.length; )
        at += writeSync(this.file, bytes, at, bytes.length - at, this.written + at);
      this.written += bytes.length;
    });
    this.unsynced += pending.length;
    if (this.unsynced >= linesPerSync) this.sync();
  }

  /** Ends the writing with everything on the disk. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    try {
      if (!this.failure) this.flush();
      await this.syncing;
      orFileError(this.path, () => fsyncSync(this.file));
    } finally {
      closeSync(this.file);
    }
  }

  /** What goes wrong is told at the next line. */
  private flushOrKeepError(): void {
    try {
      this.flush();
    } catch {}
  }

  /** One at a time: where the disk is slow, more lines share one. */
  private sync(): void {
    if (this.syncing || this.unsynced === 0) return;
    this.unsynced = 0;
    this.syncing = synchronise(this.file).then(
      () => {
        this.syncing = undefined;
        if (this.unsynced >= linesPerSync) this.sync();
      },
      (error) => {
        this.syncing = undefined;
        this.failure = fileError('write', this.path, error);
      },
    );
  }
}

/** Bytes up to the last line end; no line is longer than what is looked at. */
function wholeLength(file: number): number {
  const { size } = fstatSync(file);
  const tail = Buffer.alloc(Math.min(size, 2 ** 20));
  readSync(file, tail, 0, tail.length, size - tail.length);
  return size - tail.length + tail.lastIndexOf(0x0a) + 1;
}

function orFileError<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw fileError('write', path, error);
  }
}
