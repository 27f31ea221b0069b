import { InputError } from '../process/errors.ts';
import { conversion } from './foreign-file.ts';
import type { Problem, SplitRecord } from './record.ts';

/** The columns of a table. */
export interface TableHeader {
  readonly columns: readonly string[];
  /** Whether the header is in the input. If not, the command knows the columns. */
  readonly isInInput: boolean;
}

/** What a command knows about the header of its input. */
interface HeaderRules {
  /** Whether these cells may be a header. */
  isHeader(cells: readonly string[]): boolean;
  /** Returns the columns of an input without a header, given its first record. Undefined if that record is the header. */
  columnsWithoutHeader?(cells: readonly string[]): readonly string[] | undefined;
}

/** The number of records among which a header is looked for, because titles may stand above it. */
const headerRecords = 100;

/**
 * Reads the columns of a table from its first record.
 *
 * @param records the first records.
 * @param problemOf returns the problem of columns that the command refuses.
 * @throws InputError if the command refuses the columns. If a later line has the columns, it names that line.
 */
export function readHeader(
  name: string,
  records: readonly SplitRecord[],
  rules: HeaderRules,
  problemOf: (columns: readonly string[]) => Problem | undefined,
): TableHeader {
  const [{ line = 1, cells = [], problem } = {}] = records;
  if (problem) throw new InputError(`${name}:${line}: ${problem.message}`, problem.hint, line);
  const knownColumns = rules.columnsWithoutHeader?.(cells);
  const columns = knownColumns ?? cells.map((cell) => cell.trim());
  const columnProblem = problemOf(columns);
  if (!columnProblem) return { columns, isInInput: !knownColumns };
  const header = records.slice(0, headerRecords).find(({ cells = [] }) => rules.isHeader(cells));
  const clauses = [columnProblem.message];
  if (header) clauses.push(`line ${header.line} has the columns`);
  else if (!knownColumns) clauses.push(`the header has ${columns.map((cell) => cell || "''").join(', ')}`);
  const hint = header
    ? conversion(withoutTitle(header, records), name)
    : (yamlHint(name, cells) ?? columnProblem.hint);
  throw new InputError(`${name}:${line}: ${clauses.join('; ')}`, hint, line);
}

/** Returns the command that drops the lines above a header, and lines that are drawn between the rows of a table. */
function withoutTitle({ line }: SplitRecord, records: readonly SplitRecord[]): string {
  const hasRules = records.some(({ cells = [] }) => isRule(cells));
  return hasRules ? `sed -e '1,${line - 1}d' -e '/^[-+|]*$/d'` : `tail -n +${line}`;
}

function isRule(cells: readonly string[]): boolean {
  return cells.some((cell) => cell.includes('--')) && cells.every((cell) => /^[-+|]*$/.test(cell));
}

/** Returns the hint for YAML, such as `list -o yaml` prints. */
function yamlHint(name: string, [first = '']: readonly string[]): string | undefined {
  const isYaml = /\.ya?ml$/i.test(name) || /^(---|- ?[\w"']+ *:|[\w"']+ *:( |$))/.test(first);
  return isYaml ? 'YAML is not read: print the records with -o jsonl or -o csv' : undefined;
}
