import { helpOf } from './help.ts';
import { formatBlock, formatTopic, readTopics, topicNames } from './topics.ts';
import type { Line } from './tree.ts';
import { commandName, type Group, isGroup, loadCommand, type Program } from './verb.ts';

/**
 * The topics and commands whose help has a word that is neither, topics first: what `petstore help csv` prints.
 *
 * @returns undefined if no help has the word.
 */
export async function helpWith(word: string, program: Program, width: number): Promise<string | undefined> {
  const topics = await readTopics();
  const hasWord = (text: string) => text.toLowerCase().includes(word.toLowerCase());
  const fromTopics = topicNames
    .filter((name) => hasWord(formatTopic(topics[name], width)))
    .map((name) => [`petstore help ${name}`, topics[name].title] as const);
  const fromCommands = (await linesOf([], program))
    .filter((line) => hasWord(helpOf(line, width)))
    .map(({ path, entry }) => [`${commandName(path)} --help`, entry.summary] as const);
  const items = [...fromTopics, ...fromCommands];
  if (items.length === 0) return undefined;
  return `${formatBlock({ title: `There is no topic or command ${word}. The word is in the help of:`, items }, width)}\n`;
}

/** Every verb below a group, as a line that names it. */
async function linesOf(path: readonly string[], group: Group): Promise<Line[]> {
  const lines = group.verbs.map(async (entry): Promise<Line[]> => {
    const command = await loadCommand(entry);
    const words = [...path, entry.name];
    if (isGroup(command)) return linesOf(words, command);
    return [{ path: words, entry, command, group, flagUses: [], operands: [] }];
  });
  return (await Promise.all(lines)).flat();
}
