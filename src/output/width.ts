/** How many columns of a terminal a text takes; the text has no control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;

/**
 * Latin, Greek, Cyrillic, kana, ideographs, whole syllables of Hangul and most emoji: none of these joins another one, so
 * that each is a character of its own, which a segmenter needs a hundred times as long to tell.
 */
const separate =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u{1f300}-\u{1f3fa}\u{1f400}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}]*$/u;

/** Measures any of the texts; what knows CJK, emoji and combining marks is loaded only where one of them needs it. */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return remembering((await import('string-width')).default);
  }
  return (text) => text.length;
}

/** Sums up the characters, and measures each different one of them, and each text, once. */
function remembering(measure: Measure): Measure {
  const widths = new Map<string, number>();
  const widthOf = (character: string) => {
    const width = widths.get(character) ?? measure(character);
    widths.set(character, width);
    return width;
  };
  const sum = (text: string) => {
    let width = 0;
    for (const character of separate.test(text) ? text : charactersOf(text)) width += widthOf(character);
    return width;
  };
  return (text) => {
    if (ascii.test(text)) return text.length;
    const width = widths.get(text) ?? sum(text);
    widths.set(text, width);
    return width;
  };
}

/**
 * The width where terminals differ on it: some draw a sequence such as an emoji and its skin tone as one character, some
 * each of its parts. `measure` gives the first, this the larger.
 */
export function measureMost(measure: Measure): Measure {
  return (text) => Math.max(measure(text), measureParts(text, measure));
}

/** Whether terminals differ on the width of a text. */
export function isDisputed(text: string, measure: Measure): boolean {
  return measure(text) !== measureParts(text, measure);
}

function measureParts(text: string, measure: Measure): number {
  if (ascii.test(text)) return text.length;
  return Array.from(text).reduce((sum, character) => sum + measure(character), 0);
}

/**
 * Lines of at most `width` columns: broken at spaces, a longer word after a `/` or the like, a longer piece of it between
 * characters. A character is never cut, even where it is wider.
 */
export function wrap(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const [at, word] of text.split(' ').entries()) {
    const space = at === 0 ? '' : ' ';
    for (const [nth, piece] of cutWord(word, width, measure).entries()) {
      const longer = nth === 0 ? line + space + piece : line + piece;
      if (line === '' || measure(longer) <= width) line = longer;
      else {
        lines.push(line);
        line = piece;
      }
    }
  }
  return [...lines, line];
}

/** The longest piece of a text that `wrap` keeps whole where it can. */
export function longestPiece(text: string, measure: Measure): number {
  return text.split(' ').reduce((longest, word) => {
    return piecesOf(word).reduce((most, piece) => Math.max(most, measure(piece)), longest);
  }, 0);
}

/** Breaks after what separates parts of a path, an address or a list. */
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
  for (const segment of separate.test(word) ? word : charactersOf(word)) {
    const size = measure(segment);
    if (used > 0 && used + size > width) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += segment;
    used += size;
  }
  return pieces;
}

/** Long enough for any character, and short enough for a segmenter, which takes quadratic time. */
const windowLength = 256;

/** The characters of a text as a person counts them, in time that grows with its length alone. */
function* charactersOf(text: string): Generator<string> {
  const segmenter = new Intl.Segmenter();
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + windowLength);
    const segments = Array.from(segmenter.segment(window), ({ segment }) => segment);
    // The last one may go on behind the window.
    if (at + window.length < text.length && segments.length > 1) segments.pop();
    for (const segment of segments) at += segment.length;
    yield* segments;
  }
}
