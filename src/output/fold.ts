import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';
import { charactersOf, type Measure } from './width.ts';

/** The fewest columns to which text is folded. In fewer, it would become a column of single words. */
export const leastRoom = 16;

/**
 * Folds prose to a terminal's width: breaks it at spaces, and indents all lines but the first. Text that people copy stays
 * whole: a word that is longer than a line, such as an address, and a command that fits into one line. Line breaks stay.
 *
 * @param width the columns of the terminal; undefined returns the text unchanged.
 * @param indent the column at which the text begins.
 */
export function foldProse(text: string, width: number | undefined, indent = 0): string {
  const room = (width ?? 0) - indent;
  if (room < leastRoom) return text;
  const lines = text
    .split('\n')
    .flatMap((line) => fillLines(splitLine(line, room).map(withSpace), room, roughWidth));
  return lines.map((line, at) => (at === 0 || line === '' ? line : ' '.repeat(indent) + line)).join('\n');
}

/**
 * Makes foreign text safe to print on stderr: masks secrets, makes control characters visible, and folds it to the
 * terminal's width.
 *
 * @param indent the columns before the text, such as those of `error: `.
 */
export function toProse({ mask, stderr }: Pick<Io, 'mask' | 'stderr'>, text: string, indent = 0): string {
  return foldProse(sanitize(mask(text)), stderr.width, indent);
}

/**
 * Breaks a text into lines of at most `width` columns. It breaks at spaces; a word that is too long, after characters such
 * as `/`; and a piece that is still too long, between any two characters. A character that is wider than a line stays.
 */
export function wrapLines(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const pieces = text.split(' ').flatMap((word, at) => {
    const [first = '', ...rest] = cutWord(word, width, measure);
    return [withSpace(first, at), ...rest];
  });
  return fillLines(pieces, width, measure);
}

/** Measures the widest piece of a text. `wrapLines` keeps a piece whole if a line has room for it. */
export function widestPiece(text: string, measure: Measure): number {
  const pieces = text.split(' ').flatMap(splitWord);
  return pieces.reduce((widest, piece) => Math.max(widest, measure(piece)), 0);
}

/** A command of this program in prose: between backticks, or after a colon. */
const command = /`petstore [^`]*`|(?<=: )petstore .+?(?= \(|; |$)/g;

/** Splits a line into words. A command that fits into the room is one word. */
function splitLine(line: string, room: number): string[] {
  const glue = '\0';
  const glued = line.replace(command, (text) =>
    roughWidth(text) <= room ? text.replaceAll(' ', glue) : text,
  );
  return glued.split(' ').map((word) => word.replaceAll(glue, ' '));
}

/** Puts back the space before every word of a line but the first. */
function withSpace(word: string, at: number): string {
  return at === 0 ? word : ` ${word}`;
}

/** Joins pieces to lines of at most `width` columns. A piece that begins a line loses the space before it. */
function fillLines(pieces: readonly string[], width: number, measure: Measure): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const piece of pieces) {
    const longerLine: string = (line ?? '') + piece;
    if (line === undefined || measure(longerLine) <= width) line = longerLine;
    else {
      lines.push(line);
      line = piece.startsWith(' ') ? piece.slice(1) : piece;
    }
  }
  return [...lines, line ?? ''];
}

/** Splits a word after characters that separate parts of a path, an address or a list. */
function splitWord(word: string): string[] {
  return word.split(/(?<=[/,;&?=_|])(?=[^/])/);
}

function cutWord(word: string, width: number, measure: Measure): string[] {
  if (measure(word) <= width) return [word];
  return splitWord(word).flatMap((piece) =>
    measure(piece) <= width ? [piece] : cutPiece(piece, width, measure),
  );
}

function cutPiece(word: string, width: number, measure: Measure): string[] {
  const pieces = [''];
  let used = 0;
  for (const character of charactersOf(word)) {
    const size = measure(character);
    if (used > 0 && used + size > width) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += character;
    used += size;
  }
  return pieces;
}

/**
 * Measures a text without string-width, which takes long to load. A character beyond ASCII counts as two columns, so a line
 * may end a little early.
 */
function roughWidth(text: string): number {
  let width = 0;
  for (const character of text) width += character > '\x7e' ? 2 : 1;
  return width;
}
