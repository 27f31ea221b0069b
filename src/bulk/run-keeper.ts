import { RunJournal } from './journal.ts';
import type { JournalHeader } from './journal-lines.ts';
import { JournalWriter } from './journal-writer.ts';
import type { Plan } from './plan.ts';
import type { Replay } from './replay.ts';
import { restoreFailures } from './resumption.ts';
import type { RunStore } from './run-store.ts';
import type { Session } from './session.ts';

/** What is kept of a run: the journal that this session writes. */
export interface Keeper {
  readonly run: string;
  readonly journal: RunJournal;
  /** Keeps the plan, unless an earlier session has. */
  begin(plan: Plan): void;
  /** Ends a session that wrote nothing; a run that is new leaves no trace. */
  leave(): Promise<void>;
  /** Ends the session, once: `finished` where no row is unprocessed, else `stopped`. */
  end(): Promise<void>;
}

interface NewRun {
  readonly header: Omit<JournalHeader, 'run' | 'journal'>;
  readonly now: () => Date;
}

/** Starts the journal of a new run. */
export async function keepNewRun(runs: RunStore, session: Session, { header, now }: NewRun): Promise<Keeper> {
  const { run, writer } = await runs.create(header);
  const journal = new RunJournal(writer, session.ledger.rows, { now });
  session.keepJournal(journal);
  return keeperOf(session, {
    run,
    journal,
    begin: (plan) => journal.planned(plan),
    leave: () => journal.discard(),
  });
}

interface EarlierRun {
  readonly run: string;
  readonly replay: Replay;
  /** Whether this session plans anew. */
  readonly mustPlan: boolean;
  readonly now: () => Date;
}

/** Goes on with the journal of a run that has not finished. */
export async function keepEarlierRun(runs: RunStore, session: Session, earlier: EarlierRun): Promise<Keeper> {
  const { run, replay, mustPlan, now } = earlier;
  const path = runs.pathOf(run);
  await restoreFailures(session.ledger, replay, path);
  const writer = JournalWriter.reopen(path);
  const journal = new RunJournal(writer, session.ledger.rows, { replay, now });
  session.keepJournal(journal);
  return keeperOf(session, {
    run,
    journal,
    begin: (plan) => mustPlan && journal.planned(plan),
    leave: () => journal.close(),
  });
}

function keeperOf(
  { ledger: { rows } }: Session,
  keeper: Pick<Keeper, 'run' | 'journal'> & { begin(plan: Plan): unknown; leave(): Promise<void> },
): Keeper {
  const isOpen = () => !rows.inState('unprocessed').next().done;
  let isClosed = false;
  const once = async (close: () => Promise<void>) => {
    if (isClosed) return;
    isClosed = true;
    await close();
  };
  return {
    run: keeper.run,
    journal: keeper.journal,
    begin: (plan) => void keeper.begin(plan),
    leave: () => once(() => keeper.leave()),
    end: () => once(() => keeper.journal.end(isOpen() ? 'stopped' : 'finished')),
  };
}
