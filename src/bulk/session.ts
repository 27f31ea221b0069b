import type { PetStatus } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { monotonicMs } from '../process/deadline.ts';
import { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { JournalImage } from './journal-reader.ts';
import { Ledger } from './ledger.ts';
import { Pace, type PaceOptions, type StopReason } from './pace.ts';
import { pacedClient } from './paced-client.ts';
import type { RowInput } from './read.ts';
import type { Rows } from './rows.ts';
import type { Guards, RunFlags } from './run-flags.ts';
import type { RunIdentity } from './run-identity.ts';

/** What a session has to do: rows to be written, and how. */
export interface Job {
  readonly identity: RunIdentity;
  /** The input as the user named it; for an undo, the run that it undoes. */
  readonly name: string;
  /** The absolute path of the input; null for stdin and undo. */
  readonly file: string | null;
  readonly rows: Rows;
  /** The plan must pass all of them. */
  readonly guards: readonly Guards[];
  /** Rejected rows are read from it again; undefined for an undo. */
  readonly input: RowInput | undefined;
  /** How many entries that its run created an undo leaves, because the service cannot remove them. */
  readonly entriesLeft?: number;
  /** The id of the run: a new one, or the one that is resumed; undefined for a preview. */
  readonly run?: string;
  /** What the earlier sessions have left, if the job resumes a run. */
  readonly earlier?: JournalImage | undefined;
}

interface SessionOptions extends PaceOptions {
  readonly client: Client;
  /** The run stops when so many rows have newly failed. */
  readonly mostErrors: number;
  /** @throws CliError, of the kind `not-found` if the pet does not exist. */
  readPetStatus(client: Client, petId: bigint): Promise<PetStatus>;
}

/** One sitting of a run: its job, and what planning, writing, reading back and reporting share. */
export class Session {
  readonly job: Job;
  readonly rows: Rows;
  readonly flags: RunFlags;
  /** Obeys the pace, and counts its requests. */
  readonly client: Client;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  readonly ledger: Ledger;
  /** Statuses of pets without an entry, as the plan has read them. */
  readonly petStatuses = new Map<bigint, PetStatus>();
  /** How many entries were read while planning or reading back. */
  entriesRead = 0;
  /** How many rows were written; they have an outcome. */
  written = 0;
  /** How many rows were read back; undefined without `--verify`. */
  verified: number | undefined;
  readonly spentMs = { planning: 0, writing: 0, verifying: 0 };
  readonly readPetStatus: (petId: bigint) => Promise<PetStatus>;
  private readonly mostErrors: number;

  constructor(job: Job, options: SessionOptions) {
    this.job = job;
    this.rows = job.rows;
    this.flags = job.identity.flags;
    this.mostErrors = options.mostErrors;
    this.pace = new Pace(options, this.stop);
    const client = pacedClient(options.client, this);
    this.client = client;
    this.readPetStatus = (petId) => options.readPetStatus(client, petId);
    this.ledger = new Ledger(job.rows, this.stop);
    // Only those whose failure stands are still failed.
    for (const row of job.rows.inState('failed'))
      this.ledger.restore(row, { ...job.earlier?.failures.get(row), state: 'failed' });
  }

  /** Stops the run, unless it has stopped, if so many rows have failed that it must not go on. */
  stopIfTooManyFailed(): void {
    const { newErrorCount, unknownCount } = this.ledger;
    if (newErrorCount < this.mostErrors || this.stop.reason) return;
    const be = newErrorCount === 1 ? 'is' : 'are';
    const deed = unknownCount > 0 ? `failed or ${be} unknown` : 'failed';
    const message = `${counted(newErrorCount, 'row', 'rows')} ${deed}, as many as --max-errors allows`;
    this.stop.stop({ kind: 'partial', message });
  }

  /** Does a part of the work, and adds its time to that of the part. */
  async time<Value>(part: keyof Session['spentMs'], work: () => Promise<Value>): Promise<Value> {
    const started = monotonicMs();
    try {
      return await work();
    } finally {
      this.spentMs[part] += monotonicMs() - started;
    }
  }
}

/**
 * Prepares the rows of a journal for the next session. All are planned again, except: in a blind run the applied ones,
 * because there is nothing to compare; in a relative run those that were applied, because they are booked, and those
 * that failed, because they are in its rejects.
 */
export function reopenRows({ rows, header, ending }: JournalImage): void {
  const { blind, relative } = header.flags;
  for (let row = 0; row < rows.length; row += 1) {
    const state = rows.state(row);
    rows.keepState(row);
    const stands =
      state === 'invalid' ||
      state === 'skipped' ||
      ((blind || relative) && state === 'applied') ||
      (relative && state === 'failed') ||
      // A finished run with unknown rows is resumed with those only.
      (ending?.ended === 'finished' && state === 'unchanged');
    if (!stands) rows.setState(row, 'unprocessed');
  }
}
