import { type JsonValue, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { counted, escapeSurrogates, sanitize, sanitizeExcept } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import type { Style } from './style.ts';

/** A print job: the columns, the shape of the records, and the output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** `list` prints a list even of a single record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly style: Style;
  /** Returns the value to print in JSON and YAML: the whole record, or the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns records into text, piece by piece. */
export interface Writer<Entity> {
  /** Returns the text of some records, of which there is at least one. */
  print(records: readonly Entity[]): string | Promise<string>;
  end(): string | Promise<string>;
  /**
   * Returns the rest of the text after an error has ended the records. A JSON document stays unclosed, so that a parser
   * notices that it is incomplete.
   */
  abandon?(): string | Promise<string>;
  /** Returns a line for people and for the logs of programs, after the end of the text. */
  warning?(): string | undefined;
}

/** Creates a writer of one JSON document: an array, or an object. It is indented on a terminal, and compact elsewhere. */
export function createJsonWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const indent = job.isTerminal ? 2 : 0;
  const toText = (record: Entity) => printJson(job.value(record), indent);
  if (job.shape === 'record') return { print: (records) => records.map(toText).join(''), end: () => '\n' };
  const [open, next, close] = job.isTerminal ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  const item = job.isTerminal ? (record: Entity) => toText(record).replaceAll('\n', '\n  ') : toText;
  let separator = open;
  return {
    print(records) {
      const text = separator + records.map(item).join(next);
      separator = next;
      return text;
    },
    end: () => (separator === open ? '[]\n' : close),
  };
}

/** Creates a writer of JSON Lines: one record a line. */
export function createJsonLinesWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  return {
    print: (records) => records.map((record) => `${printJson(job.value(record))}\n`).join(''),
    end: () => '',
  };
}

/** Creates a writer of one YAML document: a sequence of mappings, or a mapping. */
export function createYamlWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  let isEmpty = true;
  return {
    async print(records) {
      isEmpty = false;
      const { print } = await loadYaml();
      const values = records.map(job.value);
      const toText = (value: unknown) => (job.isTerminal ? sanitizeExcept(print(value), '\n') : print(value));
      return job.shape === 'list' ? toText(values) : values.map(toText).join('');
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}

/**
 * Creates a writer of CSV as in RFC 4180, but with LF at the end of a line. Text that a spreadsheet would run as a formula
 * gets a leading `'`.
 */
export function createCsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const toSafe = safeText(job, '\t\n');
  return createDelimitedWriter(job, ',', (value) =>
    quoteCell(toSafe(typeof value === 'string' ? withGuard(value) : cellText(value)), ','),
  );
}

/** Puts a cell in quotes if RFC 4180 asks for them, or, between tabs, if a reader could take a backslash for an escape. */
export function quoteCell(cell: string, delimiter: string): string {
  const needsQuotes = delimiter === '\t' ? /["\r\n\\]/ : /["\r\n]/;
  const isPlain = !needsQuotes.test(cell) && !cell.includes(delimiter);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** Matches text that a spreadsheet would run as a formula, and such text with `'` before it. */
const formula = /^'*[=+\-@＝＋－＠\t\r\n]/;

/** Puts a `'` before a text that a spreadsheet would run as a formula, or that has such a `'` already. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the `'` that `withGuard` has put before a text. */
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

/** Prints a text as a cell of tab-separated text. A quote that begins a cell is escaped, because readers take it for a quoted cell. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]|^"/g, (character) => tsvEscapes[character] ?? character);
}

/** Creates a writer of tab-separated text. It writes tab, newline, CR, backslash and a leading quote as `\t \n \r \\ \"`. */
export function createTsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const toSafe = safeText(job, '');
  return createDelimitedWriter(job, '\t', (value) => toSafe(tsvCell(cellText(value))));
}

/** Creates a writer of the first column, one id a line. It leaves out records without an id; a warning counts them. */
export function createIdsWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const [column] = job.columns;
  const toSafe = safeText(job, '');
  let withoutId = 0;
  const line = (record: Entity) => {
    const value = cellText(column?.value(record));
    // A line break would make one value two.
    const text = /[\r\n]/.test(value) ? sanitize(value) : toSafe(value);
    if (text === '') withoutId += 1;
    return text === '' ? '' : `${text}\n`;
  };
  return {
    print: (records) => records.map(line).join(''),
    end: () => '',
    warning: () =>
      withoutId === 0
        ? undefined
        : `warning: left out ${counted(withoutId, 'record', 'records')} without ${column?.name}`,
  };
}

/**
 * Returns a function that makes the text of a cell safe to show on a terminal. In a file or a pipe the text is data, and
 * stays as it is.
 *
 * @param allowed controls that also a terminal gets.
 */
function safeText(
  { isTerminal }: Pick<PrintJob<unknown>, 'isTerminal'>,
  allowed: string,
): (text: string) => string {
  return isTerminal ? (text) => sanitizeExcept(text, allowed) : escapeSurrogates;
}

function createDelimitedWriter<Entity>(
  { columns, header }: PrintJob<Entity>,
  delimiter: string,
  toCell: (value: JsonValue | undefined) => string,
): Writer<Entity> {
  let head = header ? `${columns.map(({ name }) => name).join(delimiter)}\n` : '';
  const takeHead = () => {
    const text = head;
    head = '';
    return text;
  };
  const line = (record: Entity) =>
    `${columns.map((column) => toCell(column.value(record))).join(delimiter)}\n`;
  return { print: (records) => takeHead() + records.map(line).join(''), end: takeHead };
}
