import { lowerFirst } from '../process/text.ts';
import { meaningOf, nameOf } from './flag.ts';
import { globalFlags } from './global-flags.ts';
import { descriptionOf, usageOf } from './help.ts';
import { type Block, flagItem, type Item, readTopics, type Topic } from './topics.ts';
import {
  type Action,
  type CommandNode,
  commandFlags,
  commandsOf,
  type Group,
  isGroup,
  type Program,
} from './verb.ts';

/**
 * Makes the manual page petstore(1) in roff from the verbs and the topics of help.
 *
 * @see man(7)
 */
export async function toManual(program: Program, version: string): Promise<string> {
  const topics = await readTopics();
  const commands: string[] = [];
  for await (const node of commandsOf(program)) commands.push(...commandLines(node));
  const lines = [
    `.TH PETSTORE 1 "" "petstore ${roff(version)}" "User Commands"`,
    // roff must not divide words, because people copy them.
    '.nr HY 0',
    '.ad l',
    '.SH NAME',
    `petstore \\- ${roff(lowerFirst(program.summary))}`,
    '.SH SYNOPSIS',
    '.B petstore',
    '<noun> <verb> [arguments] [flags]',
    '.br',
    '.B petstore \\-\\-version',
    ...topicLines('DESCRIPTION', topics.description),
    '.SH COMMANDS',
    ...commands,
    '.SH GLOBAL FLAGS',
    'They can stand before or after the noun and the verb.',
    ...Object.values(globalFlags).map(flagItem).flatMap(termLines),
    ...topicLines('OUTPUT FORMATS', topics.formats),
    ...topicLines('RECORDS', topics.records),
    ...topicLines('BULK INVENTORY', topics.bulk),
    ...topicLines('SMOKE CHECKS', topics.checks),
    ...topicLines('CONTINUOUS INTEGRATION', topics.ci),
    ...topicLines('GATEWAYS', topics.gateways),
    ...topicLines('EXIT STATUS', topics['exit-codes']),
    ...topicLines('ENVIRONMENT', topics.environment),
    ...topicLines('FILES', topics.files),
    '.SH SEE ALSO',
    'petstore <command> \\-\\-help; jq(1), xargs(1)',
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines({ path, entry, command }: CommandNode): string[] {
  const aliases = path.length === 1 ? [] : (entry.aliases ?? []).map((alias) => ` (also ${alias})`);
  const usage = roff(usageOf(path, command) + aliases.join(''));
  const [about, ...more] = descriptionOf(entry, command);
  const details = [...more, ...detailBlocks(path, command)].flatMap(blockLines);
  if (path.length === 1) return [`.SS ${usage}`, roff(about), ...details];
  return ['.TP', `.B ${usage}`, roff(about), '.RS', ...details, '.RE'];
}

function detailBlocks(path: readonly string[], command: Action | Group): Block[] {
  const examples = { lines: command.examples.map((example) => `$ ${example}`) };
  if (isGroup(command)) return path.length === 1 ? [examples] : [];
  const args = Object.values(command.args ?? {});
  const items = args.map((each): Item => [`<${nameOf(each)}>`, meaningOf(each)]);
  return [{ items: [...items, ...Object.values(commandFlags(command)).map(flagItem)] }, examples];
}

function termLines([term, meaning]: Item): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(meaning)];
}

function topicLines(title: string, { blocks }: Topic): string[] {
  return [`.SH ${title}`, ...blocks.flatMap(blockLines)];
}

function blockLines(block: Block): string[] {
  if (typeof block === 'string') return ['.PP', roff(block)];
  if ('lines' in block) return ['.PP', '.EX', ...block.lines.map(roff), '.EE'];
  const title = block.title === undefined ? [] : ['.PP', roff(block.title)];
  return [...title, ...block.items.flatMap(termLines)];
}

/** Escapes the characters that roff interprets: backslash, hyphen, double quote, and a dot or quote at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^([.'])/gm, '\\&$1');
}
