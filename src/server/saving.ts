import { monotonicMs, sleep } from '../deadline.ts';

/** Runs work in batches: requests during one batch go into the next. */
export interface Batches {
  /** The current batch; it never rejects. */
  readonly running: Promise<unknown> | undefined;
  /** Settles with the next batch, which begins after this call. */
  next(): Promise<void>;
  /** From now on batches do not wait for the interval. */
  hurry(): void;
}

/** @param intervalMs from the beginning of one batch to that of the next, at least. */
export function createBatches(work: () => Promise<void>, intervalMs = 0): Batches {
  let waiting: Promise<void> | undefined;
  let running: Promise<unknown> | undefined;
  let earliest = Number.NEGATIVE_INFINITY;
  const hurry = new AbortController();

  const begin = async (): Promise<void> => {
    // Also lets everything that is asked for in this turn of the event loop join the batch.
    do await running;
    while (running);
    const waitMs = earliest - monotonicMs();
    if (waitMs > 0) await sleep(waitMs, hurry.signal).catch(() => {});
    waiting = undefined;
    earliest = monotonicMs() + intervalMs;
    const batch = work();
    const end = (): void => {
      running = undefined;
    };
    running = batch.then(end, end);
    await batch;
  };
  return {
    get running() {
      return running;
    },
    next() {
      waiting ??= begin();
      return waiting;
    },
    hurry: () => hurry.abort(),
  };
}

/** Saves something that changes: soon after a change, at most once a second, and at the end. */
export interface Autosave {
  /** There is something to save. */
  changed(): void;
  /** Saves what is not saved yet. @throws what `save` throws. */
  close(): Promise<void>;
}

/** @param onError called with the reason if a save fails; a second later it is tried again. */
export function createAutosave(save: () => Promise<void>, onError: (error: unknown) => void): Autosave {
  let isDirty = false;
  let isClosed = false;
  const batches = createBatches(async () => {
    isDirty = false;
    try {
      await save();
    } catch (error) {
      isDirty = true;
      throw error;
    }
  }, 1000);
  const plan = (): void => {
    batches.next().catch((error: unknown) => {
      if (isClosed) return;
      onError(error);
      plan();
    });
  };
  return {
    changed() {
      if (isDirty) return;
      isDirty = true;
      plan();
    },
    async close() {
      isClosed = true;
      batches.hurry();
      while (batches.running) await batches.running;
      if (isDirty) await batches.next();
    },
  };
}
