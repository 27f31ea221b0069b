import {
  type CommandWords,
  pageFiles,
  pageMark,
  tableFile,
  type WordSlot,
  type WordTable,
} from './command-words.ts';
import type { Flag } from './flag.ts';
import { formatCommandHelp, introduction } from './help.ts';
import { formatTopic, readTopics, topicNames } from './topics.ts';
import { type CommandNode, commandsOf, flagsOf, isGroup, type Program } from './verb.ts';

/** Makes the files of help and completion, by their names. Only the build and its test call it. @param bold styles a title. */
export async function prepare(
  program: Program,
  bold: (text: string) => string,
): Promise<Readonly<Record<string, string>>> {
  const nodes: CommandNode[] = [{ path: [], entry: program, command: program }];
  for await (const node of commandsOf(program)) nodes.push(node);
  const topics = await readTopics();
  const pages = (style: (text: string) => string) => [
    `introduction\n${introduction}`,
    ...topicNames.map((name) => `help ${name}\n${formatTopic(topics[name])}`),
    ...nodes.map((node) => `${node.path.join(' ')}\n${formatCommandHelp(node, style)}`),
  ];
  const table = tableOf(nodes);
  const acting = Object.values(table.commands).flatMap(({ path, acts }) => (acts ? path : []));
  return {
    [tableFile]: JSON.stringify(table),
    [pageFiles.plain]: pages((text) => text).join(pageMark),
    [pageFiles.styled]: pages(bold).join(pageMark),
    // bin/petstore.js names a code cache after the first that a line names: `pets list` comes before `runs`, which is a command
    // and a group.
    'commands.txt': acting.sort((one, other) => other.split(' ').length - one.split(' ').length).join('\n'),
  };
}

function tableOf(nodes: readonly CommandNode[]): WordTable {
  // Most flags belong to every command.
  const flags = new Map<string, { readonly at: number; readonly slot: WordSlot }>();
  const placeOf = (slot: WordSlot): number => {
    const key = JSON.stringify(slot);
    const flag = flags.get(key) ?? { at: flags.size, slot };
    flags.set(key, flag);
    return flag.at;
  };
  const commands = nodes.map(({ path, entry, command }): [string, CommandWords] => {
    const action = isGroup(command) ? command.alone : command;
    const words = {
      path: path.join(' '),
      aliases: entry.aliases ?? [],
      summary: entry.summary,
      verbs: isGroup(command) ? command.verbs.map(({ name }) => name) : [],
      acts: action !== undefined,
      args: Object.values(action?.args ?? {}).map(toSlot),
      flags: Object.values(flagsOf(command)).map(toSlot).map(placeOf),
    };
    return [words.path, words];
  });
  return {
    commands: Object.fromEntries(commands),
    flags: Array.from(flags.values(), ({ slot }) => slot),
    topics: topicNames,
  };
}

function toSlot({
  syntax,
  summary,
  choices,
  offers = [],
  isList = false,
}: Pick<Flag, 'syntax' | 'summary' | 'choices' | 'offers' | 'isList'>): WordSlot {
  return { syntax, summary, offers: choices ?? offers, isList };
}
