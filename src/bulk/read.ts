import { createHash, type Hash } from 'node:crypto';
import { type Member, membersOf } from '../input/json.ts';
import { type InputFormat, readRecords } from '../input/read-records.ts';
import type { InputRecord } from '../input/record.ts';
import type { Source } from '../input/source.ts';
import { InputError, ManyError } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import type { Count } from './number-lists.ts';
import {
  createCsvParser,
  createJsonParser,
  findColumns,
  isIssue,
  type ParseRow,
  type ReadOptions,
  type RowIssue,
} from './parse.ts';
import { type InvalidRow, Rows, type RowValues } from './rows.ts';
import { type Shard, shardOf } from './run-flags.ts';

/** A complete input, read and checked. */
export interface RowInput {
  readonly source: Source;
  readonly options: ReadOptions;
  /** The valid rows, one for each pet of the shard. */
  readonly rows: Rows;
  /** The invalid rows, if they are to be skipped. */
  readonly invalid: readonly InvalidRow[];
  readonly issues: RowIssues;
  /** Undefined for an empty input. */
  readonly layout: InputFormat | undefined;
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** Of the valid ids and changes of a relative input; the order of its rows does not matter. */
  readonly delivery: string | undefined;
  /** The runs that rejected its rows, if it is a file of rejects. */
  readonly rejectedBy: readonly string[];
  /** Rows that repeat another row. */
  readonly repeated: number;
  /** Rows that were added to another row of their pet. */
  readonly summed: number;
  /** All data rows, and how many of them are not in `rows` although they are valid. */
  readonly total: number;
  readonly skipped: number;
}

/** All that is wrong with an input: a wrong file may have an issue in every row, so only the first three are kept. */
class RowIssues {
  /** Invalid rows. */
  invalid = 0;
  /** Rows that conflict with another row of their pet. */
  conflicts = 0;
  readonly first: RowIssue[] = [];
  /** How many rows each flag would let pass. */
  readonly remedies = new Map<string, number>();

  get count(): number {
    return this.invalid + this.conflicts;
  }

  add(issue: RowIssue, what: 'invalid' | 'conflicts'): void {
    const { remedy } = issue;
    this[what] += 1;
    if (remedy !== undefined) this.remedies.set(remedy, (this.remedies.get(remedy) ?? 0) + 1);
    if (this.first.length < 3) this.first.push(issue);
  }
}

/**
 * Reads the whole input before anything is sent. Keeps one row for each pet: equal rows count once, and relative ones are
 * added up if `sum` is set; all others are issues.
 *
 * @throws UsageError if rows cannot be recognised: another encoding, a header without the required columns, broken
 *   JSON, a quote that is never closed, a record over 1 MiB. Problems of single rows are in `issues`.
 */
export async function readRows(source: Source, options: ReadOptions): Promise<RowInput> {
  const { relative, sum, skipInvalid, shard } = options;
  const hash = createHash('sha256');
  const all = new Rows();
  const invalid: InvalidRow[] = [];
  const issues = new RowIssues();
  const rejectedBy = new Set<string>();
  let [repeated, summed] = [0, 0];
  const { layout, batches } = await openRows(source.name, hashed(source, hash), options);
  for await (const { records, parse, header } of batches) {
    const runOf = noteReader(header, '_run');
    for (const record of records) {
      const parsed = parse(record);
      const run = runOf(record);
      if (/^r[1-9]\d*$/.test(run)) rejectedBy.add(run);
      if (isIssue(parsed)) {
        const { message, cells = [] } = parsed;
        if (skipInvalid) invalid.push({ line: record.line, message, cells });
        issues.add(parsed, 'invalid');
        continue;
      }
      const first = all.find(parsed.id);
      if (first === undefined) {
        all.add(parsed);
        continue;
      }
      const isAlike = all.expected(first) === parsed.expected;
      const total = (all.change(first) ?? 0) + (parsed.change ?? 0);
      if (!relative && isAlike && all.after(first) === parsed.after) repeated += 1;
      else if (relative && sum && isAlike && Number.isSafeInteger(total)) {
        summed += 1;
        all.setChange(first, total);
      } else issues.add(conflictOf(all, first, parsed, relative && !sum ? '--sum' : undefined), 'conflicts');
    }
  }
  const rows = shard ? shardRows(all, shard) : all;
  const skipped = repeated + summed + all.length - rows.length;
  return {
    ...{ source, options, rows, invalid, issues, layout, repeated, summed, skipped },
    total: rows.length + skipped + issues.count,
    sha256: hash.digest('hex'),
    delivery: relative ? deliveryHash(all) : undefined,
    rejectedBy: [...rejectedBy],
  };
}

