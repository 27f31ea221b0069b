import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { seedStore } from './seed.ts';
import { Store } from './store.ts';
import { readStore } from './store-file.ts';
import { printStore } from './store-text.ts';

/** A store that lives in a file between processes, any number of which may use it at the same time. */
interface KeptStore {
  /** The store as it was when the file was last looked at. */
  readonly current: Store;
  /** Takes over what other processes have changed. @throws UsageError where the file is no shop any more. */
  refresh(): Promise<void>;
  /**
   * Changes the store as no other process can at that moment, and saves it. Changes that are asked for while others are
   * being saved are saved together.
   *
   * @throws CliError `failed` where the file cannot be written: then nothing was changed.
   */
  change<Value>(work: () => Value): Promise<Value>;
}

/** Opens the store in `file`; where there is none yet, begins one with the seeded shop. */
export async function openKeptStore(file: string): Promise<KeptStore> {
  const kept = new StoreInFile(file);
  await kept.refresh();
  // The shop stays as it began, whatever a later version would begin with; who may not write can still read it.
  if (kept.isNew) await kept.change(() => {}).catch(() => {});
  return kept;
}

interface Change {
  work(): void;
  saved(): void;
  failed(error: unknown): void;
}

class StoreInFile implements KeptStore {
  current = new Store();
  private readonly file: string;
  /** What the file was when it was last read or written; undefined where memory may hold what the file does not. */
  private version: string | undefined;
  private waiting: Change[] = [];
  /** Reading and saving take turns: nobody sees what is not saved yet. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.file = file;
  }

  get isNew(): boolean {
    return this.version === noFile;
  }

  refresh(): Promise<void> {
    return this.inTurn(async () => this.load());
  }

  change<Value>(work: () => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      let value: Value;
      this.waiting.push({
        work: () => {
          value = work();
        },
        saved: () => resolve(value),
        failed: reject,
      });
      if (this.waiting.length === 1) void this.inTurn(() => this.saveWaiting());
    });
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }

  private async saveWaiting(): Promise<void> {
    const changes = this.waiting;
    this.waiting = [];
    try {
      await this.save(changes);
      for (const { saved } of changes) saved();
    } catch (error) {
      this.version = undefined;
      for (const { failed } of changes) failed(error);
    }
  }

  private async save(changes: readonly Change[]): Promise<void> {
    // Most commands only read: they start without what writing takes.
    const { ensurePrivateFolder, writeFileAtomic } = await import('../files.ts');
    const { withLock } = await import('../lock.ts');
    await ensurePrivateFolder(dirname(this.file));
    const saveAll = async () => {
      this.load();
      const { revision } = this.current;
      for (const { work } of changes) work();
      if (this.current.revision === revision && !this.isNew) return;
      await writeFileAtomic(this.file, printStore(this.current));
      this.version = versionOf(this.file);
    };
    await withLock(this.file, saveAll, { waitMs: lockWaitMs });
  }

  private load(): void {
    const version = versionOf(this.file);
    if (version === this.version) return;
    this.current = readStore(this.file) ?? seedStore();
    this.version = version;
  }
}

const noFile = 'none';

/** A write holds the lock for milliseconds, but many commands at a time on a busy machine add up. */
const lockWaitMs = 30_000;

/** Changes whenever the file is replaced. */
function versionOf(file: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino}-${mtimeNs}-${size}`;
  } catch {
    return noFile;
  }
}
