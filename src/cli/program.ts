import type { Context } from '../context.ts';
import type { Found } from './find.ts';
import type { OfferKind } from './flag.ts';
import { type GlobalFlags, globalFlags } from './global-flags.ts';
import type { Entry, Group, Named } from './verb.ts';
import type { GivenFlag } from './words.ts';

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

/** The whole command line, as defined in `src/commands/index.ts`. */
export interface Program {
  readonly entries: readonly Entry[];
  /** Help topics, which belong to no single command. */
  readonly topics: readonly string[];
  /**
   * Looks up the possible values of one kind.
   *
   * @param found the command, with the words that were typed for it so far.
   */
  lookUp(kind: OfferKind, context: Context, found: Found): Promise<readonly Offer[]>;
}

/** The program itself as a command. */
export const root: Named & Group = {
  name: 'petstore',
  summary: 'The command line of the pet store service',
  examples: [
    'petstore --offline pets list',
    'petstore profile create shop --base-url https://petstore.example.com',
    'petstore pets list --status available -o json',
    'petstore inventory apply stock.csv',
  ],
  verbs: [],
};

/**
 * The global flags among the given ones. They decide the format and the colours of errors, and the service for
 * completion.
 */
export function firstFlags(given: readonly GivenFlag[]): GlobalFlags {
  const keys = ['output', 'color', 'quiet', 'profile', 'baseUrl', 'offline'] as const;
  const entries = keys.flatMap((key) => {
    const last = given.findLast(({ flag }) => flag === globalFlags[key] || flag.stands?.key === key);
    return last ? [[key, last.flag.stands?.value ?? last.value ?? true]] : [];
  });
  return Object.fromEntries(entries);
}
