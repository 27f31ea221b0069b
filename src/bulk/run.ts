import type { PetStatus } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { messageOf } from '../errors.ts';
import { Stop } from '../interrupts.ts';
import type { IdIndex } from './id-index.ts';
import { Ledger, type OutcomeListener } from './ledger.ts';
import { Pace, type PaceOptions, pacedClient, type StopReason } from './pace.ts';
import type { Rows } from './rows.ts';

interface RowJournal extends OutcomeListener {
  starting(row: number): void;
}

interface RowEvents extends OutcomeListener {
  /** Resolves when a slow reader has caught up; undefined if there is nothing to wait for. */
  ready(): Promise<void> | undefined;
}

interface RunOptions extends PaceOptions {
  readonly client: Client;
  readonly rows: Rows;
  readonly index: IdIndex;
  readonly blind: boolean;
  readonly relative: boolean;
  readonly createMissing: boolean;
  /** @throws CliError, of the kind `not-found` if the pet does not exist. */
  readPetStatus(client: Client, petId: bigint): Promise<PetStatus>;
}

/** One session of a run: the state that planning, writing and reading back share. */
export interface Run extends Omit<RunOptions, keyof PaceOptions | 'readPetStatus'> {
  /** The client for reads outside the rows; it obeys the pace, and its requests are counted. */
  readonly pacedClient: Client;
  readonly ledger: Ledger;
  readonly pace: Pace;
  readonly stop: Stop<StopReason>;
  /** Statuses of pets without an entry, as read by the plan. */
  readonly petStatuses: Map<bigint, PetStatus>;
  /** The number of entries read while planning or reading back. */
  entriesRead: number;
  /** The journal of the session; undefined until it has a plan. */
  journal: RowJournal | undefined;
  events: RowEvents | undefined;
  readPetStatus(petId: bigint): Promise<PetStatus>;
  /** Records the row in the journal before it is sent. */
  starting(row: number): void;
}

export function createRun(options: RunOptions): Run {
  const { client, rows, index, blind, relative, createMissing } = options;
  const stop = new Stop<StopReason>();
  const pace = new Pace(options, stop);
  const paced = pacedClient(client, { pace, stop });
  const ledger = new Ledger(rows);
  let isJournalLost = false;
  /** If the journal cannot be written, the run stops, because no row may be sent without being recorded. */
  const keep = (write: () => void) => {
    if (isJournalLost) return;
    try {
      write();
    } catch (error) {
      isJournalLost = true;
      stop.stop({ kind: 'partial', message: messageOf(error) });
    }
  };
  const run: Run = {
    ...{ client, rows, index, blind, relative, createMissing, pacedClient: paced, ledger, pace, stop },
    petStatuses: new Map(),
    entriesRead: 0,
    journal: undefined,
    events: undefined,
    readPetStatus: (petId) => options.readPetStatus(paced, petId),
    starting: (row) => keep(() => run.journal?.starting(row)),
  };
  ledger.tell({
    settled(row, outcome) {
      const { journal, events } = run;
      if (journal) keep(() => journal.settled(row, outcome));
      events?.settled(row, outcome);
    },
  });
  return run;
}
