import { version } from '../../package.json';
import type { Context, GlobalFlags } from '../context.ts';
import {
  type AnyCommand,
  addCommands,
  Command,
  CommanderError,
  group,
  mergeFlags,
  outline,
  strayFlag,
  withFlagsOfVerbs,
} from './command.ts';
import type { Entry } from './entry.ts';
import { helpColumns } from './help/columns.ts';
import { formatHelp, styleTitle } from './help/format-help.ts';
import { entries } from './index.ts';

/** What commander wants to print: help and version for stdout, help after an error for stderr. */
export interface ProgramText {
  out: string;
  err: string;
}

/** The command tree with all of it declared, for what looks at the tree itself: completions, the man page. */
export async function createWholeProgram(context: Context): Promise<AnyCommand> {
  const root = createRoot(context, { out: '', err: '' });
  await addWhole(root, entries, context);
  return root;
}

/** The command tree as far as some words need it: what they name is declared in full, the rest by name only. */
interface Program extends Named {
  readonly root: AnyCommand;
}

/** What words name: a noun, a verb, or the program itself. */
interface Named {
  readonly command: AnyCommand;
  /** The word that should have named a command below this one, and does not. */
  readonly unknown?: string | undefined;
}

/** @param onAction told the flags of all levels before the command acts. */
export async function createProgram(
  context: Context,
  { words, text, onAction }: ProgramOptions,
): Promise<Program> {
  const root = createRoot(context, text);
  const named = await addNamed(root, entries, { context, path: operands(root, words) });
  root.hook('preAction', (_, action) => {
    const stray = strayFlag(action as AnyCommand);
    if (stray) throw new CommanderError(1, 'commander.unknownOption', `error: unknown option '${stray}'`);
    onAction(mergeFlags(action as AnyCommand));
  });
  return { root, ...named };
}

interface ProgramOptions {
  /** The command line after `petstore`. */
  readonly words: readonly string[];
  readonly text: ProgramText;
  onAction(flags: GlobalFlags): void;
}

function createRoot(context: Context, text: ProgramText): AnyCommand {
  const program = withFlagsOfVerbs(new Command('petstore')) as unknown as AnyCommand;
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

async function addWhole(parent: AnyCommand, below: readonly Entry[], context: Context): Promise<void> {
  for (const entry of below)
    await addWhole(await addDeclared(parent, entry, context), await verbsOf(entry), context);
}

interface Path {
  readonly context: Context;
  /** The words that should name entries, from here on down. */
  readonly path: readonly string[];
}

async function addNamed(
  parent: AnyCommand,
  below: readonly Entry[],
  { context, path }: Path,
): Promise<Named> {
  const [word, ...rest] = path;
  let named: Named = { command: parent, unknown: below.length > 0 ? word : undefined };
  for (const entry of below) {
    if (word === undefined || !isCalled(entry, word)) {
      addCommands(parent, [outline(entry)]);
      continue;
    }
    const command = await addDeclared(parent, entry, context);
    named = await addNamed(command, await verbsOf(entry), { context, path: rest });
  }
  return named;
}

function isCalled({ name, aliases = [] }: Entry, word: string): boolean {
  return [name, ...aliases].includes(word);
}

async function addDeclared(parent: AnyCommand, entry: Entry, context: Context): Promise<AnyCommand> {
  const command = entry.load ? (await entry.load()).declare(context, entry) : group(entry);
  addCommands(parent, [command]);
  return command as AnyCommand;
}

async function verbsOf(entry: Entry): Promise<readonly Entry[]> {
  return (await entry.verbs?.())?.entries ?? [];
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
