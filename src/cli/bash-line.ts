/** A command line up to the cursor, parsed as bash does. */
interface BashLine {
  /** The words before the one at the cursor, without their quotes. */
  readonly words: readonly string[];
  readonly current: string;
  /** The words in the form in which readline must insert them. */
  quoted(words: readonly string[]): string[];
}

/** COMP_WORDBREAKS as bash begins with it; other programs' completions take characters out of it. */
const usualBreaks = '"\'@><=;|&(:';

/**
 * Parses a line of bash with quotes, backslashes and an unfinished last word. It expands nothing.
 *
 * @param line `$COMP_LINE` up to `$COMP_POINT`.
 * @param wordBreaks `$COMP_WORDBREAKS`: readline replaces only the text after the last of these characters.
 */
export function readBashLine(line: string, wordBreaks = usualBreaks): BashLine {
  const words: string[] = [];
  let current = '';
  let hasBegun = false;
  let open = '';
  // The part of the current word that readline does not replace.
  let kept = '';
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (open !== '' && char === open) {
      open = '';
      kept = current;
    } else if (open !== "'" && char === '\\') {
      at += 1;
      const next = line[at] ?? '';
      current += open === '"' && !/["\\$`]/.test(next) ? char + next : next;
      hasBegun = true;
    } else if (open !== '') current += char;
    else if (char === '"' || char === "'") {
      open = char;
      kept = current;
      hasBegun = true;
    } else if (/\s/.test(char)) {
      if (hasBegun) words.push(current);
      current = '';
      kept = '';
      hasBegun = false;
    } else {
      current += char;
      hasBegun = true;
      if (wordBreaks.includes(char)) kept = current;
    }
  }
  return {
    words,
    current,
    quoted(offers) {
      const inserted = offers.map((word) => quote(replaced(word, kept), open));
      const [only] = inserted;
      // readline closes the quote of a single match, unless its last character is that quote.
      return inserted.length === 1 && open !== '' && only?.endsWith(open) ? [only + open] : inserted;
    },
  };
}

/** The part of an offered word that readline inserts; the typed letters may differ in case. */
function replaced(word: string, kept: string): string {
  return word.toLowerCase().startsWith(kept.toLowerCase()) ? word.slice(kept.length) : word;
}

function quote(text: string, open: string): string {
  if (open === "'") return text.replaceAll("'", "'\\''");
  // Inside double quotes an interactive bash also expands `!`, and no backslash there prevents that.
  if (open === '"') return text.replace(/["\\$`]/g, '\\$&').replaceAll('!', '"\\!"');
  return text.replace(/[^\p{L}\p{M}\p{N}_@%+=:,./-]/gu, '\\$&');
}
