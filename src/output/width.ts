/** How many columns of a terminal a text takes; the text has no control characters. */
export type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** Measures any of the texts; what knows CJK, emoji and combining marks is loaded only where one of them needs it. */
export async function createMeasure(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!isAscii(text)) return (await import('string-width')).default;
  }
  return (text) => text.length;
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
