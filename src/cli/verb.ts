import type { Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { OutputFormat } from '../output/formats.ts';
import type { Output } from '../output/printer.ts';
import {
  type Argument,
  type Flag,
  type GlobalFlags,
  globalFlags,
  type ValuesOf,
  writeFlags,
} from './flag.ts';

/** The name of a command and its line in a list. */
interface CommandEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, an imperative, without a full stop. */
  readonly summary: string;
}

/** A part of a description: a paragraph, or a list of terms with their meanings. */
export type Block = string | { readonly items: readonly (readonly [term: string, meaning: string])[] };

/** A command that does something: its arguments, its flags and its work. */
export type Action = ActionDetails & Work<Values>;

interface ActionDetails {
  /** The description in help, if the summary is too short. */
  readonly description?: string | readonly [string, ...Block[]];
  /** Complete command lines, the most useful first. */
  readonly examples: readonly string[];
  /** Set if the command changes records of the service, or sends any request. It then takes --dry-run and --confirm. */
  readonly writes?: 'records' | 'any-request';
  /**
   * How the command treats a wrong value in the environment or the config. By default the value stops the command. Commands that
   * repair or show settings warn about it or ignore it. `unread`: the command needs no settings, and the config is not read.
   */
  readonly wrongSettings?: 'warn' | 'ignore' | 'unread';
  /** The format without `--output`. By default the settings choose it. */
  readonly defaultFormat?: OutputFormat;
  /** The formats that the command prints. By default all of them. */
  readonly formats?: readonly OutputFormat[];
  /** The arguments by their names in `values`, in the order of the command line. */
  readonly args?: Readonly<Record<string, Argument>>;
  readonly flags?: Readonly<Record<string, Flag>>;
}

/** What a command prints and does. */
interface Work<CommandValues> {
  /**
   * Returns the columns of the records that the command prints, if it prints records. It sends no request and changes nothing:
   * `--fields` and `--sort` are checked before `run` begins, and `--fields help` and completion need nothing else.
   */
  view?(context: Context, values: CommandValues): View<object> | undefined | Promise<View<object>>;
  /** Does the work, and returns what to print. */
  run(context: Context, values: CommandValues): Promise<Output>;
}

/** The values of flags and arguments, by their keys. */
type Values = Readonly<Record<string, unknown>>;

/** A command that contains other commands. */
export interface Group {
  readonly examples: readonly string[];
  readonly verbs: readonly (Command | Unloaded)[];
  /** The flags of a line without a verb, such as `petstore --version`. By default those of `defaultAction`. */
  readonly flags?: Readonly<Record<string, Flag>>;
  /** The command that runs if the line has no verb. */
  readonly defaultAction?: Action;
}

export type Command = CommandEntry & (Action | Group);

/** A top-level command. Its code is loaded when it is used. */
type Unloaded = CommandEntry & { load(): Promise<Action | Group> };

/** The group of the top-level commands: see `src/commands/index.ts`. */
export interface Program extends CommandEntry, Group {
  /** Prints the possible completions of the last word. */
  complete(context: Context, line: ParsedLine, words: readonly string[]): Promise<void>;
}

/** A command line that has been read. */
export interface ParsedLine {
  /** The names from the first level on, without aliases: `['pets', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly command: Command;
  readonly flags: GlobalFlags;
  /** The values of the flags and arguments by their keys. A wrong value is replaced by its error. */
  readonly values: Values;
  /** What is wrong with the line. The other members then hold what was read before it, for help and for completion. */
  readonly problem: LineProblem | undefined;
}

/** What is wrong with the flags and arguments of a line. */
export type LineProblem =
  | { readonly kind: 'wrong-word'; readonly message: string; readonly hint?: string | undefined }
  | { readonly kind: 'unknown-flag'; readonly name: string };

export async function loadCommand(command: Command | Unloaded): Promise<Command> {
  return 'load' in command ? { ...command, ...(await command.load()) } : command;
}

type Definition<Args extends Record<string, Argument>, Flags extends Record<string, Flag>> = Omit<
  ActionDetails,
  'args' | 'flags'
> & { readonly args?: Args; readonly flags?: Flags } & Work<ValuesOf<Args> & ValuesOf<Flags>>;

/** Defines a command. The types of its values follow from its arguments and flags. */
type Define<Entry> = <
  Args extends Record<string, Argument> = None,
  Flags extends Record<string, Flag> = None,
>(
  definition: Entry & Definition<Args, Flags>,
) => Entry & Action;

// biome-ignore lint/complexity/noBannedTypes: a verb without flags adds nothing to its values.
type None = {};

/** Defines a verb. */
export const verb: Define<CommandEntry> = (definition) => definition as CommandEntry & Action;

/** Defines a top-level command without verbs. Its name is in `src/commands/index.ts`. */
export const action: Define<unknown> = (definition) => definition as Action;

/** Returns the action of a command. For a group that is the action without a verb. */
export function actionOf(command: Action | Group): Action | undefined {
  return isGroup(command) ? command.defaultAction : command;
}

export function isGroup(command: object): command is Group {
  return 'verbs' in command;
}

/** Returns all flags of a command, its own flags first. A group also takes the write flags if one of its verbs may write. */
export function flagsOf(command: Action | Group): Record<string, Flag> {
  // A top-level command counts as one that may write, because loading it to find out would take too long.
  const mayWrite = (verb: Command | Unloaded) => 'load' in verb || 'writes' in verb;
  const hasWrites = isGroup(command) && command.verbs.some(mayWrite);
  return { ...commandFlags(command), ...globalFlags, ...(hasWrites && writeFlags) };
}

/** Returns the flags of a command without those that every command takes. */
export function commandFlags(command: Action | Group): Record<string, Flag> {
  if (isGroup(command)) return { ...(command.flags ?? command.defaultAction?.flags) };
  return { ...command.flags, ...(command.writes && writeFlags) };
}

/** Returns the full name of a command: `petstore pets list`. */
export function commandName(path: readonly string[]): string {
  return ['petstore', ...path].join(' ');
}
