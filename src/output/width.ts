/** How many columns of a terminal a text takes; the text has no control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;

/**
 * Latin, Greek, Cyrillic, kana, ideographs, whole syllables of Hangul and most emoji: none of these joins another one, so
 * each is a character of its own. A segmenter needs a hundred times as long to say so.
 */
const separate =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u{1f300}-\u{1f3fa}\u{1f400}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}]*$/u;

/** Measures any of the texts; loads string-width, which knows CJK, emoji and combining marks, only if one needs it. */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return remembering((await import('string-width')).default);
  }
  return (text) => text.length;
}

/** Adds up the characters; measures each text, and each character in them, once. */
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

/** The characters of a text as a person counts them, in time linear in its length. */
export function charactersOf(text: string): Iterable<string> {
  return separate.test(text) ? text : segmentsOf(text);
}

/** Long enough for any character, and short enough for a segmenter, which takes quadratic time. */
const windowLength = 256;

function* segmentsOf(text: string): Generator<string> {
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
