/** Measures a text in columns of a terminal. The text must not have control characters. */
type Measure = (text: string) => number;

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
function charactersOf(text: string): string[] {
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
 * Breaks a text into lines of at most `width` columns: at a space, or within a word that is longer than a line. A character
 * that is wider than a line stays.
 */
export function wrapLines(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const character of charactersOf(text)) {
    const size = measure(character);
    if (used + size > width && line !== '') {
      const space = character === ' ' ? line.length : line.lastIndexOf(' ');
      lines.push(space > 0 ? line.slice(0, space) : line);
      line = space > 0 ? line.slice(space + 1) : '';
      used = measure(line);
      if (character === ' ') continue;
    }
    line += character;
    used += size;
  }
  return [...lines, line];
}
