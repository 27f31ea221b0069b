import { Command, Help, Option } from 'commander';
import { type Flag, meaningOf } from './flag.ts';
import { type Block, formatBlock, helpWidth, topicNames } from './topics.ts';
import {
  type Action,
  type CommandEntry,
  type CommandNode,
  commandFlags,
  commandName,
  type Group,
  isGroup,
} from './verb.ts';

/** The text that `petstore` prints without a command: a short introduction. */
export const introduction = `petstore works with a pet store service: pets, categories, orders and inventory.

Try it without a service:
  petstore --offline overview
  petstore --offline pets list
  petstore serve

Work with yours:
  petstore profile create shop --base-url https://petstore.example.com
  petstore profile use shop
  petstore overview
  petstore inventory apply stock.csv

petstore --help lists every command; petstore <command> --help shows one.
`;

/**
 * Lets commander format the help of a command: usage, description, arguments, flags or verbs. Examples follow.
 *
 * @param styleTitle makes a title such as `Usage:` bold.
 */
export function formatCommandHelp(
  { path, entry, command }: CommandNode,
  styleTitle: (title: string) => string,
): string {
  const page = new Command(entry.name)
    .usage(usageOf(path, command))
    .description(descriptionOf(entry, command).map(formatBlock).join('\n\n'))
    .commandsGroup(path.length === 0 ? 'Commands:' : 'Verbs:')
    .helpOption(false)
    .helpCommand(false);
  for (const flag of flagsToShow(command))
    page.addOption(new Option(flag.syntax, meaningOf(flag)).helpGroup(flag.group ?? 'Flags:'));
  if (isGroup(command))
    for (const { name, aliases = [], summary } of command.verbs)
      page.command(name).aliases(aliases).summary(summary);
  else
    for (const argument of Object.values(command.args ?? {}))
      page.argument(argument.syntax, meaningOf(argument));
  const help = Object.assign(new Help(), {
    helpWidth,
    commandUsage: () => page.usage(),
    subcommandTerm: (verb: Command) => [verb.name(), ...verb.aliases()].join(', '),
    styleTitle,
  });
  const examples = [styleTitle('Examples:'), ...command.examples].join('\n  ');
  return `${help.formatHelp(page, help)}\n${examples}\n\n${formatBlock(footerOf(path, command))}\n`;
}

/** Returns the flags of this command that no topic of help explains. */
function flagsToShow(command: Action | Group): Flag[] {
  return Object.values(commandFlags(command)).filter(({ topic }) => topic === undefined);
}

function descriptionOf({ summary }: CommandEntry, command: Action | Group): readonly Block[] {
  return [isGroup(command) ? summary : (command.description ?? summary)].flat();
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

function footerOf(path: readonly string[], command: Action | Group): string {
  if (path.length === 0)
    return `\`petstore <command> --help\` shows more; \`petstore help <topic>\` explains what several commands share: ${topicNames.join(', ')}.`;
  if (isGroup(command)) return `\`${commandName(path)} <verb> --help\` shows the flags of a verb.`;
  const topicFlags = Object.values(commandFlags(command)).filter(({ topic }) => topic !== undefined);
  const names = topicFlags.map(({ syntax }) => syntax.split(' ')[0]).join(', ');
  const also = names === '' ? '' : `also ${names}: petstore help ${topicFlags[0]?.topic}\n`;
  return `${also}also -o, --fields, --sort, …: petstore help flags`;
}
