import { lackingFields } from '../api/contract.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { editAndSend, findEditor } from '../input/editor.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { type Access, openAccess } from './access.ts';
import { checkFields, fieldSchemas } from './body-fields.ts';
import type { IdOrName } from './parse-values.ts';
import { type Body, namedNoun, type RecordNoun } from './record-nouns.ts';
import { replacement } from './update.ts';
import { requestOf, type Write } from './write.ts';
import { writeRecord } from './write-records.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved version back. */
export async function editRecord(context: Context, noun: RecordNoun, idOrName: IdOrName): Promise<void> {
  const editor = findEditor(context, `edit ${noun.singular}`);
  const access = await openAccess(context, noun, noun.operations.update);
  const id = await access.names.idOf(namedNoun(noun), idOrName);
  await confirmWrite(context, { what: `change ${noun.singular} ${id}` });
  const before = await readRecord(access.client, access.noun.name, id);
  const subject = `${noun.singular} ${id}`;
  await editAndSend(context, {
    editor,
    fileName: `${noun.singular}-${id}.yaml`,
    what: `edit ${subject}`,
    usage: `# ${subject}. Save to send it. If you save it unchanged or empty, nothing is sent.\n`,
    original: (await loadYaml()).print(before.value),
    unchanged: `${subject}: nothing was changed, and nothing was sent`,
    parse: (text) => toWrite(access, id, before, text),
    async send(write) {
      if (before.etag === undefined && !context.flags.dryRun) await checkUnchanged(access, id, before);
      await writeRecord(access, async (refusal) => {
        if (refusal) await checkUnchanged(access, id, before);
        return write;
      });
    },
  });
}

/** The write of an edited text. @throws UsageError or SyntaxError if the text is not valid */
async function toWrite(access: Access, id: bigint, before: Answer<JsonObject>, text: string): Promise<Write> {
  const record = (await loadYaml()).parse(text);
  if (!isJsonObject(record)) throw new UsageError('it must be the fields of one record');
  const body = checkRecord(access, before.value, record);
  const write = replacement(access.noun, id, before, body);
  requestOf(access.client, write);
  return write;
}

/** The body of an edited record. @throws UsageError that names each field that is wrong. */
function checkRecord({ noun, operation }: Access, before: JsonObject, record: JsonObject): Body {
  const old = before as Body;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  // Null in a field that the program knows leaves the field out, as in an update.
  const present = Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null || !Object.hasOwn(fieldSchemas(noun), name),
    ),
  );
  const fields = checkFields(noun, present, lackingFields(operation, present));
  const changes = Object.entries(fields).filter(([name, value]) => printJson(value) !== printJson(old[name]));
  // A field that was removed is left out of what is sent.
  const removed = Object.keys(old).filter((name) => name !== 'id' && !Object.hasOwn(fields, name));
  return Object.fromEntries([...changes, ...removed.map((name) => [name, undefined])]);
}

/**
 * Reads the record again and compares. Needed without an ETag, because the service then cannot detect a concurrent
 * change.
 */
async function checkUnchanged(access: Access, id: bigint, before: Answer<JsonObject>): Promise<void> {
  const now = await readRecord(access.client, access.noun.name, id);
  if (printJson(now.value) === printJson(before.value)) return;
  throw new CliError('failed', `${access.noun.singular} ${id} was changed in the meantime`, {
    hint: 'edit it again; nothing was overwritten',
  });
}
