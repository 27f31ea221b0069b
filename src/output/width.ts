/** Measures a text in columns of a terminal; the text must not have control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;
/** Latin letters, which never join with the next character. */
const latin = /^[\x20-\xac\xae-\u02ff]*$/;

/**
 * Returns a function that measures the texts. Loads string-width (CJK, emoji, combining marks) only if one of them
 * needs it.
 */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return addingUp((await import('string-width')).default);
  }
  return (text) => text.length;
}

/** Adds up the widths of characters, each measured once: string-width is slow, and takes quadratic time for a long text. */
function addingUp(measureCharacter: Measure): Measure {
  const widths = new Map<string, number>();
  const once = (text: string, measure: Measure) => {
    const width = widths.get(text) ?? measure(text);
    widths.set(text, width);
    return width;
  };
  const addUp = (text: string) =>
    charactersOf(text).reduce((width, character) => width + once(character, measureCharacter), 0);
  return (text) => (ascii.test(text) ? text.length : once(text, addUp));
}

/** Longer than any character, and short enough for a segmenter, which takes quadratic time. */
const windowLength = 256;
let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as people count them (grapheme clusters), in linear time. */
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
