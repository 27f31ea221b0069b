import { isColumnNumber, normaliseName } from '../config/column-map.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import { isTable } from '../input/split-input.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonValue } from '../process/exact-json.ts';

/** The columns of a file of records by field: names, or numbers from 1 if the file has no header. */
type FieldColumns = Readonly<Record<string, string>>;

/** Reads the texts of `--map`: `name=Titel`, several with commas between. @throws UsageError. */
export function parseFieldColumns(texts: readonly string[]): FieldColumns {
  const columns: Record<string, string> = {};
  for (const text of texts.flatMap((pairs) => pairs.split(/,(?=\s*\w+\s*=)/))) {
    const [, field, column] = /^\s*(\w+)\s*=\s*(.+?)\s*$/s.exec(text) ?? [];
    if (field === undefined || column === undefined)
      throw new UsageError(`--map '${text}': must be <field>=<column>, such as name=Title`);
    if (Object.hasOwn(columns, field)) throw new UsageError(`--map '${text}': gives ${field} two columns`);
    columns[field] = column;
  }
  return columns;
}

/** Makes a layout read the fields of records from columns of other names. */
export function withFieldColumns<Row extends InputRow>(
  layout: RowLayout<Row>,
  columns: FieldColumns,
): RowLayout<Row> {
  const fields = Object.entries(columns);
  if (fields.length === 0) return layout;
  const isNumbered = fields.every(([, column]) => isColumnNumber(column));
  const fieldOf = (name: string) =>
    fields.find(([, column]) => normaliseName(column) === normaliseName(name))?.[0] ?? name;
  return {
    ...layout,
    isHeader: (cells) => (isNumbered ? cells.length >= fields.length : layout.isHeader(cells.map(fieldOf))),
    columnsWithoutHeader: (cells) =>
      isNumbered ? cells.map((_, index) => String(index + 1)) : layout.columnsWithoutHeader?.(cells),
    parserOf(names, format) {
      const isNamed = (column: string) => names.some((name) => normaliseName(name) === normaliseName(column));
      const lacking = isTable(format) ? fields.find(([, column]) => !isNamed(column)) : undefined;
      if (lacking) return { message: `no column ${lacking[1]}, which --map names` };
      const renamed = names.map(fieldOf);
      const parser = layout.parserOf(renamed, format);
      if (typeof parser !== 'function') return parser;
      return (record) => parser({ ...record, names: renamed, value: withFieldNames(record.value) });
    },
  };

  /** Gives the members of a JSON object the names of the fields. */
  function withFieldNames(value: JsonValue | undefined): JsonValue | undefined {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [fieldOf(name), member]));
  }
}
