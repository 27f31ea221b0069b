import type * as v from 'valibot';

/** What is wrong with a field, a clause: `is required`, `must be an integer`. */
export function reasonOf(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === 'never') return 'is unknown';
  if (issue.type !== 'object') return issue.message;
  return issue.received === 'undefined' ? 'is required' : 'must be an object';
}
