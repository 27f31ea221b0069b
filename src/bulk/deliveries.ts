import type { RunHeader } from './journal.ts';
import { areDisjoint } from './run-flags.ts';
import { isUnfinished, numberOf, type RunInfo, type RunStore } from './run-store.ts';

// A delivery is the input of a relative run. It is booked once, because adding it twice would be wrong.

/** How long a delivery that was booked is recognised. */
const bookedForMs = 7 * 24 * 3_600_000;

/** A run that booked a delivery, or may have. */
interface Booking {
  readonly run: string;
  /** What is known of it, a clause. */
  readonly what: string;
  /** Verbs of `inventory` that go on with it. */
  readonly verbs: readonly ('undo' | 'resume')[];
  /** The file to look at if its journal cannot be read. */
  readonly file: string | undefined;
}

/**
 * The run that has booked rows of this delivery on the same target, and is not undone; undefined if none has. The rows
 * that a run rejected belong to its delivery: they are not booked once with their file and once with the whole.
 */
export async function findBooking(store: RunStore, asked: Asked): Promise<Booking | undefined> {
  if (asked.delivery === null) return undefined;
  const { runs, unreadable } = await store.all();
  const headers = runs.map(({ header }) => header);
  const rejecters = rejectersOf(asked, headers);
  const isSame = (header: RunHeader) =>
    header.target === asked.target &&
    (overlap(header, asked) ||
      rejectersOf(header, headers).some((origin) => overlap(origin, asked)) ||
      (!rejecters.includes(header) && rejecters.some((origin) => overlap(origin, header))));
  const lost = unreadable.find(({ header }) => !header || isSame(header));
  if (lost) {
    const what = `may have been applied by run ${lost.run}, whose journal cannot be read`;
    return { run: lost.run, what, verbs: [], file: store.pathOf(lost.run) };
  }
  const found = runs.find((run) => isSame(run.header) && isBooked(run));
  return found && bookingOf(found);
}

/** A run, or an input that is to become one. */
type Asked = Pick<RunHeader, 'delivery' | 'target' | 'flags' | 'rejectedBy'> & { readonly run?: string };

function overlap(
  one: Pick<RunHeader, 'delivery' | 'flags'>,
  other: Pick<RunHeader, 'delivery' | 'flags'>,
): boolean {
  return (
    one.delivery !== null &&
    one.delivery === other.delivery &&
    !areDisjoint(one.flags.shard, other.flags.shard)
  );
}

/** The runs that rejected the rows of an input, and those that rejected the rows of their inputs. */
function rejectersOf({ rejectedBy, target, run }: Asked, headers: readonly RunHeader[]): RunHeader[] {
  return headers
    .filter((header) => header.target === target && rejectedBy.includes(header.run))
    .filter((header) => run === undefined || numberOf(header.run) < numberOf(run))
    .flatMap((header) => [header, ...rejectersOf(header, headers)]);
}

function isBooked(run: RunInfo): boolean {
  const { state, counts, left, lastAt } = run;
  if (state === 'undone') return false;
  if (state === 'running') return true;
  const isRecent = isUnfinished(run) || Date.now() - lastAt <= bookedForMs;
  return isRecent && counts.applied + counts.unknown + left > 0;
}

function bookingOf(found: RunInfo): Booking {
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
