import { type OperationId, operations } from '../api/operations.ts';
import type { Io } from '../process/io.ts';
import { type Flag, meaningOf, nameOf } from './flag.ts';
import { type Block, formatBlock, type Item, type TermList, topicNames } from './topics.ts';
import type { Line } from './tree.ts';
import { type Action, type CommandName, commandFlags, commandName, type Group, isGroup } from './verb.ts';

/** The text of `petstore` without a command: a first orientation, not the whole help. */
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

/** Longer lines are hard to read, even on a wide terminal. */
const maxWidth = 100;

/** The width to which help is folded: that of the terminal, also if a pager shows it. */
export function helpWidth({ stdout, stderr }: Io): number {
  return Math.min(stdout.width ?? stderr.width ?? maxWidth, maxWidth);
}

/** The help of a command: description, usage, examples, and then its verbs or flags. */
export function helpOf({ path, entry, command }: Line, width: number): string {
  const sections = isGroup(command)
    ? [commandsSection(path, command.verbs), ...flagSections(command)]
    : [argumentsSection(command), ...flagSections(command)];
  const format = (block: Block) => formatBlock(block, width);
  const parts = [
    ...descriptionOf(entry, command).map(format),
    `Usage:\n  ${usageOf(path, command)}`,
    ['Examples:', ...command.examples].join('\n  '),
    ...sections.filter(({ items }) => items.length > 0).map(format),
    format(footerOf(path, command)),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The description of a command, with the life cycle of its operation. */
export function descriptionOf(entry: CommandName, command: Action | Group): readonly [string, ...Block[]] {
  const description = isGroup(command) ? undefined : command.description;
  const [first, ...more] = typeof description === 'object' ? description : [description ?? entry.summary];
  return [`${first} ${lifecycleMark(entry.operation)}`.trimEnd(), ...more];
}

/** `petstore pets get [flags] <id or name...>` */
export function usageOf(path: readonly string[], command: Action | Group): string {
  if (isGroup(command))
    return `${commandName(path)} ${path.length === 0 ? '<command>' : '<verb>'} [arguments] [flags]`;
  return [
    commandName(path),
    '[flags]',
    ...Object.values(command.args ?? {}).map(({ syntax }) => syntax),
  ].join(' ');
}

/**
 * The life cycle mark of an operation: `(deprecated)`, `(beta)`, `(experimental)`, or nothing. It
 * comes from the table alone, because help does not open the config.
 */
function lifecycleMark(id: OperationId | undefined): string {
  if (id === undefined) return '';
  const { deprecated, stability } = operations[id];
  const marks = [...(deprecated ? ['deprecated'] : []), ...(stability === 'stable' ? [] : [stability])];
  return marks.length === 0 ? '' : `(${marks.join(', ')})`;
}

function commandsSection(path: readonly string[], commands: readonly CommandName[]): TermList {
  return {
    title: path.length === 0 ? 'Commands:' : 'Verbs:',
    items: commands.map(({ name, aliases = [], summary, operation }) => [
      [name, ...aliases].join(', '),
      `${summary} ${lifecycleMark(operation)}`.trimEnd(),
    ]),
  };
}

function argumentsSection({ args = {} }: Action): TermList {
  return { title: 'Arguments:', items: Object.values(args).map((each) => [nameOf(each), meaningOf(each)]) };
}

function flagSections(command: Action | Group): TermList[] {
  const byTitle = new Map<string, Item[]>([['Flags:', []]]);
  for (const flag of Object.values(commandFlags(command))) {
    if (flag.topic !== undefined) continue;
    const title = flag.group ?? 'Flags:';
    byTitle.set(title, [...(byTitle.get(title) ?? []), [flagTerm(flag), meaningOf(flag)]]);
  }
  return [...byTitle].map(([title, items]) => ({ title, items }));
}

/** A flag's term; long flags are aligned, with or without a short form. */
function flagTerm({ syntax }: Flag): string {
  return syntax.startsWith('--') ? `    ${syntax}` : syntax;
}

function footerOf(path: readonly string[], command: Action | Group): string {
  if (path.length === 0)
    return `\`petstore <command> --help\` shows more; \`petstore help <topic>\` explains what several commands share: ${topicNames.join(', ')}.`;
  if (isGroup(command)) return `\`${commandName(path)} <verb> --help\` shows the flags of a verb.`;
  const topicFlags = Object.values(commandFlags(command)).filter(({ topic }) => topic !== undefined);
  const names = topicFlags.map(({ syntax }) => syntax.split(' ')[0]).join(', ');
  const also = names === '' ? '' : `also ${names}: petstore help ${topicFlags[0]?.topic}\n`;
  return `${also}also -o, --fields, --sort, --base-url, --offline, -y, -q, …: petstore help flags`;
}
