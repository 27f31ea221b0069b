import { Help } from 'commander';
import { formats } from '../output/printer.ts';
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
type PageName = (typeof topicNames)[number] | 'introduction';

/** A part of a description: a paragraph, or a list of terms with their meanings. */
export type Block = string | { readonly items: readonly Item[] };

type Item = readonly [term: string, meaning: string];

/**
 * Reads the pages in `topics.txt`, which has them as help prints them: the topics, and what `petstore` prints without a
 * command. `{global flags}`, `{write flags}` and `{formats}` stand there for tables.
 */
export async function readTopics(): Promise<Readonly<Record<PageName, string>>> {
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

/** The columns of help. */
export const helpWidth = 80;

/** Lays out a block. */
export function blockText(block: Block): string {
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

/** Breaks a text at spaces. */
function fold(text: string, room: number): string {
  return new Help().boxWrap(text, room);
}
