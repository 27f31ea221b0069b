import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import type { InputRecord } from '../input/record.ts';
import { type Layout, type RecordFormat, readRecords } from '../input/records.ts';
import type { Source } from '../input/source.ts';
import { type ColumnMap, findColumns } from './columns.ts';
import { type DuplicateRule, type Duplicates, resolveDuplicates } from './duplicates.ts';
import { createCsvParser, createJsonParser, isIssue, type ParseRow } from './parse-row.ts';
import { mostIssues, RowIssues } from './row-issues.ts';
import { Rows } from './rows.ts';
import { type Shard, shardOf } from './shard.ts';

/** How an input is to be read: with the same options the same bytes give the same rows. */
export interface ReadOptions {
  readonly format?: RecordFormat | undefined;
  readonly delimiter?: string | undefined;
  readonly map: ColumnMap;
  readonly onDuplicate: DuplicateRule;
  readonly shard?: Shard | undefined;
}

/** A whole input, read and checked. */
export interface RowInput extends Duplicates {
  readonly rows: Rows;
  readonly issues: RowIssues;
  /** Undefined for an empty input. */
  readonly layout: Layout | undefined;
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads the whole input before anything is sent.
 *
 * @throws UsageError where no row can be told: another encoding, a header without the columns needed, broken JSON. What
 *   is wrong with single rows is in `issues`.
 */
export async function readRows(source: Source, options: ReadOptions): Promise<RowInput> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of source.bytes()) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const rankHeader = (cells: readonly string[]) =>
    typeof findColumns(cells, options.map) === 'string' ? 0 : 1;
  const { layout, batches } = await readRecords(hashed(), { ...options, name: source.name, rankHeader });
  const rows = new Rows();
  const issues = new RowIssues(mostIssues);
  let parse = layout?.format === 'csv' ? undefined : createJsonParser(options.map);
  for await (const batch of batches)
    for (const record of batch)
      if (parse) addRow(record, parse, { rows, issues });
      else parse = createHeaderParser(record, source.name, options.map);
  const duplicates = resolveDuplicates(rows, options.onDuplicate);
  if (options.shard) skipOtherShards(rows, options.shard);
  return { rows, issues, layout, sha256: hash.digest('hex'), ...duplicates };
}

function addRow(
  record: InputRecord,
  parse: ParseRow,
  { rows, issues }: Pick<RowInput, 'rows' | 'issues'>,
): void {
  const parsed = parse(record);
  if (isIssue(parsed)) {
    rows.addInvalid(record.line);
    issues.add(parsed);
  } else rows.add(parsed);
}

function createHeaderParser(
  { line, cells = [], problem }: InputRecord,
  name: string,
  map: ColumnMap,
): ParseRow {
  const columns = problem ?? findColumns(cells, map);
  if (typeof columns !== 'string') return createCsvParser(cells, columns);
  const seen = cells.map((cell) => cell.trim() || "''").join(', ');
  throw new UsageError(
    `${name}:${line}: ${columns}${cells.length === 0 ? '' : `; the header has ${seen}`}`,
    'name the columns with --map petId=<column> --map quantity=<column>',
  );
}

function skipOtherShards(rows: Rows, { index, count }: Shard): void {
  for (const row of rows.inState('unprocessed'))
    if (shardOf(rows.id(row), count) !== index) rows.setState(row, 'skipped');
}
