/** Where a text stands on a terminal. */
interface Place {
  /** Columns of the terminal; undefined where nothing is to be folded. */
  readonly columns: number | undefined;
  /** Column at which the text begins, and at which its further lines do. */
  readonly indent: number;
}

/** Less room than this makes a column of single words. */
export const leastRoom = 16;

/**
 * Prose that fits into a terminal: broken at spaces, further lines under the first. A word that is longer, such as an
 * address, stays whole, so that it can be copied. Line breaks of the text stay.
 */
export function fold(text: string, { columns, indent }: Place): string {
  const room = (columns ?? 0) - indent;
  if (room < leastRoom) return text;
  const lines = text.split('\n').flatMap((line) => foldLine(line, room));
  return lines.map((line, at) => (at === 0 || line === '' ? line : ' '.repeat(indent) + line)).join('\n');
}

function foldLine(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [at, word] of text.split(' ').entries()) {
    const longer = at === 0 ? word : `${line} ${word}`;
    if (at === 0 || widthOf(longer) <= room) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

/** What is not ASCII may take two columns; to know better costs more than a short line does. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += character > '\x7e' ? 2 : 1;
  return width;
}
