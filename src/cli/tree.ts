import { Command, CommanderError, Option } from 'commander';
import { type Flag, type FlagUse, nameOf } from './flag.ts';
import { type Action, type CommandName, flagsOf, type Group, isGroup, loadCommand } from './verb.ts';

/** What commander has read of a command line: the command that the words name, and their texts, not yet parsed. */
export interface Line {
  /** The names from the first level on, without aliases: `['pets', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  /** Its name and summary in the list of the group that contains it. */
  readonly entry: CommandName;
  readonly command: Action | Group;
  /** The group that contains it, or the command itself if it is a group. */
  readonly group: Group;
  /** The flags in their order. */
  readonly flagUses: readonly FlagUse[];
  /** The words that are neither names of commands nor flags; after a problem, the words that were left. */
  readonly operands: readonly string[];
  /** What is wrong with the words. */
  readonly problem?: CommanderError | undefined;
}

/**
 * Lets commander read the words. The tree of commands grows with the words: commander names a command, and only that one is
 * loaded and gets its flags, arguments and verbs. Every level takes the global flags, so that they may stand anywhere.
 *
 * @param isLenient takes unknown flags and any number of arguments: for help, and for a line that is not finished.
 */
export async function readLine(
  program: CommandName & Group,
  words: readonly string[],
  isLenient: boolean,
): Promise<Line> {
  const flagUses: FlagUse[] = [];
  let position: Position = { path: [], entry: program, command: program, group: program };
  const root = new Command(program.name);
  let entered = root;
  // Errors and help are printed by this program. To find out how wide stderr is, commander would load all of node:net.
  root
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({
      writeErr: () => {},
      outputError: () => {},
      getErrHelpWidth: () => 80,
      getErrHasColors: () => false,
    });

  function enter(command: Command, next: Position, rest: readonly string[]): void {
    position = next;
    entered = command;
    command.helpOption(false).helpCommand(false).enablePositionalOptions();
    // Making all options of a level takes a millisecond. None is needed if the level has no flag, and all only to suggest one.
    const ownWords = isGroup(next.command) && !rest[0]?.startsWith('-') ? [] : rest;
    const dashed = ownWords.filter((word) => word.startsWith('-'));
    const isNeeded = (flag: Flag) =>
      dashed.some((word) => !isLenient || !word.startsWith('--') || word.startsWith(nameOf(flag)));
    const flags = flagsOf(next.command);
    for (const [key, flag] of Object.entries(flags)) {
      if (!isNeeded(flag)) continue;
      const option = toOption(flag, flags);
      command.addOption(option);
      command.on(`option:${option.name()}`, (text?: string | null) =>
        flagUses.push({ key, flag, text: text ?? undefined }),
      );
    }
    const action = isGroup(next.command) ? next.command.alone : next.command;
    if (action) {
      if (isLenient) command.allowUnknownOption().allowExcessArguments();
      else for (const { syntax } of Object.values(action.args ?? {})) command.argument(syntax);
      command.action(() => {});
    }
    if (isGroup(next.command)) addVerbs(command, next.command);
  }

  function addVerbs(parent: Command, parentGroup: Group): void {
    for (const { name, aliases = [] } of parentGroup.verbs) parent.command(name).aliases(aliases);
    parent.hook('preSubcommand', async ({ args }, subcommand) => {
      const entry = parentGroup.verbs.find(({ name }) => name === subcommand.name());
      if (!entry) return;
      const command = await loadCommand(entry);
      const path = [...position.path, entry.name];
      const group = isGroup(command) ? command : parentGroup;
      enter(subcommand, { path, entry, command, group }, args.slice(1));
    });
  }

  enter(root, position, words);
  const problem = await root.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => {
      if (thrown instanceof CommanderError) return thrown;
      throw thrown;
    },
  );
  return { ...position, flagUses, operands: entered.args, problem };
}

type Position = Pick<Line, 'path' | 'entry' | 'command' | 'group'>;

/** commander collects no values: flags of all levels are one list, and a text is parsed when the whole line is read. */
function toOption({ syntax, summary, conflicts = [] }: Flag, flags: Readonly<Record<string, Flag>>): Option {
  const others = conflicts.flatMap((key) => flags[key] ?? []);
  return new Option(syntax, summary).conflicts(others.map((each) => new Option(each.syntax).attributeName()));
}
