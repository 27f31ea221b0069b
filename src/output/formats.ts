import { type JsonValue, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { counted, hasRunnerCommand, sanitize, sanitizeExcept } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import type { Style } from './style.ts';

/** A print job: its columns, its shape and its output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** A list, even of one record, or a lone record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  /** The number of columns of the terminal. */
  readonly width: number;
  readonly style: Style;
  /** The record for formats with keys: whole, or only the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns a list into text, piece by piece. */
export interface Writer<Entity> {
  /** At least one record. */
  print(records: readonly Entity[]): string | Promise<string>;
  /** Text after the last record. */
  end(): string | Promise<string>;
  /**
   * Text if an error ends the records early. A JSON document stays unclosed, so that a parser notices that it is
   * incomplete.
   */
  abandon?(): string | Promise<string>;
  /** A line for people about the printed text, after its end. */
  notice?(): string | undefined;
  /** A line that programs need too, such as in a log. */
  warning?(): string | undefined;
}

/** One document: an array, or a lone object; indented on a terminal, compact elsewhere. */
export function createJsonWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const indent = job.isTerminal ? 2 : 0;
  const toText = (record: Entity) => printJson(job.value(record), indent);
  if (job.shape === 'record') return { print: (records) => records.map(toText).join(''), end: () => '\n' };
  const [open, next, close] = job.isTerminal ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  const item = job.isTerminal ? (record: Entity) => toText(record).replaceAll('\n', '\n  ') : toText;
  let before = open;
  return {
    print(records) {
      const text = before + records.map(item).join(next);
      before = next;
      return text;
    },
    end: () => (before === open ? '[]\n' : close),
  };
}

/** One record per line. */
export function createJsonLinesWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  return {
    print: (records) => records.map((record) => `${printJson(job.value(record))}\n`).join(''),
    end: () => '',
  };
}

/** A sequence of mappings, or a lone mapping. */
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
 * RFC 4180, but lines end in LF. Newlines and tabs are kept, other controls become visible escapes. Text that a
 * spreadsheet would run as a formula gets a leading `'`.
 */
export function createCsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const exceptions = keptInCsv(job);
  return createDelimitedWriter(job, ',', (value) => {
    const text = typeof value === 'string' ? withGuard(value) : cellText(value);
    return quoteCell(sanitizeExcept(text, exceptions), ',');
  });
}

/** A cell in quotes if it needs them, or if the runner of a CI job would obey it without. @see RFC 4180 */
export function quoteCell(cell: string, delimiter: string): string {
  const isPlain = !/["\r\n]/.test(cell) && !cell.includes(delimiter) && !hasRunnerCommand(cell);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** A text as a cell of a CSV file, before it is quoted. */
export function toCsvCell(text: string): string {
  return sanitizeExcept(withGuard(text), keptInCsv({ isTerminal: false }));
}

/** Matches text that a spreadsheet would run as a formula. */
const formula = /^[=+\-@＝＋－＠\t\r\n]/;

/** A text with a leading `'` if a spreadsheet would run it as a formula. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** The text of a cell without that `'`. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function keptInCsv(job: Pick<PrintJob<unknown>, 'isTerminal'>): string {
  return `\t\n${keptInFiles(job)}`;
}

const tsvEscapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** A text as a cell of tab-separated text. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (character) => tsvEscapes[character] ?? character);
}

/** Tab-separated; tab, newline, carriage return and backslash are written as `\t`, `\n`, `\r`, `\\`. */
export function createTsvWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const exceptions = keptInFiles(job);
  return createDelimitedWriter(job, '\t', (value) => sanitizeExcept(tsvCell(cellText(value)), exceptions));
}

/** One id per line: the first column. A record without an id is left out, and a warning counts such records. */
export function createIdsWriter<Entity>({ columns: [column] }: PrintJob<Entity>): Writer<Entity> {
  let missing = 0;
  const line = (record: Entity) => {
    const text = sanitize(cellText(column?.value(record)));
    if (text === '') missing += 1;
    return text === '' ? '' : `${text}\n`;
  };
  return {
    print: (records) => records.map(line).join(''),
    end: () => '',
    warning: () =>
      missing === 0
        ? undefined
        : `warning: left out ${counted(missing, 'record', 'records')} without ${column?.name}`,
  };
}

/**
 * Characters that are kept in files but not on a terminal: the carriage return, and joiners, which Persian, Hindi and
 * emoji need.
 */
function keptInFiles({ isTerminal }: Pick<PrintJob<unknown>, 'isTerminal'>): string {
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
