import { monotonicMs } from '../clock.ts';

/** Keeps something saved that changes: soon after a change, at most once a second, and at the end. */
export interface Autosave {
  /** There is something to save. */
  changed(): void;
  /** Saves what is not saved yet. @throws what `save` throws. */
  close(): Promise<void>;
}

const intervalMs = 1000;

/** @param onError told why a save in between failed; it is tried again a second later. */
export function createAutosave(save: () => Promise<void>, onError: (error: unknown) => void): Autosave {
  let isDirty = false;
  let timer: NodeJS.Timeout | undefined;
  let last = Number.NEGATIVE_INFINITY;
  let saving: Promise<void> = Promise.resolve();

  const saveNow = async (): Promise<void> => {
    isDirty = false;
    last = monotonicMs();
    try {
      await save();
    } catch (error) {
      isDirty = true;
      throw error;
    }
  };
  const plan = (): void => {
    const waitMs = Math.max(0, last + intervalMs - monotonicMs());
    timer ??= setTimeout(() => {
      timer = undefined;
      saving = saving
        .then(saveNow)
        .catch(onError)
        .then(() => (isDirty ? plan() : undefined));
    }, waitMs);
  };
  return {
    changed() {
      isDirty = true;
      plan();
    },
    async close() {
      clearTimeout(timer);
      timer = undefined;
      await saving;
      clearTimeout(timer);
      if (isDirty) await saveNow();
    },
  };
}