/** @param first the row of the same pet. */
function conflictOf(rows: Rows, first: number, parsed: RowValues, remedy: string | undefined): RowIssue {
  const text = (value: Count | undefined, expected: Count | undefined) =>
    `${value}${expected === undefined ? '' : ` (expected ${expected})`}`;
  const here = text(parsed.change ?? parsed.after, parsed.expected);
  const there = text(rows.change(first) ?? rows.after(first), rows.expected(first));
  const message = `pet ${parsed.id} has ${here} here and ${there} on line ${rows.line(first)}`;
  return { line: parsed.line, column: 1, message, remedy };
}

/** The hash of a delivery: of its pets and changes, sorted by pet. */
function deliveryHash(rows: Rows): string {
  const sorted = Uint32Array.from(rows.where(() => true));
  sorted.sort((one, other) => (rows.id(one) < rows.id(other) ? -1 : 1));
  const hash = createHash('sha256');
  for (let at = 0; at < sorted.length; at += 1000) {
    const texts = Array.from(
      sorted.subarray(at, at + 1000),
      (row) => `${rows.id(row)},${rows.change(row)}\n`,
    );
    hash.update(texts.join(''));
  }
  return hash.digest('hex');
}

function shardRows(all: Rows, { index, count }: Shard): Rows {
  const rows = new Rows();
  for (const row of all.where((each) => shardOf(all.id(each), count) === index))
    rows.add({
      id: all.id(row),
      after: all.after(row),
      change: all.change(row),
      expected: all.expected(row),
      line: all.line(row),
    });
  return rows;
}

/**
 * Reads what a file of rejects notes about its records: the cell of a column, or the member of that name as it is
 * written, without quotes; empty if there is none.
 *
 * @param header of CSV.
 */
export function noteReader(header: readonly string[], name: string): (record: InputRecord) => string {
  const at = header.findIndex((each) => each.trim() === name);
  return ({ cells, text = '' }) => {
    if (cells) return cells[at] ?? '';
    const member = text.includes(name) ? membersOrNone(text).find((each) => each.name === name) : undefined;
    return member ? text.slice(member.start, member.end).replaceAll('"', '') : '';
  };
}

/** The members of a record; none if it is not an object. */
export function membersOrNone(text: string): readonly Member[] {
  try {
    return isJsonObject(JSON.parse(text)) ? membersOf(text) : [];
  } catch {
    return [];
  }
}

/** The hash of the bytes of a source, in hexadecimal. */
export async function hashOf(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source.bytes()) hash.update(piece);
  return hash.digest('hex');
}

/** The bytes of a source, which the hash gets too. */
async function* hashed(source: Source, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const piece of source.bytes()) {
    hash.update(piece);
    yield piece;
  }
}

/** The data rows of an input, in order. */
interface RowStream {
  readonly layout: InputFormat | undefined;
  readonly batches: AsyncGenerator<{
    readonly records: readonly InputRecord[];
    readonly parse: ParseRow;
    /** Of CSV. */
    readonly header: readonly string[];
  }>;
}

