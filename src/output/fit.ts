import type { Widths } from './cells.ts';
import type { Column } from './columns.ts';
import { longestPiece, type Measure } from './width.ts';
import type { Sheet } from './writer.ts';

type Cells = readonly (readonly string[])[];

/** What the cells of each column take. */
interface Sizes {
  /** On one line. */
  readonly whole: Widths;
  /** Wrapped, no word cut. */
  readonly words: Widths;
}

/** A longer word is cut before a column is left out for it; the id of a run has just this length. */
const longestWord = 25;
const leastWidth = 2;

/** What the header takes. */
export function headerSizes<Row>({ columns, header }: Sheet<Row>): Sizes {
  const widths = columns.map(({ name }) => (header ? name.length : leastWidth));
  return { whole: widths, words: widths };
}

/** What these cells take, and at least `least`. */
export function sizesOf(cells: Cells, least: Sizes, measure: Measure): Sizes {
  const whole = [...least.whole];
  const words = [...least.words];
  for (const row of cells) {
    for (const [at, cell] of row.entries()) {
      const width = measure(cell);
      const word = words[at] ?? 0;
      if (width > (whole[at] ?? 0)) whole[at] = width;
      if (width > word) words[at] = Math.max(word, Math.min(longestPiece(cell, measure), longestWord));
    }
  }
  return { whole, words };
}

/**
 * The columns that a terminal has room for with no word cut: of those that may be left out, the last go first; where the
 * user picked the columns, all stay.
 */
export function keepColumns<Row>(sheet: Sheet<Row>, { words }: Sizes): readonly Column<Row>[] {
  let kept = sheet.columns.map((column, at) => ({ column, width: words[at] ?? 0 }));
  const isTooWide = () => sum(kept.map(({ width }) => width)) > room(kept.length, sheet.width);
  const next = () => (sheet.isPicked ? -1 : kept.findLastIndex(({ column }) => column.spare));
  for (let at = next(); at !== -1 && isTooWide(); at = next()) kept = kept.toSpliced(at, 1);
  return kept.map(({ column }) => column);
}

/**
 * Widths that fit the terminal, frame included: the widest columns give way first, down to their words, then text beyond
 * that, then all; undefined where even the narrowest are too wide.
 */
export function fitWidths<Row>({ columns, width }: Sheet<Row>, { whole, words }: Sizes): Widths | undefined {
  const available = room(columns.length, width);
  const widths = whole.map((each) => Math.min(each, Math.max(available, leastWidth)));
  const narrow = (leastOf: (at: number) => number) => {
    while (sum(widths) > available) {
      const candidates = widths.map((each, at) => (each > leastOf(at) ? each : 0));
      const widest = Math.max(...candidates);
      if (widest === 0) return false;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
    return true;
  };
  // The first column tells the rows apart: it gives way after the others.
  const isText = (at: number) => at > 0 && columns[at]?.align !== 'right' && !columns[at]?.status;
  const textDownTo = (least: number) => (at: number) => (isText(at) ? least : (words[at] ?? 0));
  const fits =
    narrow((at) => words[at] ?? 0) ||
    narrow(textDownTo(8)) ||
    narrow(textDownTo(4)) ||
    narrow(() => leastWidth);
  return fits ? widths : undefined;
}

/** Columns of the terminal that borders and spaces leave to the cells. */
function room(columns: number, width: number): number {
  return width - 3 * columns - 1;
}

function sum(widths: Widths): number {
  return widths.reduce((total, each) => total + each, 0);
}
