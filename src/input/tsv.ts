import { createLineSplitter } from './json.ts';
import { maxRecordLength, type RecordSplitter, type SplitRecord } from './record.ts';

/**
 * How the cells of tab-separated text are written. `quoted`: as spreadsheets and databases write them, a cell in quotes if
 * it needs them. `escaped`: as `-o tsv` writes them. `plain`: neither, so that a backslash is a backslash.
 */
type TsvDialect = 'quoted' | 'escaped' | 'plain';

/** Matches a backslash that `-o tsv` does not write. `\N` alone is how databases write a cell without a value. */
const foreignBackslash = /\\(?:[^tnrN\\"]|$)|[^\t\r\n]\\"|[^\t\r\n]\\N|\\N[^\t\r\n]/;

/**
 * Finds the dialect of tab-separated text by all of its cells. Text with a cell between quotes is quoted, because `-o tsv`
 * writes no cell that begins with a quote. Text with a backslash that begins no escape is plain. Other text is escaped.
 */
export async function findTsvDialect(pieces: AsyncIterable<string>): Promise<TsvDialect> {
  let dialect: TsvDialect = 'escaped';
  let rest = '\n';
  for await (const piece of pieces) {
    const text = rest + piece;
    const { isQuoted, openAt } = findQuotedCell(text);
    if (isQuoted) return 'quoted';
    // The last line may go on in the next piece, and so may a cell that begins with a quote.
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
    if (hasForeignBackslash(text.slice(0, end))) dialect = 'plain';
    rest = text.slice(Math.min(end, openAt ?? end));
    if (rest.length > 2 * maxRecordLength) rest = text.slice(end);
    if (rest.length > 2 * maxRecordLength) return dialect;
  }
  if (findQuotedCell(`${rest}\n`).isQuoted) return 'quoted';
  return hasForeignBackslash(rest) ? 'plain' : dialect;
}

function hasForeignBackslash(text: string): boolean {
  if (!text.includes('\\')) return false;
  // Two backslashes are one character, so that the second one begins no escape.
  return foreignBackslash.test(text.replaceAll('\\\\', ''));
}

/** Looks for a cell between quotes, inner ones doubled. @returns `openAt` the index before a quote that may be closed later */
function findQuotedCell(text: string): { readonly isQuoted: boolean; readonly openAt?: number } {
  for (const { index } of text.matchAll(/[\t\r\n]"/g)) {
    let close = text.indexOf('"', index + 2);
    while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
    if (close === -1 || close === text.length - 1) return { isQuoted: false, openAt: index };
    if (/[\t\r\n]/.test(text.charAt(close + 1))) return { isQuoted: true };
  }
  return { isQuoted: false };
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };

/** Splits tab-separated text without quotes: a record on each line. */
export function createTsvSplitter(dialect: 'escaped' | 'plain'): RecordSplitter {
  const lines = createLineSplitter();
  const toCell = dialect === 'escaped' ? unescapeCell : (cell: string) => cell;
  const toRecord = (record: SplitRecord): SplitRecord => {
    const { text, line } = record;
    return text === undefined ? record : { line, cells: text.split('\t').map(toCell) };
  };
  return {
    push: (piece) => lines.push(piece).map(toRecord),
    end: () => lines.push('\n').map(toRecord),
  };
}

function unescapeCell(cell: string): string {
  if (!cell.includes('\\')) return cell;
  if (cell === '\\N') return '';
  return cell.replace(/\\([tnr\\"])/g, (_, letter: string) => escapes[letter] ?? '');
}
