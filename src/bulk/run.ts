import type { PetStatus } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { messageOf } from '../errors.ts';
import type { IdIndex } from './id-index.ts';
import { Ledger, type OutcomeListener } from './ledger.ts';
import { Pace, type PaceOptions, pacedClient, Stop } from './pace.ts';
import type { Rows } from './rows.ts';

interface RowJournal extends OutcomeListener {
  starting(row: number): void;
}

interface RowEvents extends OutcomeListener {
  /** Resolves when a slow reader has caught up; undefined if none needs to. */
  ready(): Promise<void> | undefined;
}

interface RunOptions extends PaceOptions {
  readonly client: Client;
  readonly rows: Rows;
  readonly index: IdIndex;
  readonly blind: boolean;
  readonly relative: boolean;
  readonly createMissing: boolean;
  /** @throws CliError, of the kind `not-found` if there is no such pet. */
  readPetStatus(client: Client, petId: bigint): Promise<PetStatus>;
}

/** One session of a run: everything that planning, writing and reading back work with. */
export interface Run extends Omit<RunOptions, keyof PaceOptions | 'readPetStatus'> {
  /** Keeps to the pace; what is read beside the rows is counted. */
  readonly pacedClient: Client;
  readonly ledger: Ledger;
  readonly pace: Pace;
  readonly stop: Stop;
  /** Statuses of pets without an entry, as the plan read them. */
  readonly petStatuses: Map<bigint, PetStatus>;
  /** Entries that were looked at while planning or reading back. */
  entriesRead: number;
  /** Where the session is kept; undefined until it has a plan. */
  journal: RowJournal | undefined;
  events: RowEvents | undefined;
  readPetStatus(petId: bigint): Promise<PetStatus>;
  /** Hands the row to the journal before it is sent. */
  starting(row: number): void;
}

export function createRun(options: RunOptions): Run {
  const { client, rows, index, blind, relative, createMissing } = options;
  const stop = new Stop();
  const pace = new Pace(options, stop);
  const paced = pacedClient(client, { pace, stop });
  const ledger = new Ledger(rows);
  let isJournalLost = false;
  /** If the journal is lost, no row may be sent any more of which nobody would know. */
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
