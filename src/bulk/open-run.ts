import type { Client } from '../client/client.ts';
import type { Source } from '../input/source.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import { Failures } from './failures.ts';
import { countLeft, countRows, type Journal, type JournalImage, type RunHeader } from './journal.ts';
import { Pace, type PaceOptions, type StopReason } from './pace.ts';
import { PacedCall } from './paced-call.ts';
import { marks, type RowOutcome, type Rows, stateOf } from './rows.ts';

/** What a run is, before it has an id. */
export type NewRun = Omit<RunHeader, 'journal' | 'run' | 'started'>;

interface RunOptions extends PaceOptions {
  readonly client: Client;
  /** The run stops when so many rows have failed or are unknown in this session. */
  readonly maxErrors: number;
  /** The status of a pet, for a new entry. @throws CliError, of the kind `not-found` if the pet does not exist. */
  readPetStatus(client: Client, petId: bigint): Promise<string>;
}

/** What a run is made from. */
export interface RunParts {
  readonly header: NewRun;
  /** Indexed. */
  readonly rows: Rows;
  /** The input, if there is one and it can be read: the rejects have its columns. */
  readonly source?: Source | undefined;
  /** The journal of the run, if this session resumes it. */
  readonly earlier?: JournalImage | undefined;
  /** Which later run wrote a pet, by row: such a pet is left alone. */
  readonly laterRuns?: ReadonlyMap<number, string> | undefined;
}

/** One session of a run: what reading, planning, writing and reporting share. */
export class Run {
  readonly header: NewRun;
  readonly rows: Rows;
  readonly source: Source | undefined;
  readonly earlier: JournalImage | undefined;
  readonly laterRuns: ReadonlyMap<number, string>;
  readonly options: RunOptions;
  /** Obeys the pace, and counts its requests. */
  readonly client: Client;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  readonly failures: Failures;
  /** ETags that the plan saw, by row. */
  readonly etags = new Map<number, string>();
  /** Undefined until the plan is confirmed. */
  id: string | undefined;
  journal: Journal | undefined;
  /** How many entries were read while planning. */
  entriesRead = 0;
  /** Rows that this session has written, and how many of them failed or are unknown. */
  written = 0;
  writeErrors = 0;
  readonly spentMs = { planning: 0, writing: 0 };

  constructor({ header, rows, source, earlier, laterRuns = new Map() }: RunParts, options: RunOptions) {
    this.header = header;
    this.rows = rows;
    this.source = source;
    this.earlier = earlier;
    this.laterRuns = laterRuns;
    this.options = options;
    this.pace = new Pace(options, this.stop);
    this.failures = new Failures(rows, earlier?.reasons);
    this.id = earlier?.header.run;
    const { client } = options;
    const call = () => new PacedCall(this.pace, this.stop);
    const paced = (given: object | undefined) =>
      given instanceof PacedCall ? given : Object.assign(call(), given);
    this.client = {
      ...client,
      call: (id, input, given) => client.call(id, input, paced(given)),
      list: (id, query, given) => client.list(id, query, paced(given)),
    };
  }

  /**
   * Settles a row: the only way for a row to get its outcome. A row of which an earlier attempt may have been applied is
   * never failed.
   */
  settle(row: number, outcome: RowOutcome): void {
    const { rows } = this;
    const isMaybe = outcome.effect === 'none' && outcome.reason && rows.isMarked(row, marks.perhaps);
    const settled: RowOutcome = isMaybe ? { effect: 'maybe', reason: outcome.reason } : outcome;
    rows.setState(row, stateOf(settled));
    rows.mark(row, marks.perhaps, settled.effect === 'maybe');
    rows.mark(row, marks.passes, settled.reason?.passes === true);
    this.failures.set(row, settled.reason);
    try {
      this.journal?.outcome(row, settled);
    } catch (error) {
      this.stopWithoutJournal(error);
    }
  }

  /** Counts a row that this session has written, and stops the run if too many have gone wrong. */
  countWritten(row: number): void {
    const { rows, options, stop } = this;
    this.written += 1;
    if (!rows.isState(row, 'failed') && !rows.isState(row, 'unknown')) return;
    this.writeErrors += 1;
    if (this.writeErrors < options.maxErrors || stop.reason) return;
    const what = counted(this.writeErrors, 'row has failed or is unknown', 'rows have failed or are unknown');
    stop.stop({ kind: 'partial', message: `${what}, as many as --max-errors allows` });
  }

  /** How many rows there are in each state, of the whole run. */
  counts() {
    return countRows(this);
  }

  /** How many rows `resume` would take. */
  left(): number {
    return countLeft(this.rows);
  }

  /** Does a part of the work, and adds its time to that of the part. */
  async time<Value>(part: keyof Run['spentMs'], work: () => Promise<Value>): Promise<Value> {
    const started = monotonicMs();
    try {
      return await work();
    } finally {
      this.spentMs[part] += monotonicMs() - started;
    }
  }

  /** No row may be written if its outcome cannot be kept. */
  private stopWithoutJournal(error: unknown): void {
    this.stop.stop({ kind: 'partial', message: messageOf(error) });
  }
}
