import type { Cancellation } from '../../deadline.ts';

/** So many exchanges at a time; the others wait in turn. */
export interface Slots {
  /** Does the work as soon as there is a slot for it; what is cancelled before is not begun. */
  use<Value>(cancellation: Cancellation, work: () => Promise<Value>): Promise<Value>;
}

export function createSlots(count: number): Slots {
  const waiting = new Set<() => void>();
  let free = count;
  const admit = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  // Calls that began together end together at their deadline: the next in turn may have a moment left, or none.
  const leave = () => (waiting.size === 0 ? admit() : setImmediate(admit));
  const enter = (cancellation: Cancellation) =>
    new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      cancellation.onCancel((reason) => {
        if (waiting.delete(resolve)) reject(reason);
      });
    });
  return {
    async use(cancellation, work) {
      if (free > 0) free -= 1;
      else await enter(cancellation);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
