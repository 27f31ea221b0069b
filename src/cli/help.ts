import { Help, Option, Command as Parser } from 'commander';
import { formats } from '../output/formats.ts';
import {
  type CommandWords,
  pageBreak,
  pagesFile,
  tableFile,
  type WordSlot,
  type WordTable,
} from './command-words.ts';
import { type Flag, globalFlags, meaningOf, writeFlags } from './flag.ts';
import {
  type Action,
  actionOf,
  type Block,
  type Command,
  commandFlags,
  commandName,
  flagsOf,
  type Group,
  isGroup,
  loadCommand,
  type ParsedLine,
} from './verb.ts';

/** Makes the files of help and completion, by their names. Only the build and its test call it. */
export async function makeHelpFiles(program: Command): Promise<Readonly<Record<string, string>>> {
  const nodes: CommandNode[] = [];
  for await (const node of commandsOf(program)) nodes.push(node);
  const { introduction, ...topics } = await readTopics();
  const topicNames = Object.keys(topics);
  const pages = [
    `introduction\n${introduction}`,
    ...Object.entries(topics).map(([name, page]) => `help ${name}\n${page}`),
    ...nodes.map((node) => `${node.path.join(' ')}\n${commandHelpText(node, topicNames)}`),
  ];
  return {
    [tableFile]: JSON.stringify(createTable(nodes, topicNames)),
    [pagesFile]: pages.join(pageBreak),
  };
}

/** A command, and its names from the first level on, without aliases; none for the program itself. */
type CommandNode = Pick<ParsedLine, 'path' | 'command'>;

/** Yields a command and every command below it. */
export async function* commandsOf(
  command: Command,
  path: readonly string[] = [],
): AsyncGenerator<CommandNode> {
  yield { path, command };
  for (const entry of isGroup(command) ? command.verbs : [])
    yield* commandsOf(await loadCommand(entry), [...path, entry.name]);
}

function createTable(nodes: readonly CommandNode[], topics: readonly string[]): WordTable {
  const commands = nodes.map(({ path, command }): [string, CommandWords] => {
    const action = actionOf(command);
    const words = {
      path: path.join(' '),
      aliases: command.aliases ?? [],
      summary: command.summary,
      verbs: isGroup(command) ? command.verbs.map(({ name }) => name) : [],
      canRunAlone: action !== undefined,
      args: Object.values(action?.args ?? {}).map(toSlot),
      flags: Object.entries(flagsOf(command)).flatMap(([key, flag]) =>
        Object.hasOwn(globalFlags, key) ? [] : toSlot(flag),
      ),
    };
    return [words.path, words];
  });
  return {
    commands: Object.fromEntries(commands),
    flags: Object.values(globalFlags).map(toSlot),
    topics,
  };
}

function toSlot({ syntax, summary, choices, offers = [], isList = false }: Flag): WordSlot {
  return { syntax, summary, offers: choices ?? offers, isList };
}

/** Returns the help of a command. Commander formats all but the examples. */
function commandHelpText({ path, command }: CommandNode, topicNames: readonly string[]): string {
  const description = [(isGroup(command) ? undefined : command.description) ?? command.summary].flat();
  const page = new Parser(command.name)
    .usage(usageOf(path, command))
    .description(description.map(blockText).join('\n\n'))
    .commandsGroup(path.length === 0 ? 'Commands:' : 'Verbs:')
    .helpOption(false)
    .helpCommand(false);
  for (const flag of Object.values(commandFlags(command)))
    if (flag.topic === undefined)
      page.addOption(new Option(flag.syntax, meaningOf(flag)).helpGroup('Flags:'));
  if (isGroup(command))
    for (const { name, aliases = [], summary } of command.verbs)
      page.command(name).aliases(aliases).summary(summary);
  else
    for (const argument of Object.values(command.args ?? {}))
      page.argument(argument.syntax, meaningOf(argument));
  const help = Object.assign(new Help(), {
    helpWidth,
    commandUsage: () => page.usage(),
    subcommandTerm: (verb: Parser) => [verb.name(), ...verb.aliases()].join(', '),
  });
  const examples = ['Examples:', ...command.examples].join('\n  ');
  return `${help.formatHelp(page, help)}\n${examples}\n\n${blockText(footerOf(path, command, topicNames))}\n`;
}

/** Returns the usage of a command, such as `petstore pets get [flags] <id or name...>`. */
function usageOf(path: readonly string[], command: Action | Group): string {
  if (isGroup(command))
    return `${commandName(path)} ${path.length === 0 ? '<command>' : '<verb>'} [arguments] [flags]`;
  return [
    commandName(path),
    '[flags]',
    ...Object.values(command.args ?? {}).map(({ syntax }) => syntax),
  ].join(' ');
}

function footerOf(path: readonly string[], command: Action | Group, topicNames: readonly string[]): string {
  if (path.length === 0)
    return `\`petstore <command> --help\` shows more; \`petstore help <topic>\` explains what several commands share: ${topicNames.join(', ')}.`;
  if (isGroup(command)) return `\`${commandName(path)} <verb> --help\` shows the flags of a verb.`;
  const topicFlags = Object.values(commandFlags(command)).filter(({ topic }) => topic !== undefined);
  const names = topicFlags.map(({ syntax }) => syntax.split(' ')[0]).join(', ');
  const also = names === '' ? '' : `More flags (${names}): petstore help ${topicFlags[0]?.topic}\n`;
  return `${also}Flags of all commands, such as -o and --fields: petstore help flags`;
}

/**
 * Reads the pages of `topics.txt`: the topics, and the introduction that `petstore` prints without a command. Replaces
 * `{global flags}`, `{write flags}` and `{formats}` by tables.
 */
async function readTopics(): Promise<Readonly<Record<string, string>>> {
  const { default: text } = await import('./topics.txt?raw');
  const topics = text.split(/^# /m).slice(1);
  const pages = topics.map((topic) => {
    const [, name = '', page = ''] = /^([\w-]+): (.*)$/s.exec(topic.trim()) ?? [];
    const withFlags = page
      .replace('{global flags}', () => flagTable(globalFlags))
      .replace('{write flags}', () => flagTable(writeFlags))
      .replace('{formats}', () => blockText({ items: formatItems }));
    return [name, `${withFlags}\n`];
  });
  return Object.fromEntries(pages);
}

const formatItems = Object.entries(formats).map(([name, { summary }]) => [name, summary] as const);

function flagTable(flags: Readonly<Record<string, Flag>>): string {
  return blockText({ items: Object.values(flags).map((flag) => [flag.syntax, meaningOf(flag)]) });
}

const helpWidth = 80;

function blockText(block: Block): string {
  if (typeof block === 'string') return fold(block, helpWidth);
  // A single long term must not push all meanings to the right.
  const widths = block.items.map(([term]) => term.length).filter((width) => width <= 26);
  const indent = Math.max(0, ...widths) + 2;
  const margin = `\n${' '.repeat(indent)}`;
  const lines = block.items.map(([term, meaning]) => {
    const gap = term.length <= indent - 2 ? ' '.repeat(indent - term.length) : margin;
    return term + gap + fold(meaning, helpWidth - indent).replaceAll('\n', margin);
  });
  return lines.join('\n');
}

function fold(text: string, room: number): string {
  return new Help().boxWrap(text, room);
}
