import {
  closeSync,
  fsync,
  fsyncSync,
  openSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { fileError, systemCode } from '../process/system-error.ts';

const linesPerSync = 100;
const syncEveryMs = 1000;
const writeEveryMs = 5;
/** Most lines held back. */
const mostPending = 1000;
const synchronise = promisify(fsync);

/**
 * An append-only file of lines: a journal, or the file of `--events`. Lines appended within 5 ms are written together,
 * so a kill of the process loses at most those. The file is synchronised to the disk after every 100 lines and every
 * second, so a power cut loses at most those.
 */
export class LineFile {
  path: string;
  /** Called before lines are written to the system. */
  beforeWrite: (() => void) | undefined;
  private readonly file: number;
  private pending: string[] = [];
  private unsynced = 0;
  private syncing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly syncTimer: NodeJS.Timeout;
  private failure: Error | undefined;
  private isClosed = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.file = file;
    this.syncTimer = setInterval(() => this.sync(), syncEveryMs);
    this.syncTimer.unref();
  }

  /** Creates a new file, with the mode 0600 by default. @throws the error of the system, such as `EEXIST`. */
  static create(path: string, { mode = 0o600, replace = false } = {}): LineFile {
    return new LineFile(path, openSync(path, replace ? 'w' : 'wx', mode));
  }

  /** Continues after the first `length` bytes of a file; cuts off the rest, an incomplete line. */
  static reopen(path: string, length: number): LineFile {
    try {
      truncateSync(path, length);
      return new LineFile(path, openSync(path, 'a'));
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /**
   * Appends a line.
   *
   * @param line without its line end.
   * @throws CliError `failed` if an earlier line was lost; Error if the file is closed.
   */
  append(line: string): void {
    if (this.isClosed) throw new Error(`${this.path} is closed: no line can be appended`);
    if (this.failure) throw this.failure;
    this.pending.push(line);
    if (this.pending.length >= mostPending) this.flush();
    else this.timer ??= setTimeout(() => this.flushOrKeepError(), writeEveryMs);
  }

  /** Writes the appended lines to the system. @throws CliError `failed` if that fails; then nothing more is written. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure) throw this.failure;
    if (this.pending.length === 0) return;
    this.beforeWrite?.();
    const { pending } = this;
    this.pending = [];
    const bytes = Buffer.from(`${pending.join('\n')}\n`);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at, bytes.length - at);
    } catch (error) {
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
    this.unsynced += pending.length;
    if (this.unsynced >= linesPerSync) this.sync();
  }

  /** Returns when everything is on the disk. @throws CliError `failed` if that fails. */
  flushToDisk(): void {
    this.flush();
    try {
      fsyncSync(this.file);
    } catch (error) {
      if (isNotAFile(error)) return;
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
    this.unsynced = 0;
  }

  /** Closes the file with everything on the disk; call it once. @throws CliError `failed` if a line was lost. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    try {
      await this.syncing;
      this.flushToDisk();
    } finally {
      this.release();
    }
  }

  /** Renames the file and replaces an existing one of that name. @throws CliError `failed` */
  rename(path: string): void {
    try {
      renameSync(this.path, path);
    } catch (error) {
      throw fileError('write', path, error);
    }
    this.path = path;
  }

  /** Closes the file and removes it. */
  async remove(): Promise<void> {
    await this.syncing;
    this.release();
    unlinkSync(this.path);
  }

  private release(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.syncTimer);
    clearTimeout(this.timer);
    closeSync(this.file);
  }

  /** Flushes; an error is thrown at the next line. */
  flushOrKeepError(): void {
    try {
      this.flush();
    } catch {}
  }

  /** One synchronisation at a time: on a slow disk, one covers more lines. */
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
        if (!isNotAFile(error)) this.failure ??= fileError('write', this.path, error);
      },
    );
  }
}

/** A pipe or a device cannot be synchronised. */
function isNotAFile(error: unknown): boolean {
  return systemCode(error) === 'EINVAL';
}
