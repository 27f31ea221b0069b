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
  if (hasQuotedCell(text)) return 'quoted';
  if (!text.includes('\\')) return 'escaped';
  // Two backslashes are one character, so that the second one begins no escape.
  const isForeign = /\\(?:[^tnrN\\"]|$)|[^\t\r\n]\\"|[^\t\r\n]\\N|\\N[^\t\r\n]/.test(
    text.replaceAll('\\\\', ''),
  );
  return isForeign ? 'plain' : 'escaped';
}

/** Whether a cell begins and ends with a quote, and has only doubled ones between. */
function hasQuotedCell(text: string): boolean {
  for (const { index, 0: opening } of text.matchAll(/(?:^|[\t\r\n])"/g)) {
    let close = text.indexOf('"', index + opening.length);
    while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
    if (close === -1) return false;
    if (close === text.length - 1 || /[\t\r\n]/.test(text.charAt(close + 1))) return true;
  }
  return false;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };

/** Splits tab-separated text without quotes: a record on each line. */
export function createTsvSplitter(dialect: 'escaped' | 'plain'): RecordSplitter {
  const lines = createLineSplitter();
  const toCell = dialect === 'escaped' ? unescapeCell : (cell: string) => cell;
  const toRecord = (record: SplitRecord): SplitRecord => {
    const { line, text, problem } = record;
    return problem ? record : { line, text, cells: text.split('\t').map(toCell) };
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
