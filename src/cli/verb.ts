import type { OperationId } from '../api/operations.ts';
import type { Context } from '../context.ts';
import type { Argument, Flag, ValuesOf } from './flag.ts';

/** The name of a command, and how a list of commands shows it. */
export interface Named {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, an imperative, without a full stop. */
  readonly summary: string;
  /** The operation that it stands for: help shows its deprecation and stability. */
  readonly operation?: OperationId;
}

/** What a command that acts takes and does. */
export interface Action {
  /** More than the summary, if it needs it. */
  readonly description?: string;
  /** Whole command lines, the most useful first. */
  readonly examples: readonly string[];
  /** It changes records of the service, at once or after a plan: it takes --dry-run and --confirm. */
  readonly write?: true | 'planned';
  /** By the names that `run` gets them under, in the order of the command line. */
  readonly args?: Readonly<Record<string, Argument>>;
  readonly flags?: Readonly<Record<string, Flag>>;
  run(context: Context, given: Readonly<Record<string, unknown>>): Promise<void>;
}

export type Verb = Named & Action;

/** A command that only holds others. */
export interface Group {
  readonly examples: readonly string[];
  readonly verbs: readonly (Verb | (Named & Group))[];
  /** The verb that acts if no other is named. */
  readonly alone?: string;
  /** The names of the columns that its records are printed in, for completion. */
  columns?(): Promise<readonly string[]>;
}

/** A command of the first level: its code is loaded only if the words name it. */
export interface Entry extends Named {
  load(): Promise<Action | Group>;
}

type Definition<Base, Args extends Record<string, Argument>, Flags extends Record<string, Flag>> = Omit<
  Base,
  'args' | 'flags' | 'run'
> & {
  readonly args?: Args;
  readonly flags?: Flags;
  run(context: Context, given: ValuesOf<Args> & ValuesOf<Flags>): Promise<void>;
};

// biome-ignore lint/complexity/noBannedTypes: a verb without flags adds nothing to what `run` gets.
type None = {};

/** A verb as data; the types of what `run` gets follow from its arguments and flags. */
export function verb<Args extends Record<string, Argument> = None, Flags extends Record<string, Flag> = None>(
  definition: Definition<Verb, Args, Flags>,
): Verb {
  return definition as unknown as Verb;
}

/** A command of the first level that acts itself: its name stands in the list of commands. */
export function action<
  Args extends Record<string, Argument> = None,
  Flags extends Record<string, Flag> = None,
>(definition: Definition<Action, Args, Flags>): Action {
  return definition as unknown as Action;
}

export function isGroup(command: object): command is Group {
  return 'verbs' in command;
}
