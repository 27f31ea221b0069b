import type { OperationId } from '../api/operations.ts';
import type { Context } from '../context.ts';
import type { Argument, Flag, LookUpKind, ValuesOf } from './flag.ts';
import { globalFlags, writeFlags } from './global-flags.ts';
import type { Block } from './topics.ts';

/** The name of a command, and its summary in a list of commands. */
export interface CommandName {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, an imperative, without a full stop. */
  readonly summary: string;
  /** The operation that it calls. Help shows whether this is deprecated, beta or experimental. */
  readonly operation?: OperationId;
}

/** A command that acts: its arguments, its flags and its work. */
export interface Action {
  /** A longer description, if the summary does not suffice: a paragraph, or several blocks. */
  readonly description?: string | readonly [string, ...Block[]];
  /** Complete command lines, the most useful first. */
  readonly examples: readonly string[];
  /** Set if it changes records of the service, at once or after a plan: it takes --dry-run and --confirm. */
  readonly write?: true | 'planned';
  /**
   * What becomes of a wrong value in the environment or the config: by default it stops the command. A command that
   * repairs or shows settings warns of it or ignores it; one that needs no setting does not even open the config.
   */
  readonly wrongSettings?: 'warn' | 'ignore' | 'unread';
  /** Arguments by the names that `run` gets, in the order of the command line. */
  readonly args?: Readonly<Record<string, Argument>>;
  readonly flags?: Readonly<Record<string, Flag>>;
  run(context: Context, values: Readonly<Record<string, unknown>>): Promise<void>;
}

type Verb = CommandName & Action;

/** A command that only contains others. */
export interface Group {
  readonly examples: readonly string[];
  readonly verbs: readonly Command[];
  /** Flags that only the group itself takes. */
  readonly flags?: Readonly<Record<string, Flag>>;
  /** The verb that runs if none is named. */
  readonly alone?: Action;
  /** The columns in which its records are printed, for completion. */
  columns?(): Promise<readonly string[]>;
}

/** A command in a group; the code of a top-level command is loaded only if the words name it. */
type Command = Verb | (CommandName & Group) | (CommandName & { load(): Promise<Action | Group> });

/** The whole command line, as defined in `src/commands/index.ts`: the group of the top-level commands. */
export interface Program extends CommandName, Group {
  /** Looks up the possible values of one kind. */
  lookUp(kind: LookUpKind, context: Context, cursor: Cursor): Promise<readonly Offer[]>;
}

/** A word that completion offers, alone or with its description. */
export type Offer = string | { readonly word: string; readonly summary: string };

/** The command line before the word that is being completed. */
export interface Cursor {
  /** The group of the command. */
  readonly group: Group;
  /** Its arguments so far. */
  readonly operands: readonly string[];
  /** The word at the cursor, as far as it is typed. */
  readonly prefix: string;
}

export async function loadCommand(command: Command): Promise<Action | Group> {
  return 'load' in command ? command.load() : command;
}

/** A command, and where it is in the command line. */
export interface CommandPlace {
  /** The names from the first level on, without aliases: `['pets', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  /** Its name and summary in the list of the group that contains it. */
  readonly entry: CommandName;
  readonly command: Action | Group;
}

/** Lists every command below a group; a group comes before its own commands. */
export async function* commandsOf(group: Group, path: readonly string[] = []): AsyncGenerator<CommandPlace> {
  for (const entry of group.verbs) {
    const place = { path: [...path, entry.name], entry, command: await loadCommand(entry) };
    yield place;
    if (isGroup(place.command)) yield* commandsOf(place.command, place.path);
  }
}

type Definition<Base, Args extends Record<string, Argument>, Flags extends Record<string, Flag>> = Omit<
  Base,
  'args' | 'flags' | 'run'
> & {
  readonly args?: Args;
  readonly flags?: Flags;
  run(context: Context, values: ValuesOf<Args> & ValuesOf<Flags>): Promise<void>;
};

// biome-ignore lint/complexity/noBannedTypes: a verb without flags adds nothing to the parameter of `run`.
type None = {};

/** A verb as data; the parameter types of `run` follow from its arguments and flags. */
export function verb<Args extends Record<string, Argument> = None, Flags extends Record<string, Flag> = None>(
  definition: Definition<Verb, Args, Flags>,
): Verb {
  return definition;
}

/** A top-level command without verbs. Its name is in the list of commands. */
export function action<
  Args extends Record<string, Argument> = None,
  Flags extends Record<string, Flag> = None,
>(definition: Definition<Action, Args, Flags>): Action {
  return definition;
}

export function isGroup(command: object): command is Group {
  return 'verbs' in command;
}

/**
 * Returns every flag that a command takes, its own first. A group also takes the flags of writes if one of its verbs may
 * write.
 */
export function flagsOf(command: Action | Group): Record<string, Flag> {
  // A top-level command may write; loading it to find out would take too long.
  const mayWrite = (verb: Command) => 'load' in verb || ('write' in verb && verb.write);
  const hasWrites = isGroup(command) && command.verbs.some(mayWrite);
  return { ...commandFlags(command), ...globalFlags, ...(hasWrites && writeFlags) };
}

/** Returns the flags of this command without those that every command takes. */
export function commandFlags(command: Action | Group): Record<string, Flag> {
  if (isGroup(command)) return { ...command.flags };
  const preview = command.write === 'planned' ? 'show the plan and write nothing' : writeFlags.dryRun.summary;
  const ofWrites = command.write ? { ...writeFlags, dryRun: { ...writeFlags.dryRun, summary: preview } } : {};
  return { ...command.flags, ...ofWrites };
}

/** `petstore pets list`. */
export function commandName(path: readonly string[]): string {
  return ['petstore', ...path].join(' ');
}
