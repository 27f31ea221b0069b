import { dirname } from 'node:path';
import { type HttpRequest, type HttpResponse, isSafeMethod, type Transport } from '../api/http.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { createApp } from './app.ts';
import { seedStore } from './seed.ts';
import { Store } from './store.ts';
import { printStore, readStore, versionOf } from './store-file.ts';

/**
 * Creates a transport to the embedded store. Its requests go to the app of the local server, in this process.
 *
 * @param file the file of the store, or `:memory:` for a store that is kept nowhere.
 * @throws InputError if the file does not hold a store; the file stays as it is.
 */
export async function createOfflineTransport(file: string, options: SharedStoreOptions): Promise<Transport> {
  const sharedStore = file === ':memory:' ? undefined : new SharedStore(file, options);
  await sharedStore?.open();
  const owner = sharedStore ?? { current: seedStore() };
  const app = createApp(() => owner.current);
  const send = sharedStore ? sendTo(sharedStore, app) : app;
  let pause: Promise<unknown> | undefined;
  let pausedAtMs = monotonicMs();
  return {
    async send(request, options) {
      // These answers never wait for the system. Without pauses, signals and timers would wait until the last request.
      if (monotonicMs() - pausedAtMs > 50) {
        pause = new Promise(setImmediate);
        pausedAtMs = monotonicMs();
      }
      await pause;
      if (options.cancellation.isCancelled) throw options.cancellation.reason;
      const response = await send(request, options);
      return request.method === 'HEAD' ? { ...response, body: '' } : response;
    },
    saveStore: sharedStore && (() => sharedStore.saveChanges()),
  };
}

/** Sends requests to an app whose store is in a file. */
function sendTo(sharedStore: SharedStore, app: (request: HttpRequest) => HttpResponse): Transport['send'] {
  return async (request, { cancellation, onSending }) => {
    if (isSafeMethod(request.method)) return sharedStore.read(() => app(request));
    const response = await sharedStore.change(() => {
      // The caller may have given up while another process had the lock.
      if (cancellation.isCancelled) return undefined;
      onSending();
      return app(request);
    });
    if (!response) throw cancellation.reason;
    return response;
  };
}

interface SharedStoreOptions {
  /** The longest wait for another process that holds the file. */
  readonly lockWaitMs: number;
  /** True if changes are answered before they are saved, because the caller saves many at once. */
  readonly isSavedByCaller?: boolean;
}

/** A store in a file, which any number of processes may use at the same time. */
class SharedStore {
  /** The store of the file when it was last read or written, with the changes that are not saved yet. */
  current = new Store();
  private readonly file: string;
  private readonly options: SharedStoreOptions;
  /** The version of the file that memory has. Without it, the file must be read again. */
  private version: string | undefined;
  /** Releases the lock of the file. Set from the lock until the next save, while memory may be ahead of the file. */
  private release: (() => void) | undefined;
  /** Settles when the last read or change has ended; never rejects. */
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(file: string, options: SharedStoreOptions) {
    this.file = file;
    this.options = options;
  }

  /**
   * Reads the store. If there is no file, saves the seed, because a later version of the program may have another seed. A
   * store that cannot be written can still be read.
   */
  async open(): Promise<void> {
    await this.read(() => {});
    if (this.current.id !== undefined) return;
    const saving = this.change(() => {}).then(() => this.saveChanges());
    await saving.catch(() => {});
  }

  /**
   * Carries out work that only reads, on a store with the changes of other processes.
   *
   * @throws InputError if the file does not hold a store any more.
   */
  read<Value>(work: () => Value): Promise<Value> {
    return this.inTurn(() => {
      this.load();
      return work();
    });
  }

  /**
   * Carries out work that changes the store while no other process can, and saves the store unless the caller does.
   *
   * @throws CliError `failed` if the file cannot be written; the file then stays as it was.
   */
  change<Value>(work: () => Value): Promise<Value> {
    return this.inTurn(async () => {
      if (!this.release) await this.lock();
      const value = work();
      if (!this.options.isSavedByCaller) await this.save();
      return value;
    });
  }

  /** Saves the changes so far. @throws CliError `failed`; the changes since the last save are then lost. */
  saveChanges(): Promise<void> {
    return this.inTurn(() => this.save());
  }

  /** Begins work when all earlier reads and changes have ended. */
  private inTurn<Value>(work: () => Value | Promise<Value>): Promise<Value> {
    const turn = this.lastTurn.then(work);
    this.lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Keeps other processes from the file until the next save. */
  private async lock(): Promise<void> {
    // Most commands only read, so the modules for writing are loaded here.
    const { ensureFolder } = await import('../process/files.ts');
    const { takeLock } = await import('../process/lock.ts');
    ensureFolder(
      dirname(this.file),
      'PETSTORE_OFFLINE_STORE names another file, or PETSTORE_STATE_DIR its folder',
    );
    const release = await takeLock(this.file, { waitMs: this.options.lockWaitMs });
    try {
      this.load();
    } catch (error) {
      release();
      throw error;
    }
    this.release = release;
  }

  /** @throws CliError `failed` if the file cannot be written; the changes since the last save are then lost. */
  private async save(): Promise<void> {
    const { release, current } = this;
    if (!release) return;
    const { writeFileAtomic } = await import('../process/files.ts');
    this.version = undefined;
    try {
      const id = current.id ?? (await import('node:crypto')).randomUUID();
      writeFileAtomic(this.file, printStore({ ...current, id }));
      // Not before: a store that was never written has no identifier.
      current.id = id;
      this.version = versionOf(this.file);
    } finally {
      this.release = undefined;
      release();
    }
  }

  private load(): void {
    // This process has the lock, so memory is up to date, and may be ahead of the file.
    if (this.release) return;
    const version = versionOf(this.file);
    if (version === this.version) return;
    const store = readStore(this.file) ?? seedStore();
    // A run must not continue in another store than the one that its journal names.
    if (this.current.id !== undefined && store.id !== this.current.id)
      throw new CliError(
        'failed',
        `${this.file}: the embedded store was replaced while this command used it`,
      );
    this.current = store;
    this.version = version;
  }
}

/**
 * Writes another store to the file of the embedded store, which only its owner can read.
 *
 * @param lockWaitMs the longest wait for another process that holds the file.
 * @throws InputError if the file does not hold a store, CliError `failed` if it cannot be written; it then stays as it is.
 */
export async function replaceStore(file: string, store: Store, lockWaitMs: number): Promise<void> {
  const sharedStore = new SharedStore(file, { lockWaitMs });
  await sharedStore.change(() => {
    // The new store has no identifier yet, and gets one when it is saved.
    sharedStore.current = store;
  });
}
