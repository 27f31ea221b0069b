import type { Noun, WriteVerb } from '../api/nouns.ts';
import type { Fields } from '../api/record-values.ts';
import { runView } from '../bulk/carry-out.ts';
import { newRow } from '../bulk/row.ts';
import { defaultFlags } from '../bulk/run.ts';
import { readCheckedInput, startRun } from '../bulk/start-run.ts';
import type { Context } from '../context.ts';
import { type CheckedInput, type Issue, toIssue, withoutInvalid } from '../input/read-rows.ts';
import type { PreparedCommand } from '../output/printer.ts';
import { CliError } from '../process/errors.ts';
import { counted, moreLikeThis } from '../process/text.ts';
import { type Access, prepareRecords } from '../records/access.ts';
import { checkOfferedFields, extraFields } from '../records/body-fields.ts';
import { createRecordLayout, type RecordRow } from '../records/record-layout.ts';
import type { Intent } from '../writes/decide.ts';
import type { ApplyFlags } from './shared-flags.ts';

interface FileWrite {
  readonly kind: WriteVerb;
  readonly from: string;
  /** The values of `--field name=value`, for records that have no value of their own. */
  readonly fieldTexts?: readonly string[] | undefined;
  readonly flags: ApplyFlags;
}

/** Creates, changes or deletes the records of a file, as a run: plan, question, journal, report. */
export async function writeFileRecords(
  context: Context,
  noun: Noun,
  { kind, from, fieldTexts, flags }: FileWrite,
): Promise<PreparedCommand> {
  const write = async (access: Access) => {
    const extra = extraFields(access, fieldTexts);
    if (kind !== 'delete') checkOfferedFields(access, extra);
    const { skipInvalid = false, shard = null } = flags;
    const runFlags = { ...defaultFlags, skipInvalid, shard };
    const layout = createRecordLayout(access, kind, extra);
    const fileInput = await readCheckedInput(context, from, layout, runFlags);
    const input = await resolveRows(access, fileInput, skipInvalid);
    for (const warning of input.warnings) await context.printWarning(warning);
    await noteValues(access, kind, input);
    const rows = input.rows.map(({ line, id, text, fields }) =>
      newRow({ line, id, intent: toIntent(kind, fields), text }),
    );
    const runInput = { kind, noun: noun.name, input: { ...input, rows }, flags: runFlags };
    return startRun(context, runInput, flags);
  };
  const { run } = await prepareRecords(context, noun, noun.operations[kind], write, 'bulk');
  return { view: runView(context, noun.name), run };
}

function toIntent(kind: FileWrite['kind'], fields: Fields): Intent {
  if (kind === 'delete') return { kind: 'remove' };
  const value = Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
  return kind === 'create' ? { kind: 'create', fields: value } : { kind: 'set', value };
}

/** Prints which values of a file are not used, and which texts may stand for a missing value. */
async function noteValues(
  { context, noun }: Access,
  kind: FileWrite['kind'],
  { file: { name }, rows }: CheckedInput<RecordRow>,
): Promise<void> {
  const withId = kind === 'create' ? rows.filter(({ hasId }) => hasId) : [];
  if (withId.length > 0)
    await context.printNotice(
      `note: the ids of ${counted(withId.length, 'record', 'records')} in the file are left out because the service gives each new ${noun.singular} its own`,
    );
  const unused = new Set(rows.flatMap((row) => row.unused));
  if (unused.size > 0)
    await context.printNotice(`note: ${kind} does not use ${[...unused].join(', ')} of ${name}`);
  const [first, ...others] = rows.filter(({ nullText }) => nullText !== undefined);
  if (!first) return;
  await context.printWarning(
    `${name}:${first.line}: ${first.nullText} is taken as a text${moreLikeThis(others.length)}; a cell without a value is empty`,
  );
}

/**
 * Replaces the names of categories in the rows of a file by their ids. A row with a name that no category has, or several have, is
 * invalid.
 */
async function resolveRows(
  { names }: Access,
  input: CheckedInput<RecordRow>,
  skipInvalid: boolean,
): Promise<CheckedInput<RecordRow>> {
  const rows: RecordRow[] = [];
  const issues: Issue[] = [];
  for (const row of input.rows) {
    try {
      rows.push({ ...row, fields: await names.resolve(row.fields) });
    } catch (error) {
      if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
      rows.push(row);
      issues.push(toIssue(error, row.line, String(row.text)));
    }
  }
  return withoutInvalid({ ...input, rows }, issues, skipInvalid);
}
