import { sleep } from '../../process/deadline.ts';

/** How long the next save waits after a save, in milliseconds. */
const pauseMs = 1000;

/** Saves something that changes: soon after a change, at most once a second, and at the end. */
export interface Autosave {
  /** To be called after each change; without a change it does nothing. */
  check(): void;
  /** Saves what is not saved yet. @throws what `save` throws. */
  close(): Promise<void>;
}

/**
 * @param changing its revision is another one after each change.
 * @param saved the revision that is saved already; undefined if none is.
 * @param onError called with the reason if a save fails; a second later it is tried again.
 */
export function createAutosave(
  changing: { readonly revision: number },
  saved: number | undefined,
  save: () => Promise<void>,
  onError: (error: unknown) => void,
): Autosave {
  let savedRevision = saved;
  let saving: Promise<void> | undefined;
  const closing = new AbortController();

  const saveNow = async () => {
    const { revision } = changing;
    await save();
    savedRevision = revision;
  };
  const keepSaving = async () => {
    while (savedRevision !== changing.revision && !closing.signal.aborted) {
      await saveNow().catch(onError);
      await sleep(pauseMs, closing.signal).catch(() => {});
    }
    saving = undefined;
  };
  return {
    check() {
      if (savedRevision !== changing.revision) saving ??= keepSaving();
    },
    async close() {
      closing.abort();
      await saving;
      if (savedRevision !== changing.revision) await saveNow();
    },
  };
}
