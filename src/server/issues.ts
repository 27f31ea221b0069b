import type * as v from 'valibot';
import { reasonOf } from '../api/issue.ts';

type Issues = readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]];

/** What is wrong with a value, each field by its JSON pointer: `/name: is required; /status: must be …`. */
export function describeIssues(issues: Issues): string {
  return issues.map(describeIssue).join('; ');
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
  const why = reasonOf(issue);
  return keys.length === 0 ? `the body ${why}` : `/${keys.join('/')}: ${why}`;
}
