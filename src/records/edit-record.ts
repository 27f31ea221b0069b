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
import { createUpdate } from './update.ts';
import { requestOf, type Write } from './write.ts';
import { writeRecord } from './write-records.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved text back. */
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
    task: `edit ${subject}`,
    usage: `# ${subject}. Save to send it. If you save it unchanged or empty, nothing is sent.\n`,
    originalText: (await loadYaml()).print(before.value),
    unchangedMessage: `${subject}: nothing was changed, and nothing was sent`,
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

/** Returns the write of an edited text. @throws UsageError or SyntaxError if the text is not valid. */
async function toWrite(access: Access, id: bigint, before: Answer<JsonObject>, text: string): Promise<Write> {
  const record = (await loadYaml()).parse(text);
  if (!isJsonObject(record)) throw new UsageError('it must be the fields of one record');
  const body = checkRecord(access, before.value, record);
  const write = createUpdate(access.noun, id, before, body);
  // To make the request checks the input by the contract.
  requestOf(access.client, write);
  return write;
}

/** Returns the changes of an edited record. @throws UsageError that names each field that is wrong. */
function checkRecord(access: Access, before: JsonObject, record: JsonObject): Body {
  const { noun, operation } = access;
  const old = before as Body;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  // Null removes a field that the program knows, as if its line were deleted.
  const remaining = Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null || !Object.hasOwn(fieldSchemas(noun), name),
    ),
  );
  const fields = checkFields(access, remaining, lackingFields(operation, remaining));
  const changes = Object.entries(fields).filter(([name, value]) => printJson(value) !== printJson(old[name]));
  const removedNames = Object.keys(old).filter((name) => name !== 'id' && !Object.hasOwn(fields, name));
  return Object.fromEntries([...changes, ...removedNames.map((name) => [name, undefined])]);
}

/**
 * Reads the record again and compares it with the record that was edited. Without an ETag the service cannot detect a
 * concurrent change.
 *
 * @throws CliError `failed` if the record has changed.
 */
async function checkUnchanged(access: Access, id: bigint, before: Answer<JsonObject>): Promise<void> {
  const current = await readRecord(access.client, access.noun.name, id);
  if (printJson(current.value) === printJson(before.value)) return;
  throw new CliError('failed', `${access.noun.singular} ${id} was changed in the meantime`, {
    hint: 'edit it again; nothing was overwritten',
  });
}
