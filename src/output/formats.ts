import { type JsonValue, printJson } from '../process/exact-json.ts';
import { escapeSurrogates, sanitize } from '../process/text.ts';
import { cellText } from './columns.ts';
import type { Print, PrintJob } from './print-job.ts';
import { printTable } from './table.ts';

/** Prints one JSON document: an array, or an object. It is indented on a terminal, otherwise compact. */
const printJsonDocument: Print = async function* (job, pieces) {
  const indent = job.isTerminal ? 2 : 0;
  const isList = job.shape === 'list';
  const [open, next, close] = job.isTerminal ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  let separator = open;
  for await (const records of pieces) {
    const texts = records.map((record) => printJson(job.value(record), indent));
    if (!isList) yield texts.join('');
    else yield separator + texts.map((text) => (indent ? text.replaceAll('\n', '\n  ') : text)).join(next);
    separator = next;
  }
  if (!isList) yield '\n';
  else yield separator === open ? '[]\n' : close;
};

/** Prints JSON Lines: one record a line. */
const printJsonLines: Print = async function* ({ value }, pieces) {
  for await (const records of pieces) yield records.map((record) => `${printJson(value(record))}\n`).join('');
};

/** Prints one YAML document: a sequence of mappings, or a mapping. */
const printYaml: Print = async function* (job, pieces) {
  const { loadYaml } = await import('../process/exact-yaml.ts');
  const { print } = await loadYaml();
  const toText = (value: unknown) => (job.isTerminal ? sanitize(print(value), '\n') : print(value));
  let isEmpty = true;
  for await (const records of pieces) {
    isEmpty = false;
    const values = records.map(job.value);
    yield job.shape === 'list' ? toText(values) : values.map(toText).join('');
  }
  if (isEmpty) yield '[]\n';
};

/** Prints CSV (RFC 4180), but with LF at the end of a line. Text that a spreadsheet would run as a formula gets a leading `'`. */
const printCsv: Print = (job, pieces) => {
  const toSafe = safeText(job, '\t\n');
  return printDelimited(job, pieces, ',', (value) =>
    quoteCell(toSafe(typeof value === 'string' ? withGuard(value) : cellText(value)), ','),
  );
};

/** Quotes a cell if RFC 4180 requires it. With tabs as delimiters, also if a reader could take a backslash for an escape. */
export function quoteCell(cell: string, delimiter: string): string {
  const needsQuotes = delimiter === '\t' ? /["\r\n\\]/ : /["\r\n]/;
  const isPlain = !needsQuotes.test(cell) && !cell.includes(delimiter);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** Matches text that a spreadsheet would run as a formula, also in full-width forms, and such text after a `'`. */
const formula = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;

/** Puts a `'` before a text that a spreadsheet would run as a formula, and before one that already has such a `'`. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the `'` of `withGuard`. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

const tsvEscapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\\': '\\\\',
  '"': '\\"',
};

/** Escapes a cell of tab-separated text. A leading quote is escaped, because readers would take it for the start of a quoted cell. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]|^"/g, (character) => tsvEscapes[character] ?? character);
}

/** Prints tab-separated text. Tab, newline, CR, backslash and a leading quote are `\t \n \r \\ \"`. */
const printTsv: Print = (job, pieces) => {
  const toSafe = safeText(job, '');
  return printDelimited(job, pieces, '\t', (value) => toSafe(tsvCell(cellText(value))));
};

/** Prints the first column, one id a line. Every record has an id. */
const printIds: Print = async function* (job, pieces) {
  const toSafe = safeText(job, '');
  for await (const records of pieces) {
    const ids = records.map((record) => cellText(job.columns[0]?.value(record)));
    yield ids.map((id) => `${toSafe(id)}\n`).join('');
  }
};

/**
 * Returns a function that makes the text of a cell safe to show on a terminal. In a file or a pipe the text stays unchanged, because
 * it is data.
 *
 * @param allowed the controls that stay unchanged on a terminal too.
 */
function safeText(
  { isTerminal }: Pick<PrintJob<unknown>, 'isTerminal'>,
  allowed: string,
): (text: string) => string {
  return isTerminal ? (text) => sanitize(text, allowed) : escapeSurrogates;
}

async function* printDelimited<Entity>(
  { columns, header }: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
  delimiter: string,
  toCell: (value: JsonValue | undefined) => string,
): AsyncGenerator<string> {
  let head = header ? `${columns.map(({ name }) => name).join(delimiter)}\n` : '';
  const line = (record: Entity) =>
    `${columns.map((column) => toCell(column.value(record))).join(delimiter)}\n`;
  for await (const records of pieces) {
    yield head + records.map(line).join('');
    head = '';
  }
  yield head;
}

interface Format {
  /** Its line in `petstore help formats`. */
  readonly summary: string;
  /** Text for people; or data: cells under a header, ids, or whole records. */
  readonly content: 'text' | 'cells' | 'ids' | 'documents';
  /** True if errors are JSON too. */
  readonly hasJsonErrors?: true;
  readonly print: Print;
}

/** All facts about each format of `--output`. */
const formatTable = {
  table: {
    summary:
      'the default: framed on a terminal that is wide enough, else columns with two spaces between. Nothing is cut',
    content: 'text',
    print: printTable,
  },
  json: {
    summary: 'one JSON document: an object for one record, an array for several',
    content: 'documents',
    hasJsonErrors: true,
    print: printJsonDocument,
  },
  jsonl: {
    summary:
      'one record a line, as pages arrive: petstore pets list -o jsonl | while read -r pet; do ...; done',
    content: 'documents',
    hasJsonErrors: true,
    print: printJsonLines,
  },
  csv: {
    summary:
      "RFC 4180 with LF. Text that a spreadsheet would run as a formula gets a leading ', which --from removes",
    content: 'cells',
    print: printCsv,
  },
  tsv: {
    summary: 'tab, newline, CR, backslash and a leading quote as \\t, \\n, \\r, \\\\ and \\"; never quotes',
    content: 'cells',
    print: printTsv,
  },
  yaml: {
    summary: 'a YAML document, texts in quotes',
    content: 'documents',
    print: printYaml,
  },
  ids: { summary: 'one id a line: the first column', content: 'ids', print: printIds },
} satisfies Record<string, Format>;

export type OutputFormat = keyof typeof formatTable;
export const formats: Readonly<Record<OutputFormat, Format>> = formatTable;
