import type { Position } from '../input/record.ts';

/** A row that cannot be used, and why: `message` names column and value where it is one of them. */
export interface RowIssue extends Position {
  readonly message: string;
}

/** How many are shown; the rest are counted. */
export const mostIssues = 20;

/** Keeps the first few, and counts all: a wrong file may have as many as rows. */
export class RowIssues {
  count = 0;
  readonly first: RowIssue[] = [];
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  add(issue: RowIssue): void {
    this.count += 1;
    if (this.first.length < this.most) this.first.push(issue);
  }
}

/** A value in quotes, so that blanks around it show; cut where it is long. */
export function quoteValue(text: string): string {
  const most = 40;
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}...` : text);
}
