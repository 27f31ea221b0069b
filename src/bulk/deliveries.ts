import type { RunHeader } from './journal.ts';
import { areDisjoint } from './run-flags.ts';
import { isReadable, isUnfinished, type RunInfo, type RunStore, type UnreadableRun } from './run-store.ts';

// A delivery is the input of a relative run. It is booked once, because adding it twice would be wrong.

/** How long a delivery that was booked is recognised. */
const bookedForMs = 7 * 24 * 3_600_000;

/** A run that booked a delivery, or may have. */
export interface Booking {
  readonly run: string;
  /** What is known of it, a clause. */
  readonly what: string;
  /** Verbs of `inventory` that go on with it. */
  readonly verbs: readonly ('undo' | 'resume')[];
  /** The file to look at if its journal cannot be read. */
  readonly file: string | undefined;
}

/** The run that has booked the same rows on the same target, and is not undone; undefined if none has. */
export async function findBooking(
  runs: RunStore,
  { delivery, target, flags }: Pick<RunHeader, 'delivery' | 'target' | 'flags'>,
): Promise<Booking | undefined> {
  if (delivery === null) return undefined;
  for (const each of await runs.all()) {
    const { header } = each;
    const isSame =
      header === undefined ||
      (header.delivery === delivery &&
        header.target === target &&
        !areDisjoint(flags.shard, header.flags.shard));
    if (isSame && isBooked(each)) return bookingOf(runs, each);
  }
  return undefined;
}

/** A run whose journal cannot be read counts as booked. */
function isBooked(run: RunInfo | UnreadableRun): boolean {
  if (!isReadable(run)) return true;
  const { state, counts, left, lastAt } = run;
  if (state === 'undone') return false;
  if (state === 'running') return true;
  const isRecent = isUnfinished(run) || Date.now() - lastAt <= bookedForMs;
  return isRecent && counts.applied + counts.unknown + left > 0;
}

function bookingOf(runs: RunStore, found: RunInfo | UnreadableRun): Booking {
  if (!isReadable(found)) {
    const { run } = found;
    const file = runs.pathOf(run);
    return {
      run,
      what: `may have been applied by run ${run}, whose journal cannot be read`,
      verbs: [],
      file,
    };
  }
  const { header, undo } = found;
  const { run } = header;
  const isLeft = isUnfinished(found) && !undo;
  return {
    run,
    what: `was already applied by run ${run}${isLeft ? ', which is unfinished' : ''}${undo ? ', whose undo is not complete' : ''}`,
    verbs: isLeft ? ['resume', 'undo'] : ['undo'],
    file: undefined,
  };
}
