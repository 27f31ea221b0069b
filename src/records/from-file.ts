import { confirmWrite } from '../asking.ts';
import { Pace } from '../client/pace.ts';
import { type Context, followUpCommand } from '../context.ts';
import { openInputFile } from '../input/input-file.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import { type RowInput, readRows } from '../input/read-rows.ts';
import { rejectsName, writeRejects } from '../input/rejects.ts';
import { recordPlace } from '../input/split-input.ts';
import { CliError, messageOf } from '../process/errors.ts';
import type { Mask } from '../process/secrets.ts';
import { Stop } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import type { Access } from './access.ts';
import type { InputLine } from './batch.ts';
import { noteUnknownFields } from './body-fields.ts';
import { createRecordLayout, type RecordRow } from './record-layout.ts';
import type { Body } from './record-nouns.ts';
import { type BatchResult, writeRecords } from './write-records.ts';

/** Creates the pace of the requests for a file, as in a run. */
export function createPace({ settings }: Context, concurrency: number): Pace {
  return new Pace({ concurrency, rate: settings.get('rate') ?? null }, new Stop());
}

/**
 * Creates a record for each record of a file, in its order. Checks the whole file before the first request, and prints
 * each record as it is made.
 *
 * @param extra fields of `--field`, for every record that does not have them.
 */
export async function createFromFile(access: Access, path: string, extra: Body): Promise<void> {
  const { context, noun } = access;
  const layout = createRecordLayout(access, extra);
  const inputFile = await openInputFile(context.io, path);
  try {
    const file = await readRows(inputFile, layout);
    const rows = await resolveRows(access, file);
    if (rows.length === 0)
      return await context.warn(`note: ${inputFile.name} has no records: nothing to create`);
    const what = `create ${counted(rows.length, noun.singular, noun.plural)}`;
    await confirmWrite(context, { what, destructive: true });
    if (rows.some(({ values, fields }) => values.id !== undefined && fields.id === undefined))
      await context.warn(
        `note: ids in the file are left out because the service gives each new ${noun.singular} its own`,
      );
    await noteUnknownFields(access, rows);
    // New records get their ids in the order of the file.
    const pace = createPace(context, 1);
    const operation = noun.operations.create;
    const prepare = ({ fields }: RecordRow) => ({ operation, input: { body: fields } });
    const lineOf = (row: RecordRow) => inputLineOf(file, row);
    const options = { asList: file.isList, isLive: file.isList, lineOf, pace };
    const result = await writeRecords(access, rows, prepare, options);
    await endFile(access, 'create', file, layout, result);
  } finally {
    await inputFile.close();
  }
}

/**
 * Replaces the names of pets and categories in the rows of a file by their ids.
 *
 * @throws CliError `not-found` for a name that no record has, and UsageError for the name of several records. Both name
 *   file and line.
 */
export async function resolveRows(
  { names }: Access,
  file: RowInput<RecordRow>,
): Promise<readonly RecordRow[]> {
  const rows: RecordRow[] = [];
  for (const row of file.rows) {
    try {
      rows.push({ ...row, fields: await names.resolve(row.fields) });
    } catch (error) {
      if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
      const { label, line } = inputLineOf(file, row);
      throw error.with({ line }, `${label}: ${error.message}`);
    }
  }
  return rows;
}

/** Returns the line of a row in its file, such as `pets.csv:3`, and for a JSON document its number: `pets.json: record 3`. */
export function inputLineOf(
  { inputFile, format }: Pick<RowInput<RecordRow>, 'inputFile' | 'format'>,
  { line }: InputRow,
): InputLine {
  return { label: recordPlace(inputFile.name, format, line), line };
}

/**
 * Ends a command that wrote the records of a file. If some were done, those that certainly were not go to a file of
 * rejects for `--from`: `<input>.rejects.<ext>`, or the next free name. A record that may have been created, or was
 * created with other values, is named on stderr instead, so that the file creates nothing twice.
 *
 * @throws the error of the writes, if there is one.
 */
export async function endFile<Row extends RecordRow>(
  { context, noun }: Access,
  verb: 'create' | 'delete',
  file: RowInput<Row>,
  layout: RowLayout<Row>,
  { error, failures, succeeded }: BatchResult<Row>,
): Promise<void> {
  if (!error) return;
  // With a status of success the record exists, although it does not have the values that were sent.
  const isUnsure = ({ details: { applied, status = 400 } }: CliError) =>
    verb === 'create' && (applied === 'unknown' || status < 300);
  const unsure = failures.filter(({ error }) => error && isUnsure(error));
  const rejected = failures.filter((failure) => !unsure.includes(failure));
  if (rejected.length > 0 && succeeded + unsure.length > 0) {
    const some = `${counted(rejected.length, noun.singular, noun.plural)} not done`;
    const { inputFile, format } = file;
    const rejects = rejected.map(({ item, error }) => ({
      ...item,
      state: error ? 'failed' : 'not sent',
      reason: error && reasonOf(error, context.secrets.mask),
      fields: item.values,
    }));
    try {
      const file = { name: rejectsName(inputFile, format), folder: context.io.cwd };
      const name = await writeRejects(file, format, rejects, { inputFile, layout });
      const again = followUpCommand(context, [noun.plural, verb, '--from', name]);
      await context.warn(`note: ${some}: see ${name}, and run: ${again}`);
    } catch (problem) {
      await context.warn(`warning: ${some}, and no file of them: ${messageOf(problem)}`);
    }
  }
  if (unsure.length > 0) {
    const lines = unsure.map(({ item }) => inputLineOf(file, item).label).join(', ');
    await context.warn(`warning: look at these before you run them again, they may have been done: ${lines}`);
  }
  throw error;
}

function reasonOf({ message, details: { status, code } }: CliError, mask: Mask) {
  return { status, code: code && mask(code), message: mask(message) };
}
