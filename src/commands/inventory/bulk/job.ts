import type { Guards } from '../../../bulk/guards.ts';
import type { IdIndex } from '../../../bulk/id-index.ts';
import type { WriteOptions } from '../../../bulk/journal-lines.ts';
import type { RejectedInput } from '../../../bulk/rejects.ts';
import type { Replay } from '../../../bulk/replay.ts';
import type { Rows } from '../../../bulk/rows.ts';
import type { RunIdentity } from '../../../bulk/run-store.ts';
import type { RunFlags } from './flags.ts';

/** Rows to be written, and all that a run needs to know of them. */
export interface BulkJob {
  readonly identity: RunIdentity;
  /** What progress says of it, as `applying`. */
  readonly verb: string;
  /** The input as it was named; for an undo, the run that it takes back. */
  readonly name: string;
  readonly file: string | null;
  readonly rows: Rows;
  readonly index: IdIndex;
  readonly write: WriteOptions;
  readonly guards: Guards | undefined;
  /** Where rejected rows are read from again. */
  readonly input: RejectedInput | undefined;
  /** The run that the job goes on with. */
  readonly earlier: Earlier | undefined;
  /** Called with the run when no row is left to be processed; undefined for a run that left no trace. */
  finished?(run: string | undefined): Promise<void>;
}

export interface Earlier {
  readonly run: string;
  readonly replay: Replay;
  /** Whether the counts must be read again before it goes on. */
  readonly mustPlan: boolean;
}

/** A job, and how it is to be done. */
export interface BulkRun {
  readonly job: BulkJob;
  readonly flags: RunFlags;
}
