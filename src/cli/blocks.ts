import { fold, leastRoom } from '../output/fold.ts';

/** A part of a help text: a paragraph, a list of terms with their meanings, or a file to copy. */
export type Block = string | TermList | Recipe;

/** Text that is shown as it is, such as a YAML file: indented, and never folded. */
export interface Recipe {
  readonly lines: readonly string[];
}

export interface TermList {
  /** Stands above the list, such as `Flags:`. */
  readonly title?: string;
  readonly items: readonly Item[];
}

export type Item = readonly [term: string, meaning: string];

/** A block folded to a width. */
export function formatBlock(block: Block, width: number): string {
  if (typeof block === 'string') return fold(block, width);
  if ('lines' in block) return block.lines.map((line) => `  ${line}`).join('\n');
  const { title, items } = block;
  const margin = title === undefined ? 0 : 2;
  // A single long term must not push all meanings to the right.
  const longest = title === undefined ? 26 : width / 2;
  const widest = Math.max(0, ...items.map(([term]) => term.length).filter((length) => length <= longest));
  const hasRoomBeside = width - margin - widest - 2 >= leastRoom;
  const termWidth = hasRoomBeside ? widest : 0;
  const indent = margin + (termWidth || 2) + 2;
  const lines = items.map(([term, meaning]) => {
    const gap =
      term.length <= termWidth ? ' '.repeat(termWidth - term.length + 2) : `\n${' '.repeat(indent)}`;
    return `${' '.repeat(margin)}${term}${gap}${fold(meaning, width, indent)}`;
  });
  return [...(title === undefined ? [] : [title]), ...lines].join('\n');
}
