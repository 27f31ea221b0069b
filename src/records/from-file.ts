import { confirmWrite } from '../asking.ts';
import { type Context, commandLine } from '../context.ts';
import { propertyColumns } from '../output/columns.ts';
import { csvWriter, jsonLinesWriter, type Sheet, tsvWriter } from '../output/formats.ts';
import { plainStyle } from '../output/style.ts';
import { type CliError, messageOf } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { defaultRejectsFile, writeNewFile } from '../process/new-file.ts';
import { counted } from '../process/text.ts';
import { noteUnknownFields } from './body-fields.ts';
import type { Access, Body, EditAccess } from './noun.ts';
import { isNoteColumn, noteColumns, type RecordFile, readRecordFile } from './record-file.ts';
import { type WriteResult, type Writes, writeRecords } from './write.ts';

type FileRecord = RecordFile['records'][number];

/** More records than this are asked about once, on a terminal. */
const maxUnasked = 20;

/**
 * Writes each record of a file, in its order. Checks the whole file before the first request.
 *
 * @param extra fields for every record that does not have them itself.
 * @param prepare as for `writeRecords`.
 */
export async function writeFromFile<Entity>(
  access: EditAccess<Entity>,
  path: string,
  extra: Body,
  prepare: (record: FileRecord, file: RecordFile) => ReturnType<Writes<FileRecord>['prepare']>,
): Promise<void> {
  const { context, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  const file = await readRecordFile(access, path, extra);
  const { records } = file;
  await confirmWrite(context, {
    what: `${isNew ? 'create' : 'change'} ${counted(records.length, noun.one, noun.many)}`,
    asks: records.length > maxUnasked,
  });
  if (isNew && file.hasIds)
    await context.warn(
      `note: ids in the file are left out because the service gives each new ${noun.one} its own`,
    );
  await noteUnknownFields(access, records);
  const ended = await writeRecords(access, {
    items: records,
    asList: file.isList,
    // New records get their ids in the order of the file.
    atOnce: isNew ? 1 : context.settings.get('concurrency'),
    place: ({ place }) => place,
    prepare: (record) => prepare(record, file),
  });
  await endFile(access, isNew ? 'create' : 'update', file, ended);
}

/**
 * Writes the records that were certainly not done to a file that can be given to `--from` again, if others were done:
 * `<input>.rejects.<ext>`, or the next free name. A record that may have been created, or was made with other values, is
 * named on stderr in its place, so that the file creates nothing twice. Then throws the error of the writes.
 *
 * @param verb such as `create`.
 */
export async function endFile<Entity>(
  { context, noun }: Access<Entity>,
  verb: string,
  file: RecordFile,
  { error, failures, standing }: WriteResult<FileRecord>,
): Promise<void> {
  if (!error) return;
  // After a success the record exists, although it is not as asked.
  const isUnsure = ({ details: { applied, status = 400 } }: CliError) =>
    verb === 'create' && (applied === 'unknown' || status < 300);
  const unsure = failures.filter(({ error }) => error && isUnsure(error));
  const rejected = failures.filter((failure) => !unsure.includes(failure));
  if (rejected.length > 0 && standing.done - standing.failed + unsure.length > 0) {
    const some = `${counted(rejected.length, noun.one, noun.many)} not done`;
    await writeRejects(context, file, rejected).then(
      (name) => {
        const again = commandLine(context, [noun.many, verb, '--from', name]);
        return context.warn(`note: ${some}: see ${name}, and run: ${again}`);
      },
      (failed: unknown) => context.warn(`warning: ${some}, and no file of them: ${messageOf(failed)}`),
    );
  }
  if (unsure.length > 0) {
    const places = unsure.map(({ item }) => item.place.text).join(', ');
    await context.warn(
      `warning: look at these before you run them again, they may have been done: ${places}`,
    );
  }
  throw error;
}

async function writeRejects(
  context: Context,
  file: RecordFile,
  rejected: WriteResult<FileRecord>['failures'],
): Promise<string> {
  const records = rejected.map(({ item, error }): Readonly<Record<string, JsonValue>> => {
    const { status, code } = error?.details ?? {};
    return {
      ...item.values,
      _line: item.place.line,
      _state: error ? 'failed' : 'not sent',
      _status: status ?? null,
      _code: code ?? null,
      _message: error?.message ?? null,
    };
  });
  const own = file.columns.filter((column) => !isNoteColumn(column));
  const sheet: Sheet<(typeof records)[number]> = {
    columns: propertyColumns([...own, ...noteColumns]),
    isPicked: false,
    shape: 'list',
    header: true,
    isTerminal: false,
    width: 80,
    style: plainStyle,
    value: (record) => record,
  };
  const writers = { csv: csvWriter, tsv: tsvWriter, json: jsonLinesWriter };
  const text = await writers[file.format](sheet).print(records);
  const target = await defaultRejectsFile(file.name, context.io.cwd, file.format);
  await writeNewFile(target, async (output) => output.writeFile(text));
  return target.name;
}
