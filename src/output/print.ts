import type { ColorMode, OutputFormat } from '../config/settings.ts';
import type { Io } from '../io.ts';
import type { JsonValue } from '../json.ts';

export interface Column<Row> {
  readonly name: string;
  /** The cell's value; undefined and null print as nothing. */
  value(row: Row): JsonValue | undefined;
  readonly align?: 'left' | 'right';
  /** Draws a pet status in its colour. */
  readonly status?: true;
  /** Shown only where `--fields` names it. */
  readonly extra?: true;
}

/** How the records of one noun are shown: its columns in order; the first holds the id. */
export interface View<Row> {
  /** Plural, for `no pets`. */
  readonly noun: string;
  readonly columns: readonly Column<Row>[];
}

/** Prints records to stdout in the format that the user asked for, page by page where the format and sorting allow. */
export interface Printer {
  readonly format: OutputFormat;
  /** Whether a column will be shown, so that what it needs is worth fetching. */
  shows(column: string): boolean;
  record<Row>(row: Row, view: View<Row>): Promise<void>;
  records<Row>(
    pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
    view: View<Row>,
  ): Promise<void>;
}

export interface PrinterOptions {
  readonly format: OutputFormat;
  /** Columns by name in the order asked for; undefined for the view's own. */
  readonly fields: readonly string[] | undefined;
  /** `name` or `-name`. */
  readonly sort: string | undefined;
  readonly header: boolean;
  readonly color: ColorMode;
  readonly quiet: boolean;
}

export function createPrinter(_io: Io, _options: PrinterOptions): Printer {
  throw new Error('printer: still to come');
}
