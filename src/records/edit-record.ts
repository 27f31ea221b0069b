import { lackingFields, takesField } from '../api/contract.ts';
import type { Noun } from '../api/nouns.ts';
import type { Fields, ServiceRecord } from '../api/record-values.ts';
import { confirmWrite } from '../asking.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { editAndSend, findEditor } from '../input/editor.ts';
import type { Prepared } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { type Access, prepareRecords } from './access.ts';
import { checkFields } from './body-fields.ts';
import type { IdOrName } from './parse-values.ts';
import { namedNoun } from './record-fields.ts';
import { writeRecords } from './write-records.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved text back. */
export function editRecord(context: Context, noun: Noun, idOrName: IdOrName): Promise<Prepared> {
  return prepareRecords(context, noun, noun.operations.update, async (access) => {
    const editor = findEditor(context, `edit ${noun.singular}`);
    const id = await access.names.idOf(namedNoun(noun), idOrName);
    const subject = `${noun.singular} ${id}`;
    await confirmWrite(context, { what: `change ${subject}` });
    const { record: before } = await readRecord(access.client, noun.name, id, { isFresh: true });
    return editAndSend(context, {
      editor,
      fileName: `${noun.singular}-${id}.yaml`,
      task: `edit ${subject}`,
      usage: `# ${subject}. Save to send it. If you save it unchanged or empty, nothing is sent.\n`,
      originalText: (await loadYaml()).print(before.fields),
      parse: (text) => readChanges(access, id, before, text),
      async send(value) {
        // The whole record is expected as it was shown, without the fields that it lacked: nothing of others is overwritten.
        const absent = Object.fromEntries(Object.keys(value).map((name) => [name, undefined]));
        const intent = { kind: 'set', value, expected: { ...absent, ...before.fields } } as const;
        return writeRecords(access, [{ id, intent }], { asList: false });
      },
    });
  });
}

/** Returns the changes of an edited text. @throws UsageError or SyntaxError if the text is not valid. */
async function readChanges(access: Access, id: bigint, before: ServiceRecord, text: string): Promise<Fields> {
  const { client, noun } = access;
  const record = (await loadYaml()).parse(text);
  if (!isJsonObject(record)) throw new UsageError('it must be the fields of one record');
  const body = checkRecord(access, before.fields, record);
  // `toRequest` throws if the body does not fit the contract.
  client.toRequest(noun.operations.update, { id, body, before });
  return body;
}

/** Returns the changes of an edited record. @throws UsageError that names each field that is wrong. */
function checkRecord(access: Access, before: JsonObject, record: JsonObject): Fields {
  const { noun, operation } = access;
  const old: Fields = before;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  // Null removes a field that the program knows, as if its line were deleted.
  const remaining = Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null || !noun.fields.some((field) => field.name === name),
    ),
  );
  const fields = checkFields(access, remaining, lackingFields(operation, remaining));
  const changes = Object.entries(fields).filter(([name, value]) => printJson(value) !== printJson(old[name]));
  const unknown = changes.find(([name]) => !Object.hasOwn(old, name) && !takesField(operation, name));
  if (unknown) throw new UsageError(`${unknown[0]}: ${noun.plural} have no such field`);
  const removedNames = Object.keys(old).filter((name) => name !== 'id' && !Object.hasOwn(fields, name));
  return Object.fromEntries([...changes, ...removedNames.map((name) => [name, undefined])]);
}
