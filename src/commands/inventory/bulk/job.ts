import type { IdIndex } from '../../../bulk/id-index.ts';
import type { JournalImage } from '../../../bulk/journal.ts';
import type { Guards } from '../../../bulk/plan.ts';
import type { RowInput } from '../../../bulk/read.ts';
import type { Rows } from '../../../bulk/rows.ts';
import type { RunIdentity } from '../../../bulk/runs.ts';

/** Rows to be written, and everything that one session of a run needs to know about them. */
export interface Job {
  readonly identity: RunIdentity;
  /** The activity in the progress line, such as `applying`. */
  readonly verb: string;
  /** The input as the user named it; for an undo, the run that it takes back. */
  readonly name: string;
  readonly file: string | null;
  readonly rows: Rows;
  readonly index: IdIndex;
  /** The plan must pass all of them. */
  readonly guards: readonly Guards[];
  /** Rejected rows are read from it again. */
  readonly input: RowInput | undefined;
  /** The id of the run: a new one, or the one that is resumed. */
  readonly run?: string;
  /** The results of earlier sessions, if the job resumes a run. */
  readonly earlier?: Earlier | undefined;
  /** Called when all rows have been processed, with the run if it was kept. */
  finished?(run: string | undefined, isPartial: boolean): Promise<void>;
}

export interface Earlier {
  readonly image: JournalImage;
  /** Rows whose failure stands. */
  readonly failed: readonly number[];
}
