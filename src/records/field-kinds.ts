import type { Column } from '../output/columns.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { parseDay, parseIdOrName, parseQuantity, parseText, parseTruth } from './parse-values.ts';

/**
 * How people write the values of a field: as a flag, as an answer to a question, as a cell of a file. A `name` tells
 * records apart; a `reference` is the id or the name of another record.
 */
export type FieldKind = 'name' | 'text' | 'reference' | 'status' | 'quantity' | 'date' | 'truth';

interface FieldKindRules {
  /** The value in the syntax of a flag, such as `n` in `--quantity <n>`. A flag without it takes no value, and nobody is asked. */
  readonly placeholder?: string;
  /** What its completion looks up. */
  readonly offers?: 'status';
  /** Parses a flag or an answer. @throws ValueError. */
  readonly parse: (text: string) => unknown;
  /** Parses a cell of a file; by default as a flag. */
  readonly parseCell?: (text: string) => unknown;
  /** Whether a person may leave a question for it empty. */
  readonly isOptional?: true;
  /** How its column is printed. */
  readonly column?: Pick<Column<JsonObject>, 'align' | 'isStatus' | 'isTime'>;
}

const asText = (text: string) => text;

export const fieldKinds: Readonly<Record<FieldKind, FieldKindRules>> = {
  name: { placeholder: 'name', parse: parseText, parseCell: asText },
  text: { placeholder: 'text', parse: asText, isOptional: true },
  reference: { placeholder: 'id or name', parse: parseIdOrName, column: { align: 'right' } },
  status: { placeholder: 'status', offers: 'status', parse: parseText, column: { isStatus: true } },
  quantity: { placeholder: 'n', parse: parseQuantity, column: { align: 'right' } },
  date: { placeholder: 'date', parse: parseDay, isOptional: true, column: { isTime: true } },
  truth: { parse: parseTruth },
};
