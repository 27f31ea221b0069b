import { type RowInput, readRows } from '../../../bulk/read-rows.ts';
import type { RowIssues } from '../../../bulk/row-issues.ts';
import type { Context } from '../../../context.ts';
import { ManyError, UsageError } from '../../../errors.ts';
import type { Source } from '../../../input/source.ts';
import { type InputFlags, toReadOptions } from './flags.ts';

/**
 * Reads and checks a whole input.
 *
 * @throws ManyError of UsageErrors, one for each row that is wrong, where those are not to be skipped.
 */
export async function readInput(context: Context, source: Source, flags: InputFlags): Promise<RowInput> {
  const input = await readRows(source, toReadOptions(flags));
  const { issues, conflicts, rows, same, overruled } = input;
  if (issues.count > 0 && !flags.skipInvalid)
    throw refusal(source, issues, {
      what: `${count(issues.count, 'row')} of ${rows.length} invalid`,
      hint: '--skip-invalid goes on without them',
    });
  if (conflicts.count > 0)
    throw refusal(source, conflicts, {
      what: `${count(conflicts.count, 'row')} at odds with another row for the same pet`,
      hint: '--on-duplicate first or last says which one counts',
    });
  if (rows.length === 0 && !flags.allowEmpty)
    throw new UsageError(`${source.name}: no data rows`, '--allow-empty lets that pass');
  await warn(context, source, issues);
  if (same > 0) await context.notice(`warning: ${source.name}: ${count(same, 'row')} repeated, counted once`);
  if (overruled > 0)
    await context.notice(
      `warning: ${source.name}: ${count(overruled, 'row')} skipped for another row of the same pet`,
    );
  return input;
}

async function warn(context: Context, source: Source, issues: RowIssues): Promise<void> {
  for (const text of issueTexts(source, issues)) await context.notice(`warning: ${text}`);
  const more = issues.count - issues.first.length;
  if (more > 0) await context.notice(`warning: ${source.name}: and ${count(more, 'more invalid row')}`);
}

function refusal(
  source: Source,
  issues: RowIssues,
  { what, hint }: { readonly what: string; readonly hint: string },
): ManyError {
  const more = issues.count - issues.first.length;
  const summary = `${source.name}: ${what}${more > 0 ? ` (the first ${issues.first.length} are above)` : ''}, nothing was sent`;
  const errors = issueTexts(source, issues).map((text) => new UsageError(text));
  return new ManyError(summary, [...errors, new UsageError(summary, hint)], 0);
}

function issueTexts(source: Source, { first }: RowIssues): string[] {
  return first.map(({ line, column, message }) => `${source.name}:${line}:${column}: ${message}`);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
