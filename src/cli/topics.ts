import { Help } from 'commander';
import { programVariables } from '../config/keys.ts';
import { type Flag, meaningOf } from './flag.ts';
import { globalFlags, writeFlags } from './global-flags.ts';

/** The words after `petstore help` that name a page about several commands. */
export const topicNames = [
  'flags',
  'environment',
  'exit-codes',
  'formats',
  'runs',
  'deliveries',
  'limits',
  'checks',
  'ci',
  'gateways',
] as const;
type TopicName = (typeof topicNames)[number];

/** A part of a help text: a paragraph, a list of terms with their meanings, or a file to copy. */
export type Block = string | TermList | Recipe;

/** Text that is shown as it is, such as a YAML file: indented, and never folded. */
interface Recipe {
  readonly lines: readonly string[];
}

interface TermList {
  readonly items: readonly Item[];
}

export type Item = readonly [term: string, meaning: string];

/** A help topic, which belongs to no single command. */
interface Topic {
  readonly title: string;
  readonly blocks: readonly Block[];
}

function flagItem(flag: Flag): Item {
  return [flag.syntax, meaningOf(flag)];
}

/** Items from the tables of flags and variables, by the line of `topics.txt` that they replace. */
function itemsFor(line: string): readonly Item[] | undefined {
  if (line === '{global flags}') return Object.values(globalFlags).map(flagItem);
  if (line === '{write flags}') return Object.values(writeFlags).map(flagItem);
  return line === '{variables}' ? programVariables : undefined;
}

/** Reads the topics in `topics.txt`. */
export async function readTopics(): Promise<Readonly<Record<TopicName, Topic>>> {
  const { default: text } = await import('./topics.txt?raw');
  const topics = text.split(/^# /m).slice(1).map(toTopic);
  return Object.fromEntries(topics) as Record<TopicName, Topic>;
}

/** The columns of help. */
export const helpWidth = 80;

/** Lays out the text of a topic. */
export function formatTopic({ title, blocks }: Topic): string {
  return `${[title, ...blocks].map(formatBlock).join('\n\n')}\n`;
}

/** Lays out a block. */
export function formatBlock(block: Block): string {
  if (typeof block === 'string') return fold(block, helpWidth);
  if ('lines' in block) return block.lines.map((line) => `  ${line}`).join('\n');
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

/** Breaks a text at spaces. */
function fold(text: string, room: number): string {
  return new Help().boxWrap(text, room);
}

function toTopic(text: string): [name: string, topic: Topic] {
  const [heading = '', ...blocks] = text.trim().split('\n\n');
  const [name = '', title = ''] = heading.split(/: (.*)/);
  return [name, { title, blocks: blocks.map(toBlock) }];
}

/**
 * Parses a block. A block that starts with four spaces is a recipe. A block with two spaces in a row is a list: the spaces
 * stand after a term, and before the further lines of its meaning. Any other block is a paragraph.
 */
function toBlock(text: string): Block {
  if (text.startsWith('    ')) return { lines: text.split('\n').map((line) => line.slice(4)) };
  if (!text.includes('  ') && !itemsFor(text)) return text.replaceAll('\n', ' ');
  return { items: text.split(/\n(?! )/).flatMap((line) => itemsFor(line) ?? [toItem(line)]) };
}

function toItem(text: string): Item {
  const [term = '', meaning = ''] = text.split(/\s{2,}(.*)/s);
  return [term, meaning.replace(/\n +/g, ' ')];
}
