import type { Column } from './columns.ts';
import type { Style } from './style.ts';

/** A list, even of one, or a lone record. */
export type Shape = 'list' | 'record';

/** What is printed, and where to. */
export interface Sheet<Row> {
  readonly columns: readonly Column<Row>[];
  /** The columns are those that `--fields` named. */
  readonly isPicked: boolean;
  readonly shape: Shape;
  readonly header: boolean;
  readonly isTerminal: boolean;
  /** Whether the terminal obeys more than line ends. */
  readonly movesCursor: boolean;
  /** Of the terminal, in columns. */
  readonly width: number;
  readonly style: Style;
  /** The record as formats with keys of their own show it: whole, or what `--fields` picked. */
  value(row: Row): unknown;
}

/** Turns a list into text, piece by piece. */
export interface Writer<Row> {
  /** At least one row. */
  rows(rows: readonly Row[]): string | Promise<string>;
  /** What follows the last row. */
  end(): string | Promise<string>;
  /** What follows where the rows break off with an error; a document stays open, so that nobody takes it for whole. */
  abandon?(): string;
  /** What a person should know of the text, once it has ended. */
  remark?(): string | undefined;
  /** What a program's log should tell of it too. */
  warning?(): string | undefined;
}