/** Opens the rows of an input. A CSV row with only empty cells is skipped; spreadsheets leave such rows at the end. */
export async function openRows(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): Promise<RowStream> {
  const { format: layout, batches } = await readRecords(bytes, {
    name,
    rankHeader: (cells) => (options.columns || typeof findColumns(cells, options) === 'string' ? 0 : 1),
  });
  async function* rows(): RowStream['batches'] {
    let header = options.columns ?? [];
    let parse: ParseRow | undefined;
    const isTable = layout?.kind === 'csv' || layout?.kind === 'tsv';
    if (layout && !isTable) parse = createJsonParser(options);
    else if (options.columns) parse = parserOf(options.columns, { line: 1 }, name, options);
    for await (const batch of batches) {
      let records = batch;
      if (isTable && batch.some(isBlank)) records = batch.filter((each) => !isBlank(each));
      const [first] = records;
      if (!parse && first) {
        header = first.cells ?? [];
        parse = parserOf(header, first, name, options);
        records = records.slice(1);
      }
      for (const { problem, line, isBroken } of records)
        if (isBroken)
          throw new InputError(`${name}:${line}: ${problem}`, 'the file may be cut off: nothing was sent');
      if (parse && records.length > 0) yield { records, parse, header };
    }
  }
  return { layout, batches: rows() };
}

function isBlank({ cells, problem }: InputRecord): boolean {
  if (!cells || problem !== undefined) return false;
  for (const cell of cells) if (cell !== '' && cell.trim() !== '') return false;
  return true;
}

function parserOf(
  header: readonly string[],
  { line, problem }: Pick<InputRecord, 'line' | 'problem'>,
  name: string,
  options: ReadOptions,
): ParseRow {
  const columns = problem ?? findColumns(header, options);
  if (typeof columns !== 'string') return createCsvParser(header, columns, options);
  const seen = header.map((cell) => cell.trim() || "''").join(', ');
  throw new InputError(
    `${name}:${line}: ${columns}${header.length === 0 ? '' : `; the header has ${seen}`}`,
    'name the columns with --map petId=<column> --map quantity=<column>, or with --columns if there is no header',
  );
}

/**
 * Checks that an input can be applied.
 *
 * @returns warnings about rows that are left out.
 * @throws UsageError that shows the first problems, if there are any that are not to be skipped.
 */
export function checkRows({ source, options, issues, total, repeated, summed }: RowInput): string[] {
  const { name } = source;
  const { invalid, conflicts } = issues;
  if (conflicts > 0 || (invalid > 0 && !options.skipInvalid)) {
    const what = [
      ...(invalid > 0 ? [`${counted(invalid, 'row is', 'rows are')} invalid`] : []),
      ...(conflicts > 0
        ? [`${counted(conflicts, 'row conflicts', 'rows conflict')} with another row of the same pet`]
        : []),
    ];
    const summary = new InputError(
      `${name}: ${what.join(' and ')}; nothing was sent`,
      hintFor(issues, total),
    );
    const errors = issueLines(name, issues).map((line) => new InputError(line));
    throw new ManyError(summary.message, [...errors, summary], 0, summary.details);
  }
  if (total === 0) throw new InputError(`${name}: no data rows`);
  return [
    ...(invalid > 0 ? [`${name}: ${counted(invalid, 'row is', 'rows are')} invalid and skipped`] : []),
    ...issueLines(name, issues),
    ...(repeated > 0
      ? [`${name}: ${counted(repeated, 'row is', 'rows are')} repeated, and counted once`]
      : []),
    ...(summed > 0
      ? [`${name}: ${counted(summed, 'row was', 'rows were')} added to another row of the same pet`]
      : []),
  ];
}

function issueLines(name: string, { first, count }: RowIssues): string[] {
  const lines = first.map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  const more = count - first.length;
  return more > 0 ? [...lines, `and ${counted(more, 'more', 'more')} like this`] : lines;
}

/** The flag that lets most of the rows pass; to skip rows is only right if few are wrong. */
function hintFor({ remedies, invalid, conflicts, count }: RowIssues, rows: number): string | undefined {
  const [best] = [...remedies].sort(([, one], [, other]) => other - one);
  if (best && best[1] * 2 > count) {
    const [flag] = best;
    if (flag === '--relative') return 'if the rows are changes, add --relative';
    if (flag === '--sum') return 'if they are several deliveries, --sum adds them up';
    return `if that separates the thousands, add ${flag}`;
  }
  if (conflicts > 0) return 'remove all but one row of each pet';
  return invalid * 20 <= rows ? '--skip-invalid applies the other rows' : undefined;
}
