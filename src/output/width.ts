/** Measures a text in columns of a terminal. The text must not have control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;
/** Latin letters, which never join with the next character. */
const latin = /^[\x20-\xac\xae-\u02ff]*$/;

/**
 * Creates a measure for these texts. Loads string-width only if one of them has characters beyond ASCII, such as CJK,
 * emoji or combining marks.
 */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return createAddingMeasure((await import('string-width')).default);
  }
  return (text) => text.length;
}

/**
 * Creates a measure that adds up the widths of the characters, and measures each character once: string-width is slow, and
 * takes quadratic time for a long text.
 */
function createAddingMeasure(measureCharacter: Measure): Measure {
  const widths = new Map<string, number>();
  const measureOnce = (text: string, measure: Measure) => {
    const width = widths.get(text) ?? measure(text);
    widths.set(text, width);
    return width;
  };
  const addUp = (text: string) =>
    charactersOf(text).reduce((width, character) => width + measureOnce(character, measureCharacter), 0);
  return (text) => (ascii.test(text) ? text.length : measureOnce(text, addUp));
}

/** The length of a piece to segment: longer than any character, and short, because a segmenter takes quadratic time. */
const windowLength = 256;
let segmenter: Intl.Segmenter | undefined;

/** Splits a text into characters as people count them (grapheme clusters), in linear time. */
export function charactersOf(text: string): string[] {
  if (latin.test(text)) return Array.from(text);
  segmenter ??= new Intl.Segmenter();
  const characters: string[] = [];
  for (let start = 0; start < text.length; ) {
    const window = text.slice(start, start + windowLength);
    const segments = Array.from(segmenter.segment(window), ({ segment }) => segment);
    // The last character may continue after the window.
    if (start + window.length < text.length && segments.length > 1) segments.pop();
    for (const segment of segments) start += segment.length;
    characters.push(...segments);
  }
  return characters;
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
