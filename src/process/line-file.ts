import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { fileError } from './system-error.ts';

const writeEveryMs = 5;
/** Lines are written at the latest when so many are held back. */
const maxPending = 1000;

/**
 * An append-only file of lines. Lines appended within 5 ms are written together, so a kill of the process loses at most
 * those. Only `sync` makes them survive a power cut.
 */
export class LineFile {
  readonly path: string;
  private readonly file: number;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private isClosed = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.file = file;
  }

  /** Creates a new file with the mode 0600. @throws CliError `failed` */
  static create(path: string): LineFile {
    try {
      return new LineFile(path, openSync(path, 'wx', 0o600));
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Continues after the first `length` bytes of a file, and drops the rest. @throws CliError `failed` */
  static reopen(path: string, length: number): LineFile {
    try {
      const file = openSync(path, 'a');
      ftruncateSync(file, length);
      return new LineFile(path, file);
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** @param line without its line end. @throws CliError `failed` if an earlier line was lost. */
  append(line: string): void {
    if (this.failure) throw this.failure;
    this.pending.push(line);
    if (this.pending.length >= maxPending) this.flush();
    else this.timer ??= setTimeout(() => this.flushOrKeepError(), writeEveryMs);
  }

  /** Returns when everything is on the disk. @throws CliError `failed` if that fails; then nothing more is written. */
  sync(): void {
    this.flush();
    this.guard(() => fsyncSync(this.file));
  }

  /** Closes the file without a flush; lines that are held back are lost. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    closeSync(this.file);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure) throw this.failure;
    if (this.pending.length === 0) return;
    const bytes = Buffer.from(`${this.pending.join('\n')}\n`);
    this.pending = [];
    this.guard(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at, bytes.length - at);
    });
  }

  /** An error of a write that nobody waits for is thrown at the next line. */
  private flushOrKeepError(): void {
    try {
      this.flush();
    } catch {}
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
  }
}
