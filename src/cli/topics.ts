import { describeKey, ownVariables, settingKeys, variableName } from '../config/keys.ts';
import { type Block, formatBlock, type Item } from './blocks.ts';
import { globalFlags, writeFlags } from './global-flags.ts';
import { flagItem } from './help.ts';
import type { TopicName } from './verb.ts';

/** A help topic, which belongs to no single command, or a section that only the manual has. */
export interface Topic {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** Items that come from other tables, by the line of `topics.txt` that they replace. */
const tables: Readonly<Record<string, readonly Item[]>> = {
  '{global flags}': Object.values(globalFlags).map(flagItem),
  '{write flags}': Object.values(writeFlags).map(flagItem),
  '{variables}': ownVariables,
  '{setting variables}': settingKeys.map((key) => [variableName(key), `${key}: ${describeKey(key)}`]),
};

type ManualSection = 'description' | 'files';

/** What `topics.txt` holds. */
export async function readTopics(): Promise<Readonly<Record<TopicName | ManualSection, Topic>>> {
  const { default: text } = await import('./topics.txt?raw');
  const topics = text.split(/^# /m).slice(1).map(toTopic);
  return Object.fromEntries(topics) as Record<TopicName | ManualSection, Topic>;
}

/** The text of a topic, folded to a width. */
export function formatTopic({ title, blocks }: Topic, width: number): string {
  return `${[title, ...blocks].map((block) => formatBlock(block, width)).join('\n\n')}\n`;
}

function toTopic(text: string): [name: string, topic: Topic] {
  const [heading = '', ...blocks] = text.trim().split('\n\n');
  const [name = '', title = ''] = heading.split(/: (.*)/);
  return [name, { title, blocks: blocks.map(toBlock) }];
}

/**
 * A block that starts with four spaces is a recipe. In others, two spaces in a row stand only in a list: after a term, and
 * before the further lines of its meaning.
 */
function toBlock(text: string): Block {
  if (text.startsWith('    ')) return { lines: text.split('\n').map((line) => line.slice(4)) };
  if (!text.includes('  ') && tables[text] === undefined) return text.replaceAll('\n', ' ');
  return { items: text.split(/\n(?! )/).flatMap((line) => tables[line] ?? [toItem(line)]) };
}

function toItem(text: string): Item {
  const [term = '', meaning = ''] = text.split(/\s{2,}(.*)/s);
  return [term, meaning.replace(/\n +/g, ' ')];
}
