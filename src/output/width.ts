/** Measures a text in columns of a terminal; the text must not have control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;

/**
 * Latin, Greek, Cyrillic, kana, ideographs, whole Hangul syllables and most emoji: they never join with another
 * character. This test is a hundred times as fast as a segmenter.
 */
const separate =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u{1f300}-\u{1f3fa}\u{1f400}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}]*$/u;

/**
 * Returns a function that measures the texts. Loads string-width (CJK, emoji, combining marks) only if one of them
 * needs it.
 */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return remembering((await import('string-width')).default);
  }
  return (text) => text.length;
}

/** Adds up the widths of characters; measures each text, and each character in them, once. */
function remembering(measure: Measure): Measure {
  const widths = new Map<string, number>();
  const widthOf = (character: string) => {
    const width = widths.get(character) ?? measure(character);
    widths.set(character, width);
    return width;
  };
  const add = (text: string) => {
    let width = 0;
    for (const character of charactersOf(text)) width += widthOf(character);
    return width;
  };
  return (text) => {
    if (ascii.test(text)) return text.length;
    const width = widths.get(text) ?? add(text);
    widths.set(text, width);
    return width;
  };
}

/** The characters of a text as people count them (grapheme clusters), in linear time. */
export function charactersOf(text: string): Iterable<string> {
  return separate.test(text) ? text : segmentsOf(text);
}

/** Longer than any character, and short enough for a segmenter, which takes quadratic time. */
const windowLength = 256;

function* segmentsOf(text: string): Generator<string> {
  const segmenter = new Intl.Segmenter();
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + windowLength);
    const segments = Array.from(segmenter.segment(window), ({ segment }) => segment);
    // The last character may continue after the window.
    if (at + window.length < text.length && segments.length > 1) segments.pop();
    for (const segment of segments) at += segment.length;
    yield* segments;
  }
}
