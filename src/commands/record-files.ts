import type { Noun, WriteVerb } from '../api/nouns.ts';
import { createRow } from '../bulk/run-row.ts';
import { readCheckedInput, startRun } from '../bulk/start-run.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/printer.ts';
import { moreLikeThis } from '../process/text.ts';
import { openAccess } from '../records/access.ts';
import { createRecordLayout, resolveNames, toIntent } from '../records/record-layout.ts';
import type { FileFlags } from './shared-flags.ts';

/** Creates, changes or deletes the records of a file, as a run: plan, question, journal, report. */
export async function writeFileRecords(
  context: Context,
  noun: Noun,
  verb: WriteVerb,
  from: string,
  flags: FileFlags,
): Promise<Output> {
  const access = await openAccess(context, noun, verb, 'bulk');
  const { skipInvalid, shard } = flags;
  const runFlags = { skipInvalid, shard };
  const fileInput = await readCheckedInput(context, from, createRecordLayout(access, verb), runFlags);
  const input = await resolveNames(access, fileInput, skipInvalid === true);
  const [nullRow, ...others] = input.rows.filter(({ nullText }) => nullText !== undefined);
  if (nullRow)
    await context.notice(
      'warning',
      `${input.file.name}:${nullRow.line}: ${nullRow.nullText} is read as text${moreLikeThis(others.map(({ line }) => line))}; leave a cell without a value empty`,
    );
  const rows = input.rows.map(({ line, id, text, fields }) =>
    createRow({ line, id, intent: toIntent(verb, fields), text }),
  );
  const runInput = { kind: verb, noun: noun.name, input: { ...input, rows }, flags: runFlags };
  return startRun(context, runInput, flags);
}
