import { version } from '../../package.json';
import type { Context, GlobalFlags } from '../context.ts';
import {
  type AnyCommand,
  addCommands,
  Command,
  group,
  mergeFlags,
  outline,
  withGlobalFlags,
} from './command.ts';
import type { Entry } from './entry.ts';
import { helpColumns } from './help/columns.ts';
import { formatHelp, styleTitle } from './help/format-help.ts';

/** What commander wants to print: help and version for stdout, help after an error for stderr. */
export interface ProgramText {
  out: string;
  err: string;
}

const entries: readonly Entry[] = [
  {
    name: 'pets',
    aliases: ['pet'],
    summary: 'List, get, create, update and delete pets',
    examples: [
      'petstore pets list --status available',
      'petstore pets create --name Rex --category Dogs',
      'petstore pets update 3 --status sold',
    ],
    verbs: () => import('./pets/index.ts'),
  },
  {
    name: 'categories',
    aliases: ['category'],
    summary: 'List, get, create, update and delete categories',
    examples: [
      'petstore categories list',
      'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
    ],
    verbs: () => import('./categories/index.ts'),
  },
  {
    name: 'orders',
    aliases: ['order'],
    summary: 'List, get, create, update, complete and delete orders',
    examples: [
      'petstore orders list --open',
      'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
      'petstore orders complete 1',
    ],
    verbs: () => import('./orders/index.ts'),
  },
  {
    name: 'inventory',
    summary: 'List, get, set and adjust stock counts, or apply a whole file of them',
    examples: [
      'petstore inventory list --below 5',
      'petstore inventory set 42 10',
      'petstore inventory diff stock.csv',
      'petstore inventory apply stock.csv',
    ],
    verbs: () => import('./inventory/index.ts'),
  },
  {
    name: 'api',
    summary: "List the operations, bind to a service's own description, send requests of your own",
    examples: [
      'petstore api operations',
      'petstore api bind https://shop.example/openapi.json --profile staging',
      'petstore api request GET /pets -f status=available',
      'petstore api try createPet --offline',
    ],
    verbs: () => import('./api/index.ts'),
  },
  {
    name: 'serve',
    summary: 'Serve the pet store from memory, on this machine',
    load: () => import('./serve/index.ts'),
  },
  {
    name: 'smoke',
    summary: 'Check a deployment',
    load: () => import('./smoke/index.ts'),
  },
  {
    name: 'config',
    summary: 'Read and change the config; explain where settings come from',
    examples: ['petstore config init', 'petstore config explain', 'petstore config set output json'],
    verbs: () => import('./config/index.ts'),
  },
  {
    name: 'profile',
    summary: 'List, create, use, show and delete profiles of services',
    examples: [
      'petstore profile create staging --base-url https://staging.example.com/v1',
      'petstore profile use staging',
      'petstore profile list',
    ],
    verbs: () => import('./profile/index.ts'),
  },
  {
    name: 'doctor',
    summary: 'Check config, permissions and the way to the service',
    load: () => import('./doctor/index.ts'),
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell, or install it',
    load: () => import('./completion/index.ts'),
  },
  { name: 'help', summary: 'Show help for a command or a topic', load: () => import('./help/index.ts') },
];

/** The command tree with all of it declared, for what looks at the tree itself: completions, the man page. */
export async function createWholeProgram(context: Context): Promise<AnyCommand> {
  const program = createRoot(context, { out: '', err: '' });
  await addEntries(program, entries, { context, path: 'every' });
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
  await addEntries(program, entries, { context, path: operands(program, words) });
  program.hook('preAction', (_, action) => onAction(mergeFlags(action as AnyCommand)));
  return program;
}

interface ProgramOptions {
  /** The command line after `petstore`. */
  readonly words: readonly string[];
  readonly text: ProgramText;
  onAction(flags: GlobalFlags): void;
}

function createRoot(context: Context, text: ProgramText): AnyCommand {
  const program = withGlobalFlags(new Command('petstore')) as unknown as AnyCommand;
  return program
    .description('The command line of the pet store service')
    .usage('<command> [arguments] [flags]')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ formatHelp, styleTitle })
    .configureOutput({
      writeOut: (chunk) => {
        text.out += chunk;
      },
      writeErr: (chunk) => {
        text.err += chunk;
      },
      outputError: () => {},
      getOutHelpWidth: () => helpColumns(context.io),
      getErrHelpWidth: () => helpColumns(context.io),
      // Whoever writes the help drops the styles that its stream does not show.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    });
}

interface Declaration {
  readonly context: Context;
  /** The words by which entries are named that are to be declared in full, from here on down. */
  readonly path: readonly string[] | 'every';
}

async function addEntries(
  parent: AnyCommand,
  below: readonly Entry[],
  declaration: Declaration,
): Promise<void> {
  for (const entry of below) {
    const isNamed = declaration.path === 'every' || isCalled(entry, declaration.path[0]);
    addCommands(parent, [isNamed ? await declare(entry, declaration) : outline(entry)]);
  }
}

function isCalled({ name, aliases = [] }: Entry, word: string | undefined): boolean {
  return word !== undefined && [name, ...aliases].includes(word);
}

async function declare(entry: Entry, { context, path }: Declaration): Promise<object> {
  if (entry.load) return (await entry.load()).declare(context, entry);
  const command = group(entry);
  const verbs = (await entry.verbs?.())?.entries ?? [];
  const rest = path === 'every' ? path : path.slice(1);
  await addEntries(command as unknown as AnyCommand, verbs, { context, path: rest });
  return command;
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

interface NamedCommand {
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
