import type { Client } from '../client/client.ts';
import type { Source } from '../input/source.ts';
import { messageOf } from '../process/errors.ts';
import { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { Journal, RunHeader } from './journal.ts';
import { Pace, PacedCall, type PaceOptions, type StopReason } from './pace.ts';
import type { RowInput } from './read.ts';
import type { JournalImage } from './read-journal.ts';
import { type InvalidRow, marks, type RowOutcome, Rows } from './rows.ts';
import { defaultFlags } from './run-flags.ts';

// How a file becomes a run: `read.ts` reads and checks it, row by row (`parse.ts`), into `rows.ts`. `make-plan.ts`
// compares the rows with the counts that `counts.ts` reads. `carry-out.ts` keeps the plan in a journal (`journal.ts`),
// `write-rows.ts` writes it at the pace of `pace.ts`, and `carry-out.ts` ends it with its rejects (`reject-rows.ts`) and
// its `summary.ts`. Later, `read-journal.ts` makes the same rows of the journal, and `which-run.ts` chooses what to
// resume or undo among the runs of `run-store.ts`. `target.ts` keeps other processes away, `deliveries.ts` knows what was
// booked before.

/** What a run is, before it has an id. */
type NewRun = Omit<RunHeader, 'journal' | 'run' | 'started'>;

/** What a run is made from: an input, a run that it undoes, or a run that it goes on with. */
export interface RunParts {
  readonly header: NewRun;
  readonly rows: Rows;
  readonly invalid: readonly InvalidRow[];
  /** The input, if there is one and it can be read: the rejects have its columns. */
  readonly source?: Source | undefined;
  /** The journal of the run, if this session resumes it. */
  readonly earlier?: JournalImage | undefined;
}

/** The run of an input. */
export function newRun(
  input: RowInput,
  { target, flags, guards }: Pick<NewRun, 'target' | 'flags' | 'guards'>,
): RunParts {
  const {
    source,
    rows,
    invalid,
    layout,
    sha256,
    delivery = null,
    rejectedBy,
    total,
    skipped,
    issues,
  } = input;
  return {
    ...{ source, rows, invalid },
    header: {
      kind: 'apply',
      name: source.name,
      file: source.path ?? null,
      format: layout === undefined || layout.kind === 'tsv' ? 'csv' : layout.kind,
      undoes: null,
      flags: { ...flags, delimiter: layout?.delimiter || flags.delimiter || null },
      ...{ target, sha256, delivery, rejectedBy, guards, rows: total, invalid: issues.invalid, skipped },
    },
  };
}

/**
 * The run that sets back what a run has written, or may have: each row expects the count that the run wrote. An entry
 * that the run created is removed.
 */
export function undoOf({ header: undone, rows: ran }: JournalImage): RunParts {
  const { journal: _, run, started: __, ...header } = undone;
  const rows = new Rows();
  for (const at of ran.where((row) => ran.mayHaveBeenWritten(row))) {
    const before = ran.before(at);
    if (before !== undefined) rows.add({ id: ran.id(at), after: before, expected: ran.after(at), line: 0 });
  }
  return {
    rows,
    invalid: [],
    header: {
      ...header,
      ...{ kind: 'undo', undoes: run, file: null, sha256: null, delivery: null, rejectedBy: [] },
      // It touches the pets of its run's shard.
      flags: { ...defaultFlags, shard: header.flags.shard },
      guards: { allowZero: true },
      ...{ rows: rows.length, invalid: 0, skipped: 0 },
    },
  };
}

interface RunOptions extends PaceOptions {
  readonly client: Client;
  /** The run stops when so many rows have failed or are unknown in this session. */
  readonly maxErrors: number;
  /** The status of a pet, for a new entry. @throws CliError, of the kind `not-found` if the pet does not exist. */
  readPetStatus(client: Client, petId: bigint): Promise<string>;
  /** Which later run wrote a pet, by row: such a pet is left alone. */
  readonly laterRuns: ReadonlyMap<number, string>;
}

/** One session of a run: what reading, planning, writing and reporting share. */
export class Run implements RunParts {
  readonly header: NewRun;
  readonly rows: Rows;
  readonly invalid: readonly InvalidRow[];
  readonly source: Source | undefined;
  readonly earlier: JournalImage | undefined;
  readonly options: RunOptions;
  /** Obeys the pace, and counts its requests. */
  readonly client: Client;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** Undefined until the plan is confirmed. */
  id: string | undefined;
  journal: Journal | undefined;
  /** How many entries were read while planning. */
  entriesRead = 0;
  /** Rows that this session has written, and how many of them failed or are unknown. */
  written = 0;
  writeErrors = 0;
  planningMs = 0;
  writingMs = 0;

  constructor({ header, rows, invalid, source, earlier }: RunParts, options: RunOptions) {
    this.header = header;
    this.rows = rows;
    this.invalid = invalid;
    this.source = source;
    this.earlier = earlier;
    this.options = options;
    this.pace = new Pace(options, this.stop);
    this.id = earlier?.header.run;
    const { client } = options;
    const paced = (given: object | undefined) =>
      given instanceof PacedCall ? given : Object.assign(new PacedCall(this.pace, this.stop), given);
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
  settle(row: number, { effect, reason }: RowOutcome): void {
    const isMaybe = effect === 'none' && reason && this.rows.isMarked(row, marks.perhaps);
    const outcome: RowOutcome = { effect: isMaybe ? 'maybe' : effect, reason };
    this.rows.settle(row, outcome);
    try {
      this.journal?.outcome(row, outcome);
    } catch (error) {
      // No row may be written if its outcome cannot be kept.
      this.stop.stop({ kind: 'partial', message: messageOf(error) });
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
}
