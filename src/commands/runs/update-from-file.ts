import type { Intent } from '../../bulk/decide.ts';
import { defaultFlags } from '../../bulk/run-header.ts';
import type { Context } from '../../context.ts';
import { openInputFile } from '../../input/input-file.ts';
import type { JsonValue } from '../../process/exact-json.ts';
import { openAccess } from '../../records/access.ts';
import { checkOfferedFields, extraFields, flagFields, noteUnknownFields } from '../../records/body-fields.ts';
import { resolveRows } from '../../records/from-file.ts';
import type { IdOrName } from '../../records/parse-values.ts';
import { createRecordLayout } from '../../records/record-layout.ts';
import type { Body, RecordNoun } from '../../records/record-nouns.ts';
import { checkUpdate } from '../../records/update.ts';
import type { ApplyFlags } from './run-flags.ts';
import { applyRun, readIntents, toRun } from './run-input.ts';

interface FileUpdate {
  readonly ids: readonly IdOrName[];
  readonly from: string;
  /** The values of `--field name=value`: a record gets them if the file has no value for the field. */
  readonly fieldTexts: readonly string[] | undefined;
  /** The values of the flags of single fields. A file excludes them. */
  readonly values: Body;
  readonly flags: ApplyFlags;
}

/** Changes records to the values of a file, as a run: plan, question, journal, report. */
export async function updateFromFile(
  context: Context,
  noun: RecordNoun,
  { ids, from, fieldTexts, values, flags: commandFlags }: FileUpdate,
): Promise<void> {
  checkUpdate(noun, ids, flagFields(noun, values), from);
  const access = await openAccess(context, noun, noun.operations.update, 'bulk');
  const extra = extraFields(access, fieldTexts);
  checkOfferedFields(access, extra);
  const { skipInvalid = false, shard = null } = commandFlags;
  const runFlags = { ...defaultFlags, skipInvalid, shard };
  const inputFile = await openInputFile(context.io, from);
  try {
    const layout = createRecordLayout(access, extra);
    const input = await readIntents(context, inputFile, layout, runFlags);
    const records = await resolveRows(access, input);
    await noteUnknownFields(access, records);
    const rows = records.map(({ line, id = 0n, fields }) => ({ line, id, intent: intentOf(fields) }));
    const runInput = { noun: noun.name, input: { ...input, rows }, layout, runFlags };
    await applyRun(context, await toRun(context, runInput, commandFlags), commandFlags, 'apply');
  } finally {
    await inputFile.close();
  }
}

function intentOf(fields: Body): Intent {
  const value = Object.entries(fields).filter(
    (field): field is [string, JsonValue] => field[1] !== undefined,
  );
  return { kind: 'set', value: Object.fromEntries(value) };
}
