import { version } from '../../package.json';
import type { Context, GlobalFlags } from '../context.ts';
import { type AnyCommand, addCommands, Command, group, mergeFlags, withGlobalFlags } from './command.ts';

/** What commander wants to print: help and version for stdout, help after an error for stderr. */
export interface ProgramText {
  out: string;
  err: string;
}

/** A noun or a lone command, with the module that holds it loaded only when it is named. */
interface Entry {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  load(): Promise<{
    readonly commands: (context: Context) => readonly object[];
  }>;
}

const groups: readonly Entry[] = [
  {
    name: 'pets',
    alias: 'pet',
    summary: 'List, get, create, update and delete pets',
    load: () => import('./pets/index.ts'),
  },
];

/**
 * The whole command tree. Each group is declared by name and filled when it is called, or by `loadAll`.
 *
 * @param onAction told the flags of all levels before the command acts.
 */
export function createProgram(
  context: Context,
  text: ProgramText,
  onAction: (flags: GlobalFlags) => void,
): AnyCommand {
  const program = withGlobalFlags(new Command('petstore')) as unknown as AnyCommand;
  program
    .description('The command line of the pet store service')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .enablePositionalOptions()
    .exitOverride()
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
  for (const { name, alias, summary } of groups) {
    const command = group(name, summary);
    if (alias) command.alias(alias);
    addCommands(program, [command]);
  }
  program.hook('preSubcommand', (_, command) => fill(context, command as AnyCommand));
  program.hook('preAction', (_, action) => onAction(mergeFlags(action as AnyCommand)));
  return program;
}

async function fill(context: Context, command: AnyCommand): Promise<void> {
  const entry = groups.find(({ name }) => name === command.name());
  if (!entry || command.commands.length > 0) return;
  const { commands } = await entry.load();
  addCommands(command, commands(context));
}
