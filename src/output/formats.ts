import { type JsonValue, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { counted, hasRunnerCommand, sanitize, sanitizeExcept } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import type { Style } from './style.ts';

/** A print job: the columns, the shape of the records, and the output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** `list` prints a list even of a single record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  /** The number of columns of the terminal. */
  readonly width: number;
  readonly style: Style;
  /** Returns the value to print in JSON and YAML: the whole record, or the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns records into text, piece by piece. */
export interface Writer<Entity> {
  /** Returns the text of some records, of which there is at least one. */
  print(records: readonly Entity[]): string | Promise<string>;
  /** Returns the text after the last record. */
  end(): string | Promise<string>;
  /**
   * Returns the rest of the text after an error has ended the records. A JSON document stays unclosed, so that a parser
   * notices that it is incomplete.
   */
  abandon?(): string | Promise<string>;
  /** Returns a line for people about the printed text, after its end. */
  notice?(): string | undefined;
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
      return job.shape === 'list' ? print(values) : values.map(print).join('');
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}

/**
 * Creates a writer of CSV as in RFC 4180, but with LF at the end of a line. Newlines and tabs stay; other control
 * characters become visible escapes. Text that a spreadsheet would run as a formula gets a leading `'`.
 */
export function createCsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const exceptions = csvExceptions(job);
  return createDelimitedWriter(job, ',', (value) => {
    const text = typeof value === 'string' ? withGuard(value) : cellText(value);
    return quoteCell(sanitizeExcept(text, exceptions), ',');
  });
}

/** Puts a cell in quotes if RFC 4180 asks for them, or if the runner of a CI job would obey the bare text. */
export function quoteCell(cell: string, delimiter: string): string {
  const isPlain = !/["\r\n]/.test(cell) && !cell.includes(delimiter) && !hasRunnerCommand(cell);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** Prints a text as a cell of a CSV file, without quotes. */
export function toCsvCell(text: string): string {
  return sanitizeExcept(withGuard(text), csvExceptions({ isTerminal: false }));
}

/** Matches text that a spreadsheet would run as a formula. */
const formula = /^[=+\-@＝＋－＠\t\r\n]/;

/** Puts a `'` before a text that a spreadsheet would run as a formula. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the `'` that `withGuard` has put before a text. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function csvExceptions(job: Pick<PrintJob<unknown>, 'isTerminal'>): string {
  return `\t\n${fileExceptions(job)}`;
}

const tsvEscapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** Prints a text as a cell of tab-separated text. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (character) => tsvEscapes[character] ?? character);
}

/** Creates a writer of tab-separated text. It writes tab, newline, carriage return and backslash as `\t`, `\n`, `\r`, `\\`. */
export function createTsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const exceptions = fileExceptions(job);
  return createDelimitedWriter(job, '\t', (value) => sanitizeExcept(tsvCell(cellText(value)), exceptions));
}

/** Creates a writer of the first column, one id a line. It leaves out records without an id; a warning counts them. */
export function createIdsWriter<Entity>({ columns: [column] }: PrintJob<Entity>): Writer<Entity> {
  let withoutId = 0;
  const line = (record: Entity) => {
    const text = sanitize(cellText(column?.value(record)));
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
 * Returns the control characters that stay in a file. On a terminal none stays. They are the carriage return, and the
 * joiners that Persian, Hindi and emoji need.
 */
function fileExceptions({ isTerminal }: Pick<PrintJob<unknown>, 'isTerminal'>): string {
  return isTerminal ? '' : '\u200c\u200d\r';
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
