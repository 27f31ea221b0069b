import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';
import { charactersOf, type Measure } from './width.ts';

/** With less room than this, text would become a column of single words. */
export const leastRoom = 16;

/**
 * Folds prose to a terminal's width: breaks it at spaces and indents the further lines. What is copied stays whole: a
 * longer word, such as an address, and a command if a line has room for it. Existing line breaks stay.
 *
 * @param width of the terminal; undefined if the text is not to be folded.
 * @param indent column at which the text and its further lines begin.
 */
export function foldProse(text: string, width: number | undefined, indent = 0): string {
  const room = (width ?? 0) - indent;
  if (room < leastRoom) return text;
  const lines = text
    .split('\n')
    .flatMap((line) => fillLines(wordsOf(line, room).map(spaced), room, roughWidth));
  return lines.map((line, at) => (at === 0 || line === '' ? line : ' '.repeat(indent) + line)).join('\n');
}

/**
 * Foreign text as prose on stderr: secrets masked, controls visible, folded to the terminal's width.
 *
 * @param indent columns before the text, such as those of `error: `.
 */
export function toProse({ mask, stderr }: Pick<Io, 'mask' | 'stderr'>, text: string, indent = 0): string {
  return foldProse(sanitize(mask(text)), stderr.width, indent);
}

/**
 * Lines of at most `width` columns: broken at spaces, a longer word after a `/` or the like, a longer piece of it
 * between characters. A single character stays whole even if it is wider.
 */
export function wrapLines(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const pieces = text.split(' ').flatMap((word, at) => {
    const [first = '', ...rest] = cutWord(word, width, measure);
    return [spaced(first, at), ...rest];
  });
  return fillLines(pieces, width, measure);
}

/** The longest piece of a text that `wrapLines` keeps whole if it can. */
export function longestPiece(text: string, measure: Measure): number {
  return text.split(' ').reduce((longest, word) => {
    return piecesOf(word).reduce((most, piece) => Math.max(most, measure(piece)), longest);
  }, 0);
}

/** A command of this program in prose: between backticks, or after a colon. */
const command = /`petstore [^`]*`|(?<=: )petstore .+?(?= \(|; |$)/g;

/** The words of a line; a command that is not wider than the room is one word. */
function wordsOf(line: string, room: number): string[] {
  const glue = '\0';
  const glued = line.replace(command, (text) =>
    roughWidth(text) <= room ? text.replaceAll(' ', glue) : text,
  );
  return glued.split(' ').map((word) => word.replaceAll(glue, ' '));
}

/** A word of a line with the space before it. */
function spaced(word: string, at: number): string {
  return at === 0 ? word : ` ${word}`;
}

/** Joins unbreakable pieces to lines of at most `width` columns; a line does not begin with the space of its piece. */
function fillLines(pieces: readonly string[], width: number, measure: Measure): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const piece of pieces) {
    const longer: string = (line ?? '') + piece;
    if (line === undefined || measure(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = piece.startsWith(' ') ? piece.slice(1) : piece;
    }
  }
  return [...lines, line ?? ''];
}

/** Breaks after characters that separate parts of a path, an address or a list. */
function piecesOf(word: string): string[] {
  return word.split(/(?<=[/,;&?=_|])(?=[^/])/);
}

function cutWord(word: string, width: number, measure: Measure): string[] {
  if (measure(word) <= width) return [word];
  return piecesOf(word).flatMap((piece) => (measure(piece) <= width ? [piece] : cut(piece, width, measure)));
}

function cut(word: string, width: number, measure: Measure): string[] {
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
 * Counts a character beyond ASCII as two columns: a line may end a little early, but string-width need not be loaded.
 */
function roughWidth(text: string): number {
  let width = 0;
  for (const character of text) width += character > '\x7e' ? 2 : 1;
  return width;
}
