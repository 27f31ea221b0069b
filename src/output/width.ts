/** How many columns of a terminal a text takes; the text has no control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;

/** Measures any of the texts; what knows CJK, emoji and combining marks is loaded only where one of them needs it. */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) return (await import('string-width')).default;
  }
  return (text) => text.length;
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

/** Lines of at most `width` columns: broken at spaces where there are some, else between characters. */
export function wrap(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((part) => cut(part, width, measure))) {
    if (line === '') line = word;
    else if (measure(line) + 1 + measure(word) <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

/** A word in pieces of at most `width` columns; a character is never cut, even where it is wider. */
function cut(word: string, width: number, measure: Measure): string[] {
  if (measure(word) <= width) return [word];
  const pieces = [''];
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(word)) {
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
