import { version } from '../../package.json';
import type { Context, GlobalFlags } from '../context.ts';
import { type AnyCommand, addCommands, Command, group, mergeFlags, withGlobalFlags } from './command.ts';
import { formatHelp } from './help.ts';

/** What commander wants to print: help and version for stdout, help after an error for stderr. */
export interface ProgramText {
  out: string;
  err: string;
}

/** What stands behind a first word, its module loaded only when that word is given. */
interface Entry {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** A noun: its verbs. */
  readonly verbs?: () => Promise<{ readonly commands: (context: Context) => readonly object[] }>;
  /** A command with no verbs. */
  readonly alone?: () => Promise<{ readonly declare: (context: Context) => object }>;
}

const entries: readonly Entry[] = [
  {
    name: 'pets',
    alias: 'pet',
    summary: 'List, get, create, update and delete pets',
    verbs: () => import('./pets/index.ts'),
  },
  {
    name: 'categories',
    alias: 'category',
    summary: 'List, get, create, update and delete categories',
    verbs: () => import('./categories/index.ts'),
  },
  {
    name: 'orders',
    alias: 'order',
    summary: 'List, get, create, update, complete and delete orders',
    verbs: () => import('./orders/index.ts'),
  },
  {
    name: 'inventory',
    summary: 'List, get, set and adjust stock counts, or apply a whole file of them',
    verbs: () => import('./inventory/index.ts'),
  },
  {
    name: 'api',
    summary: "List the operations, bind to a service's own description, send requests of your own",
    verbs: () => import('./api/index.ts'),
  },
  {
    name: 'serve',
    summary: 'Serve the pet store from memory, on this machine',
    alone: () => import('./serve/index.ts'),
  },
  {
    name: 'smoke',
    summary: 'Check a deployment',
    alone: () => import('./smoke/index.ts'),
  },
  {
    name: 'config',
    summary: 'Read and change the config; explain where settings come from',
    verbs: () => import('./config/index.ts'),
  },
  {
    name: 'profile',
    summary: 'List, create, use, show and delete profiles of services',
    verbs: () => import('./profile/index.ts'),
  },
  {
    name: 'doctor',
    summary: 'Check config, permissions and the way to the service',
    alone: () => import('./doctor/index.ts'),
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell, or install it',
    alone: () => import('./completion/index.ts'),
  },
  { name: 'help', summary: 'Show help for a command or a topic', alone: () => import('./help-command.ts') },
];

/** The command tree with all of it declared, for what looks at the tree itself: completions, the man page. */
export async function createWholeProgram(context: Context, text: ProgramText): Promise<AnyCommand> {
  const program = createRoot(context, text);
  for (const entry of entries) addCommands(program, [await declare(entry, context)]);
  return program;
}

/**
 * The command tree as far as these words need it: the command they name is declared in full, the others by name only.
 *
 * @param onAction told the flags of all levels before the command acts.
 */
export async function createProgram(
  context: Context,
  { words, text, onAction }: ProgramOptions,
): Promise<AnyCommand> {
  const program = createRoot(context, text);
  const [word] = operands(program, words);
  for (const entry of entries) {
    const isNamed = word !== undefined && (entry.name === word || entry.alias === word);
    addCommands(program, [isNamed ? await declare(entry, context) : outline(entry)]);
  }
  program.hook('preAction', (_, action) => onAction(mergeFlags(action as AnyCommand)));
  return program;
}

export interface ProgramOptions {
  /** The command line after `petstore`. */
  readonly words: readonly string[];
  readonly text: ProgramText;
  onAction(flags: GlobalFlags): void;
}

function createRoot(context: Context, text: ProgramText): AnyCommand {
  const program = withGlobalFlags(new Command('petstore')) as unknown as AnyCommand;
  return program
    .description('The command line of the pet store service')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ formatHelp })
    .configureOutput({
      writeOut: (chunk) => {
        text.out += chunk;
      },
      writeErr: (chunk) => {
        text.err += chunk;
      },
      outputError: () => {},
      getOutHelpWidth: () => context.io.stdout.columns ?? 100,
      getErrHelpWidth: () => context.io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

async function declare(entry: Entry, context: Context): Promise<object> {
  if (entry.alone) return (await entry.alone()).declare(context);
  const command = named(group(entry.name, entry.summary) as unknown as AnyCommand, entry);
  addCommands(command, (await entry.verbs?.())?.commands(context) ?? []);
  return command;
}

/** A command by name only, for the help of the program: it takes no flags. */
function outline(entry: Entry): AnyCommand {
  return named(new Command(entry.name).summary(entry.summary) as unknown as AnyCommand, entry);
}

function named(command: AnyCommand, { alias }: Entry): AnyCommand {
  return alias ? command.alias(alias) : command;
}

/** The words that name a noun and a verb, as far as they are known, and the word that should have and does not. */
export function namedCommand(program: AnyCommand, words: readonly string[]): NamedCommand {
  let command = program;
  for (const word of operands(program, words)) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
    if (!next) return { command, unknown: word };
    command = next;
  }
  return { command };
}

export interface NamedCommand {
  readonly command: AnyCommand;
  readonly unknown?: string;
}

/** The words that are neither a flag of the program nor the value of one, up to `--`. */
function operands(program: AnyCommand, words: readonly string[]): string[] {
  const withValue = program.options.filter((option) => option.required);
  const found: string[] = [];
  for (let at = 0; at < words.length && words[at] !== '--'; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) found.push(word);
    else if (withValue.some((option) => word === option.long || word === option.short)) at += 1;
  }
  return found;
}
