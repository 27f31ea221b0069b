import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { Pace, type PaceFlags, type StopReason } from '../client/pace.ts';
import type { Issue } from '../input/issues.ts';
import { type InputRow, isTable, type RowLayout } from '../input/read-rows.ts';
import type { Source } from '../input/source.ts';
import { Stop } from '../process/signals.ts';
import type { Outcome, Row, Value } from './decide.ts';
import type { RunHeader } from './journal.ts';
import type { JournalImage } from './read-journal.ts';
import type { Guards } from './run-flags.ts';
import { createNoun, type RunNoun } from './run-nouns.ts';

/** What a run is, before it has an id. */
export type NewRun = Omit<RunHeader, 'journal' | 'run' | 'started'>;

/** What a run is made from: an input, a run that it undoes, or a run that it goes on with. */
export interface RunParts {
  readonly header: NewRun;
  readonly rows: readonly Row[];
  readonly invalid: readonly Issue[];
  /** The input, if there is one and it can be read: the rejects have its columns. */
  readonly again?: { readonly source: Source; readonly layout: RowLayout<InputRow> } | undefined;
  /** The journal of the run, if this session goes on with it. */
  readonly earlier?: JournalImage | undefined;
  /** The outcomes of rows that must not be written because of another run. */
  readonly barred?: ReadonlyMap<bigint, Outcome> | undefined;
  /** What the first later plan of another run read, by the row of the plan before it. */
  readonly laterReadings?: Map<Row, Value> | undefined;
}

export interface RunOptions {
  readonly client: Client;
  readonly pace: PaceFlags;
  readonly guards: Guards;
  /** Most further attempts of a row. */
  readonly retries: number;
}

/** What planning, writing and reporting of one session share. */
export class Run implements RunParts {
  readonly header: NewRun;
  readonly rows: readonly Row[];
  readonly invalid: readonly Issue[];
  readonly again: RunParts['again'];
  readonly earlier: JournalImage | undefined;
  readonly barred: ReadonlyMap<bigint, Outcome>;
  readonly laterReadings: Map<Row, Value>;
  readonly noun: RunNoun;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** The options of every call of this run. */
  readonly options: CallOptions;
  readonly retries: number;
  /** The strong tags that the plan has read. */
  readonly etags = new Map<Row, string>();
  /** False once a tag has turned out not to be reliable. */
  sendsTags = true;
  /** For the live line: the records that were read, and the rows that were written in this session. */
  readonly progress = { read: 0, written: 0, failed: 0 };
  transportFailures = 0;
  /** Further attempts of rows. */
  retried = 0;
  planningMs = 0;
  writingMs = 0;
  /** Undefined until the plan is confirmed. */
  id: string | undefined;

  constructor(parts: RunParts, { client, pace, guards, retries }: RunOptions) {
    const { header, rows, invalid, again, earlier, barred = new Map(), laterReadings = new Map() } = parts;
    this.header = { ...header, pace, guards };
    this.rows = rows;
    this.invalid = invalid;
    this.again = again;
    this.earlier = earlier;
    this.barred = barred;
    this.laterReadings = laterReadings;
    this.noun = createNoun(client, header.noun, isTable(header.format));
    this.pace = new Pace(pace, this.stop);
    this.options = { pace: this.pace };
    this.retries = retries;
    this.id = earlier?.header.run;
  }
}
