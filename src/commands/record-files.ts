import { offeredOperation } from '../api/contract.ts';
import type { Noun, WriteVerb } from '../api/nouns.ts';
import { runView } from '../bulk/carry-out.ts';
import { newRow } from '../bulk/row.ts';
import { defaultFlags } from '../bulk/run.ts';
import { readCheckedInput, startRun } from '../bulk/start-run.ts';
import type { Context } from '../context.ts';
import type { CheckedInput } from '../input/read-rows.ts';
import type { PreparedCommand } from '../output/printer.ts';
import { counted, moreLikeThis } from '../process/text.ts';
import { type Access, openAccess } from '../records/access.ts';
import { checkOfferedFields, extraFields } from '../records/body-fields.ts';
import { createRecordLayout, type RecordRow, resolveNames, toIntent } from '../records/record-layout.ts';
import type { FileFlags } from './shared-flags.ts';

interface FileWrite {
  readonly kind: WriteVerb;
  readonly from: string;
  /** The values of `--field name=value`, for records that have no value of their own. */
  readonly fieldTexts?: readonly string[] | undefined;
  readonly flags: FileFlags;
}

/** Creates, changes or deletes the records of a file, as a run: plan, question, journal, report. */
export async function writeFileRecords(
  context: Context,
  noun: Noun,
  { kind, from, fieldTexts, flags }: FileWrite,
): Promise<PreparedCommand> {
  const operation = offeredOperation(await context.contract(), noun.operations[kind]);
  const run = async () => {
    const access = await openAccess(context, noun, operation, 'bulk');
    const extra = extraFields(access, fieldTexts);
    if (kind !== 'delete') checkOfferedFields(access, extra);
    const { skipInvalid = false, shard = null } = flags;
    const runFlags = { ...defaultFlags, skipInvalid, shard };
    const layout = createRecordLayout(access, kind, extra);
    const fileInput = await readCheckedInput(context, from, layout, runFlags);
    const input = await resolveNames(access, fileInput, skipInvalid);
    for (const warning of input.warnings) await context.notice('warning', warning);
    await noteValues(access, kind, input);
    const rows = input.rows.map(({ line, id, text, fields }) =>
      newRow({ line, id, intent: toIntent(kind, fields), text }),
    );
    return startRun(context, { kind, noun: noun.name, input: { ...input, rows }, flags: runFlags }, flags);
  };
  return { view: runView(context, noun.name), run };
}

/** Prints which values of a file are not used, and which texts may stand for a missing value. */
async function noteValues(
  { context, noun }: Access,
  kind: WriteVerb,
  { file: { name }, rows }: CheckedInput<RecordRow>,
): Promise<void> {
  const withId = kind === 'create' ? rows.filter(({ hasId }) => hasId) : [];
  if (withId.length > 0)
    await context.notice(
      'note',
      `the ids of ${counted(withId.length, 'record', 'records')} in the file are left out because the service gives each new ${noun.singular} its own`,
    );
  const unused = new Set(rows.flatMap((row) => row.unused));
  if (unused.size > 0)
    await context.notice('note', `${kind} does not use ${[...unused].join(', ')} of ${name}`);
  const [first, ...others] = rows.filter(({ nullText }) => nullText !== undefined);
  if (!first) return;
  await context.notice(
    'warning',
    `${name}:${first.line}: ${first.nullText} is taken as a text${moreLikeThis(others.length)}; a cell without a value is empty`,
  );
}
