import { defaultFlags, type RunKind } from '../../bulk/run-header.ts';
import type { Context } from '../../context.ts';
import { openInputFile } from '../../input/input-file.ts';
import type { RowLayout } from '../../input/read-records.ts';
import type { RowInput } from '../../input/read-rows.ts';
import { CliError } from '../../process/errors.ts';
import { counted } from '../../process/text.ts';
import { type Access, openAccess } from '../../records/access.ts';
import { checkOfferedFields, extraFields, flagFields, noteUnknownFields } from '../../records/body-fields.ts';
import { parseFieldColumns, withFieldColumns } from '../../records/column-names.ts';
import { checkIdsOrFile, type IdOrName } from '../../records/parse-values.ts';
import { createIdLayout, createRecordLayout, type RecordRow } from '../../records/record-layout.ts';
import type { Body, RecordNoun } from '../../records/record-nouns.ts';
import { checkUpdate } from '../../records/update.ts';
import type { Intent } from '../../writes/decide.ts';
import type { Fields } from '../../writes/value.ts';
import type { ApplyFlags } from './run-flags.ts';
import { applyRun, readIntents, toRun } from './run-input.ts';

interface FileWrite {
  readonly kind: Extract<RunKind, 'create' | 'update' | 'delete'>;
  readonly from: string;
  /** The ids of the command line. A file excludes them. */
  readonly ids?: readonly IdOrName[];
  /** The values of `--field name=value`: a record gets them if the file has no value for the field. */
  readonly fieldTexts?: readonly string[] | undefined;
  /** The values of the flags of single fields. A file excludes them. */
  readonly values?: Body;
  readonly flags: ApplyFlags;
}

/** Creates, changes or deletes the records of a file, as a run: plan, question, journal, report. */
export async function runFile(
  context: Context,
  noun: RecordNoun,
  { kind, from, ids = [], fieldTexts, values = {}, flags }: FileWrite,
): Promise<void> {
  if (kind === 'update') checkUpdate(noun, ids, flagFields(noun, values), from);
  if (kind === 'delete') checkIdsOrFile(`delete ${noun.singular}`, ids, from);
  const access = await openAccess(context, noun, noun.operations[kind], 'bulk');
  const extra = extraFields(access, fieldTexts);
  if (kind !== 'delete')
    checkOfferedFields(access, { ...extra, ...(kind === 'create' ? flagFields(noun, values) : {}) });
  const { skipInvalid = false, shard = null } = flags;
  const map = parseFieldColumns(flags.map ?? []);
  const runFlags = { ...defaultFlags, map, skipInvalid, shard };
  const inputFile = await openInputFile(context.io, from);
  try {
    const plain: RowLayout<RecordRow> =
      kind === 'delete' ? createIdLayout(noun) : createRecordLayout(access, extra);
    const layout = withFieldColumns(plain, map);
    const input = await readIntents(context, inputFile, layout, runFlags);
    const records = await resolveRows(access, input);
    if (kind !== 'delete') await noteUnknownFields(access, records);
    if (kind === 'create') await noteIds(access, records);
    const rows = records.map((row) => ({ line: row.line, id: row.id, intent: intentOf(kind, row.fields) }));
    const runInput = { kind, noun: noun.name, input: { ...input, rows }, layout, runFlags };
    await applyRun(context, await toRun(context, runInput, flags), flags);
  } finally {
    await inputFile.close();
  }
}

function intentOf(kind: FileWrite['kind'], fields: Body): Intent {
  if (kind === 'delete') return { kind: 'remove' };
  const value = Object.fromEntries(
    Object.entries(fields).filter(([, field]) => field !== undefined),
  ) as Fields;
  return kind === 'create' ? { kind: 'create', fields: value } : { kind: 'set', value };
}

/** Says that the ids of a file of new records are left out. */
async function noteIds({ context, noun }: Access, rows: readonly RecordRow[]): Promise<void> {
  const count = rows.filter(
    ({ values, fields }) => values.id !== undefined && fields.id === undefined,
  ).length;
  if (count === 0) return;
  await context.warn(
    `note: the ids of ${counted(count, 'record', 'records')} in the file are left out because the service gives each new ${noun.singular} its own`,
  );
}

/**
 * Replaces the names of pets and categories in the rows of a file by their ids.
 *
 * @throws CliError `not-found` for a name that no record has, and UsageError for the name of several records. Both name
 *   file and line.
 */
async function resolveRows({ names }: Access, file: RowInput<RecordRow>): Promise<readonly RecordRow[]> {
  const rows: RecordRow[] = [];
  for (const row of file.rows) {
    try {
      rows.push({ ...row, fields: await names.resolve(row.fields) });
    } catch (error) {
      if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
      throw error.with({ line: row.line }, `${file.inputFile.name}:${row.line}: ${error.message}`);
    }
  }
  return rows;
}
