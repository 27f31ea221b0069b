import { type JsonValue, printJson } from '../process/exact-json.ts';
import { escapeSurrogates, sanitize } from '../process/text.ts';
import { type CellDialect, csv, tsv } from './cells.ts';
import { cellText, type Print } from './columns.ts';
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

/** Makes the function that prints records as lines of cells under a header. A line ends with LF. */
function printCells({ toCell, guard }: CellDialect, delimiter: string): Print {
  const cellOf = (value: JsonValue | undefined) =>
    toCell(typeof value === 'string' ? guard(value) : cellText(value), delimiter);
  return async function* ({ columns, hasHeader, isTerminal }, pieces) {
    let head = hasHeader ? `${columns.map(({ name }) => name).join(delimiter)}\n` : '';
    for await (const records of pieces) {
      const lines = records.map((record) =>
        columns.map((column) => cellOf(column.value(record))).join(delimiter),
      );
      yield head + lines.map((line) => `${safeText(line, isTerminal, '\t\n')}\n`).join('');
      head = '';
    }
    yield head;
  };
}

/** Prints the first column, one id a line. Every record has an id. */
const printIds: Print = async function* ({ columns: [column], isTerminal }, pieces) {
  for await (const records of pieces) {
    const ids = records.map((record) => safeText(cellText(column?.value(record)), isTerminal));
    yield ids.map((id) => `${id}\n`).join('');
  }
};

/**
 * Makes data safe to show on a terminal. In a file or a pipe it stays unchanged.
 *
 * @param allowed the controls that stay on a terminal too.
 */
function safeText(text: string, isTerminal: boolean, allowed = ''): string {
  return isTerminal ? sanitize(text, allowed) : escapeSurrogates(text);
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

/** The formats of `--output`, each with all that differs. */
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
    print: printCells(csv, ','),
  },
  tsv: {
    summary: 'tab, newline, CR, backslash and a leading quote as \\t, \\n, \\r, \\\\ and \\"; never quotes',
    content: 'cells',
    print: printCells(tsv, '\t'),
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
