// The cells of CSV (RFC 4180) and of our tab-separated text. What `list` prints, `--from` reads back to the same texts.

/** How the cells of a kind of table are written. */
export interface CellDialect {
  /** Writes a text as a cell: with quotes or escapes, if it needs them. */
  toCell(text: string, delimiter: string): string;
  /** Puts a `'` before a text that a spreadsheet would run as a formula, and before one that already has such a `'`. */
  guard(text: string): string;
  /** Removes the `'` of `guard`. */
  unguard(text: string): string;
}

/** Matches text that a spreadsheet would run as a formula, also in full-width forms, and such text after a `'`. */
const formula = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;

export const csv: CellDialect = {
  toCell(text, delimiter) {
    // With tabs as delimiters, a reader could take a backslash for an escape.
    const needsQuotes = delimiter === '\t' ? /["\r\n\\]/ : /["\r\n]/;
    const isPlain = !needsQuotes.test(text) && !text.includes(delimiter);
    return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
  },
  guard: (text) => (formula.test(text) ? `'${text}` : text),
  unguard: (text) => (text.startsWith("'") && formula.test(text) ? text.slice(1) : text),
};

/** The letters of the escapes, by the characters that they stand for. */
const letters: Readonly<Record<string, string>> = { '\t': 't', '\n': 'n', '\r': 'r', '\\': '\\', '"': '"' };
const characters = new Map(Object.entries(letters).map(([character, letter]) => [letter, character]));

/** Tab-separated text has no quotes, so a leading quote is escaped: readers would take it for the start of a quoted cell. */
export const tsv: CellDialect = {
  toCell: (text) => text.replace(/[\t\n\r\\]|^"/g, (character) => `\\${letters[character]}`),
  guard: (text) => text,
  unguard: (text) => text,
};

/** Returns the text of a cell of tab-separated text. */
export function unescapeCell(cell: string): string {
  return cell.replace(/\\([tnr\\"])/g, (_, letter: string) => characters.get(letter) ?? '');
}
