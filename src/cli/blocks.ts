import { fold, leastRoom } from '../output/fold.ts';

/** A part of a help text: a paragraph, or a list of terms with their meanings. */
export type Block = string | TermList;

export interface TermList {
  /** Stands above the list, such as `Flags:`. */
  readonly title?: string;
  readonly items: readonly Item[];
}

export type Item = readonly [term: string, meaning: string];

/** A block folded to a number of columns. */
export function formatBlock(block: Block, columns: number): string {
  if (typeof block === 'string') return fold(block, columns);
  const { title, items } = block;
  const margin = title === undefined ? 0 : 2;
  // A single long term must not push all meanings to the right.
  const longest = title === undefined ? 26 : columns / 2;
  const widest = Math.max(0, ...items.map(([term]) => term.length).filter((length) => length <= longest));
  const width = columns - margin - widest - 2 >= leastRoom ? widest : 0;
  const indent = margin + (width || 2) + 2;
  const lines = items.map(([term, meaning]) => {
    const gap = term.length <= width ? ' '.repeat(width - term.length + 2) : `\n${' '.repeat(indent)}`;
    return `${' '.repeat(margin)}${term}${gap}${fold(meaning, columns, indent)}`;
  });
  return [...(title === undefined ? [] : [title]), ...lines].join('\n');
}
