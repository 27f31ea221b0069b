import type { Context } from '../context.ts';
import type { Found } from './find.ts';
import type { LookUpKind } from './flag.ts';
import type { Group, Named } from './verb.ts';

/** Help topics: pages that belong to no single command, by the words after `petstore help`. */
export const topicNames = [
  'flags',
  'environment',
  'exit-codes',
  'formats',
  'records',
  'bulk',
  'checks',
  'ci',
] as const;
export type TopicName = (typeof topicNames)[number];

/** A word that completion offers, and its description. */
export interface Offer {
  readonly word: string;
  readonly summary?: string | undefined;
}

/** The whole command line, as defined in `src/commands/index.ts`: the group of the top-level commands. */
export interface Program extends Named, Group {
  /**
   * Looks up the possible values of one kind.
   *
   * @param found the command, with the words that were typed for it so far.
   */
  lookUp(kind: LookUpKind, context: Context, found: Found): Promise<readonly Offer[]>;
}
