import { createHash, type Hash } from 'node:crypto';
import type { InputRecord } from '../input/record.ts';
import { type Layout, readRecords } from '../input/records.ts';
import type { Source } from '../input/source.ts';
import { InputError } from '../process/errors.ts';
import {
  createCsvParser,
  createJsonParser,
  findColumns,
  isIssue,
  type ParseRow,
  type ReadOptions,
  type RowIssue,
} from './parse.ts';
import { Rows } from './rows.ts';
import { type Shard, shardOf } from './run-flags.ts';
import { parseId } from './values.ts';

/** A complete input, read and checked. */
export interface RowInput {
  readonly source: Source;
  readonly options: ReadOptions;
  readonly rows: Rows;
  readonly issues: RowIssues;
  /** Undefined for an empty input. */
  readonly layout: Layout | undefined;
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** Rows that repeat another row. */
  readonly same: number;
  /** Rows that were dropped, or added to another one, by the rule. */
  readonly overruled: number;
  /** Different rows of one pet without a rule to choose one. */
  readonly conflicts: RowIssues;
}

/** Keeps the first few issues and counts all: a wrong file may have one in every row. */
export class RowIssues {
  count = 0;
  readonly first: RowIssue[] = [];

  add(issue: RowIssue): void {
    this.count += 1;
    if (this.first.length < 20) this.first.push(issue);
  }
}

/**
 * Reads the whole input before anything is sent.
 *
 * @throws UsageError if rows cannot be recognised: another encoding, a header without the required columns, broken
 *   JSON, a quote that is never closed, a record over 1 MiB. Problems of single rows are in `issues`.
 */
export async function readRows(source: Source, options: ReadOptions): Promise<RowInput> {
  const hash = createHash('sha256');
  const rows = new Rows();
  const issues = new RowIssues();
  const { layout, batches } = await openRows(source.name, hashed(source, hash), options);
  for await (const { records, parse } of batches)
    for (const record of records) {
      const parsed = parse(record);
      if (isIssue(parsed)) {
        rows.addInvalid(record.line);
        issues.add(parsed);
      } else rows.add(parsed);
    }
  const duplicates = resolveDuplicates(rows, options.onDuplicate);
  if (options.shard) skipOtherShards(rows, options.shard);
  return { source, options, rows, issues, layout, sha256: hash.digest('hex'), ...duplicates };
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
  readonly layout: Layout | undefined;
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
  const { layout, batches } = await readRecords(bytes, {
    name,
    format: options.format ?? undefined,
    delimiter: options.delimiter || undefined,
    rankHeader: (cells) => (options.columns || typeof findColumns(cells, options) === 'string' ? 0 : 1),
  });
  async function* rows(): RowStream['batches'] {
    let header = options.columns ?? [];
    let parse: ParseRow | undefined;
    if (layout && layout.format !== 'csv') parse = createJsonParser(options);
    else if (options.columns) parse = parserOf(options.columns, { line: 1 }, name, options);
    for await (const batch of batches) {
      let records = batch;
      if (layout?.format === 'csv' && batch.some(isBlank)) records = batch.filter((each) => !isBlank(each));
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

/** Keeps one row for each pet, and skips the others. */
function resolveDuplicates(
  rows: Rows,
  rule: ReadOptions['onDuplicate'],
): Pick<RowInput, 'same' | 'overruled' | 'conflicts'> {
  const conflicts = new RowIssues();
  let [same, overruled] = [0, 0];
  for (const row of rows.inState('unprocessed')) {
    const before = rows.indexRow(row);
    if (before === undefined) continue;
    const change = rows.change(row);
    const isRelative = change !== undefined;
    const isAlike = rows.expected(row) === rows.expected(before);
    const isSame = !isRelative && isAlike && rows.quantity(row) === rows.quantity(before);
    const sum = (change ?? 0) + (rows.change(before) ?? 0);
    const mayAdd = rule === 'sum' && isRelative && isAlike && Number.isSafeInteger(sum);
    const loser = rule === 'last' && !isSame ? before : row;
    if (loser === row) rows.indexRow(before);
    if (isSame) same += 1;
    else if (mayAdd) rows.setChange(before, sum);
    if (!isSame) overruled += 1;
    if (isSame || mayAdd || rule === 'first' || rule === 'last') rows.setState(loser, 'skipped');
    else {
      rows.setState(row, 'invalid');
      conflicts.add({ line: rows.line(row), column: 1, message: describeConflict(rows, row, before) });
    }
  }
  return { same, overruled, conflicts };
}

function describeConflict(rows: Rows, row: number, before: number): string {
  const [here, there] = [row, before].map((each) => {
    const expected = rows.expected(each);
    return `${rows.change(each) ?? rows.quantity(each)}${expected === undefined ? '' : ` (expected ${expected})`}`;
  });
  return `pet ${rows.id(row)} is ${here} here and ${there} on line ${rows.line(before)}`;
}

function skipOtherShards(rows: Rows, { index, count }: Shard): void {
  for (const row of rows.inState('unprocessed'))
    if (shardOf(rows.id(row), count) !== index) rows.setState(row, 'skipped');
}

/** A table of keys and ids, given by `--key SKU=skus.csv`. */
interface KeyTable {
  readonly ids: ReadonlyMap<string, number | bigint>;
  /** Of the table's bytes, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads a table of two columns: the key, and the id of its pet. A first row without an id is a header.
 *
 * @throws UsageError for a row that is not a key and an id, or for a key with two ids.
 */
export async function readKeys(source: Source): Promise<KeyTable> {
  const { name } = source;
  const hash = createHash('sha256');
  const ids = new Map<string, number | bigint>();
  let isFirst = true;
  for await (const batch of (await readRecords(hashed(source, hash), { name, format: 'csv' })).batches)
    for (const record of batch) {
      if (isBlank(record)) continue;
      const [key = '', text = ''] = (record.cells ?? []).map((cell) => cell.trim());
      const id = parseId(text);
      const isHeader = isFirst && id === undefined;
      isFirst = false;
      const refuse = (why: string) => new InputError(`${name}:${record.line}: ${why}`);
      if (record.problem !== undefined) throw refuse(record.problem);
      if (record.cells?.length !== 2) throw refuse('a table of keys has two columns');
      if (isHeader) continue;
      if (id === undefined || key === '') throw refuse('must be a key and the id of a pet');
      const known = ids.get(key);
      if (known !== undefined && known !== id)
        throw refuse(`${key} is pet ${id} here and pet ${known} above`);
      ids.set(key, id);
    }
  return { ids, sha256: hash.digest('hex') };
}
