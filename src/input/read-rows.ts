import { InputError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import type { InputFile } from './input-file.ts';
import { conflict, examplesOf, type Issue, invalidInputError, issueText } from './issues.ts';
import { type InputRow, isProblem, type RowLayout, readRecords } from './read-records.ts';
import type { Problem } from './record.ts';
import { type InputFormat, isTable } from './split-input.ts';

// How a file becomes rows: `input-file.ts` opens it, `utf8.ts` decodes it, `split-input.ts` finds its format and splits it with
// `csv.ts` or `json.ts` into records (`record.ts`). `read-records.ts` names their values by the columns, and turns each into
// a row with a layout, which belongs to a command. This file collects the rows of an input, one for each id.
// A problem and its position are an issue (`issues.ts`). `rejects.ts` writes the rows that were not done, with their
// original columns.

/** A complete input, read and checked. */
export interface RowInput<Row extends InputRow> {
  readonly inputFile: InputFile;
  readonly format: InputFormat;
  /** False for a lone JSON object. */
  readonly isList: boolean;
  /** The valid rows. Each id has one row. */
  readonly rows: readonly Row[];
  /** The issues of the invalid rows. Empty unless invalid rows are skipped. */
  readonly invalid: readonly Issue[];
  /** The number of valid rows that are not in `rows`: repeats, additions to another row, and rows that were not selected. */
  readonly skipped: number;
  /** Warnings for the user about rows that are left out. */
  readonly warnings: readonly string[];
}

export interface ReadOptions {
  /** Whether invalid rows are left out, instead of refusing the input. Undefined if the command has no such flag. */
  readonly skipInvalid?: boolean | undefined;
  /** Whether a row belongs to this part of the input. */
  readonly isSelected?: ((id: bigint) => boolean) | undefined;
}

/**
 * Reads and checks a whole input before anything is sent.
 *
 * @throws InputError for an empty input, and as `readRecords`; ManyError with every invalid row, unless these are skipped.
 */
export async function readRows<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { skipInvalid, isSelected = () => true }: ReadOptions = {},
): Promise<RowInput<Row>> {
  const { name } = inputFile;
  const input = await readRecords(inputFile, layout);
  const { format = { kind: 'csv', delimiter: ',' } } = input;
  if (!input.format && !layout.mayBeEmpty) throw new InputError(`${name}: is empty`);
  const all: Row[] = [];
  const indexById = new Map<bigint, number>();
  const conflicting = new Set<number>();
  const issues: Issue[] = [];
  const conflictOf = (row: Row, problem: Problem): Issue => {
    const { line, column = 1 } = row;
    return { line, column, ...problem, kind: conflict, fields: layout.fieldsOf(row) };
  };
  let total = 0;
  let repeats = 0;
  let additions = 0;
  for await (const page of input.pages)
    for (const [record, row] of page) {
      total += 1;
      if (isProblem(row)) {
        const { columnName, ...problem } = row;
        const index = columnName === undefined ? -1 : record.names.indexOf(columnName);
        const { line, column } = record;
        issues.push({ line, column, ...problem, at: index === -1 ? undefined : record.positionOf(index) });
        continue;
      }
      const index = row.id === undefined ? undefined : indexById.get(row.id);
      const first = index === undefined ? undefined : all[index];
      if (index === undefined || first === undefined) {
        if (row.id !== undefined) indexById.set(row.id, all.length);
        all.push(row);
        continue;
      }
      const result = layout.merge(first, row);
      if (result === undefined) repeats += 1;
      else if (!isProblem(result)) {
        additions += 1;
        all[index] = result;
      } else {
        if (skipInvalid && !conflicting.has(index)) issues.push(conflictOf(first, result));
        conflicting.add(index);
        issues.push(conflictOf(row, result));
      }
    }
  if (issues.length > 0 && !skipInvalid)
    throw invalidInputError(name, issues, { total, canSkip: skipInvalid !== undefined });
  const rows = all.filter(
    (row, index) => !conflicting.has(index) && (row.id === undefined || isSelected(row.id)),
  );
  const unselected = all.length - conflicting.size - rows.length;
  const leftOutWarning = (count: number, participle: string) =>
    count === 0 ? [] : [`${name}: ${counted(count, 'row is', 'rows are')} ${participle}`];
  return {
    inputFile,
    format,
    rows,
    invalid: issues,
    isList: isTable(format) || total !== 1 || input.isArray,
    skipped: repeats + additions + unselected,
    warnings: [
      ...leftOutWarning(issues.length, 'invalid and skipped'),
      ...examplesOf(issues).map((issue) => issueText(name, issue)),
      ...leftOutWarning(repeats, 'repeated, and counted once'),
      ...leftOutWarning(additions, 'added to another row of the same record'),
    ],
  };
}
