import { createLineSplitter } from './json.ts';
import type { RecordSplitter, SplitRecord } from './record.ts';

/**
 * How the cells of tab-separated text are written. `quoted`: as spreadsheets and databases write them, a cell in quotes if
 * it needs them. `escaped`: as `-o tsv` writes them. `plain`: neither, so that a backslash is a backslash.
 */
type TsvDialect = 'quoted' | 'escaped' | 'plain';

/**
 * Finds the dialect of a text by all of its cells. `-o tsv` writes no cell that begins with a quote, and no backslash that
 * begins no escape. `\N` alone is how databases write a cell without a value.
 */
export function tsvDialect(text: string): TsvDialect {
  if (/(?:^|[\t\r\n])"(?:[^"]|"")*"(?:[\t\r\n]|$)/.test(text)) return 'quoted';
  // Two backslashes are one character, so that the second one begins no escape.
  const isForeign = /\\(?:[^tnrN\\"]|$)|[^\t\r\n]\\"|[^\t\r\n]\\N|\\N[^\t\r\n]/.test(
    text.replaceAll('\\\\', ''),
  );
  return isForeign ? 'plain' : 'escaped';
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };

/** Splits tab-separated text without quotes: a record on each line. */
export function createTsvSplitter(dialect: 'escaped' | 'plain'): RecordSplitter {
  const lines = createLineSplitter();
  const toCell = dialect === 'escaped' ? unescapeCell : (cell: string) => cell;
  const toRecord = (record: SplitRecord): SplitRecord => {
    return record.problem ? record : { ...record, cells: record.text.split('\t').map(toCell) };
  };
  return {
    push: (piece) => lines.push(piece).map(toRecord),
    end: () => lines.end().map(toRecord),
  };
}

function unescapeCell(cell: string): string {
  if (!cell.includes('\\')) return cell;
  if (cell === '\\N') return '';
  return cell.replace(/\\([tnr\\"])/g, (_, letter: string) => escapes[letter] ?? '');
}
