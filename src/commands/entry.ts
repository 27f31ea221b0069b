import type { OperationId } from '../api/operations.ts';
import type { Context } from '../context.ts';

/** A command as lists show it; what stands behind it is loaded only when the words name it. */
export interface Entry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, an imperative, without a full stop. */
  readonly summary: string;
  /** The operation that it is the face of: its stability and deprecation are shown in the help. */
  readonly operation?: OperationId;
  /** Of a noun: whole command lines, the most useful first. */
  readonly examples?: readonly string[];
  /** Of a noun: its verbs. */
  readonly verbs?: () => Promise<{ readonly entries: readonly Entry[] }>;
  /** Of a command that acts: what declares its arguments, flags and action. */
  readonly load?: () => Promise<{ readonly declare: (context: Context, entry: Entry) => object }>;
}
