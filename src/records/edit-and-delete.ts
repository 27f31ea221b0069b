import { canRead, lackingFields, takesField } from '../api/contract.ts';
import { type Noun, nouns } from '../api/nouns.ts';
import { categoryName, type Fields, type ServiceRecord } from '../api/record-values.ts';
import { canAsk, confirmWrite, whyNotAsked } from '../asking.ts';
import { readRecord } from '../client/client.ts';
import type { Context } from '../context.ts';
import { editAndSend, requireEditor } from '../input/editor.ts';
import type { Output } from '../output/printer.ts';
import { forEachConcurrently } from '../process/deadline.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { openAccess, type RecordAccess } from './access.ts';
import { parseFields } from './body-fields.ts';
import { type IdOrName, recordsText } from './record-fields.ts';
import { writeRecords } from './write-records.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved text back. */
export async function editRecord(context: Context, noun: Noun, idOrName: IdOrName): Promise<Output> {
  const access = await openAccess(context, noun, 'update');
  const editor = requireEditor(context.io, `edit ${noun.singular}`, whyNotAsked(context));
  const id = await access.names.requireId(noun.idName, idOrName);
  const subject = `${noun.singular} ${id}`;
  await confirmWrite(context, { what: `change ${subject}` });
  const shown = await readRecord(access.client, noun.name, id);
  return editAndSend(context, {
    editor,
    fileName: `${noun.singular}-${id}.yaml`,
    task: `edit ${subject}`,
    comments: `# ${subject}. Save to send it. If you save it unchanged or empty, nothing is sent.\n`,
    originalText: (await loadYaml()).print(editableFields(shown)),
    parse: (text) => parseChanges(access, id, shown, text),
    async send(value) {
      // The record must be as it was shown, and must still lack the fields that are added: no change by others is overwritten.
      const absent = Object.fromEntries(Object.keys(value).map((name) => [name, undefined]));
      const intent = { kind: 'set', value, expected: { ...absent, ...shown.fields } } as const;
      return writeRecords(access, [{ id, intent }]);
    },
  });
}

/** Returns the fields of a record without the name of a category, which its id says. */
function editableFields({ fields: { [categoryName]: _, ...fields } }: ServiceRecord): JsonObject {
  return fields;
}

/** Returns the changes of an edited text. @throws UsageError or SyntaxError if the text is not valid. */
async function parseChanges(
  access: RecordAccess,
  id: bigint,
  shown: ServiceRecord,
  text: string,
): Promise<Fields> {
  const { client, noun } = access;
  const record = (await loadYaml()).parse(text);
  if (!isJsonObject(record)) throw new UsageError('the text must hold the fields of one record');
  const changes = changesIn(access, editableFields(shown), record);
  const body = await access.names.resolve(changes, access.operation);
  client.preview({ operation: noun.operations.update, input: { id, body, before: shown } });
  return body;
}

/** Returns the changes of an edited record. @throws UsageError that names a field that is wrong. */
function changesIn(access: RecordAccess, old: Fields, record: JsonObject): Fields {
  const { noun, operation } = access;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  // Null removes one of our fields, like deleting its line.
  const remainingFields = Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null || !noun.fields.some((field) => field.name === name),
    ),
  );
  const isChanged = ([name, value]: readonly [string, JsonValue | undefined]) =>
    printJson(value) !== printJson(old[name]);
  // The service may show values that petstore does not write, such as -3.
  const edited = Object.fromEntries(Object.entries(remainingFields).filter(isChanged));
  const fields = parseFields(access, edited, lackingFields(operation, remainingFields));
  const changes = Object.entries(fields).filter(isChanged);
  const unknown = changes.find(([name]) => !Object.hasOwn(old, name) && !takesField(operation, name));
  if (unknown) throw new UsageError(`${unknown[0]}: ${noun.plural} have no such field`);
  const isRemoved = (name: string) =>
    name !== 'id' && (old[name] ?? null) !== null && !Object.hasOwn(remainingFields, name);
  const removedNames = Object.keys(old).filter(isRemoved);
  return Object.fromEntries([...changes, ...removedNames.map((name) => [name, undefined])]);
}

/**
 * Deletes records, after a question that names them. It does not delete a record that has changed since the question. If a deletion
 * fails, the others go on. Each deletion is reported on stderr.
 */
export async function deleteRecords(
  context: Context,
  noun: Noun,
  idsOrNames: readonly IdOrName[],
): Promise<Output> {
  const access = await openAccess(context, noun, 'delete');
  const ids = await access.names.requireIds(noun.idName, idsOrNames);
  const details = await readDetails(access, ids);
  const present = ids.filter((id) => details.get(id)?.fields !== null);
  const describe = (some: readonly bigint[]) => recordsText(noun, some, (id) => details.get(id)?.title);
  if (present.length > 0)
    await confirmWrite(context, { what: `delete ${describe(present)}`, needsYes: true });
  // A record is deleted only if it is still as the question showed it.
  const writes = ids.map((id) => ({
    id,
    intent: { kind: 'remove', expected: details.get(id)?.fields } as const,
  }));
  const isReadable = canRead(access.client.contract, noun.name);
  const how = isReadable ? '' : ' by its id, because the service offers no way to read it';
  return writeRecords(access, writes, ({ id = 0n }) => `deleted ${describe([id])}${how}`);
}

interface RecordDetails {
  /** The title, with the record that is deleted with it: `Rex, with its inventory entry: 3 in stock`. */
  readonly title?: string;
  /** Null if the record does not exist. Then the question does not name it. */
  readonly fields?: JsonObject | null;
}

/** Reads the details of each record for the question. Returns none if no question is asked. */
async function readDetails(
  access: RecordAccess,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, RecordDetails>> {
  const { context, client, noun } = access;
  const details = new Map<bigint, RecordDetails>();
  if (context.flags.yes || context.flags.dryRun || !canAsk(context)) return details;
  const read = async (id: bigint) => {
    try {
      const { fields } = await readRecord(client, noun.name, id);
      details.set(id, { title: noun.title(fields) + (await readCompanion(access, id)), fields });
    } catch (error) {
      // The deletion reads the record again, and reports the error.
      if (!(error instanceof CliError)) throw error;
      details.set(id, error.kind === 'not-found' ? { fields: null } : {});
    }
  };
  await forEachConcurrently(client.limits.concurrency, ids, read);
  return details;
}

/** Describes the inventory entry that is deleted with a pet, or an empty text if there is none. */
async function readCompanion({ client, noun }: RecordAccess, id: bigint): Promise<string> {
  if (noun.name !== 'pets' || !client.contract.operations.has('getInventory')) return '';
  const entry = await readRecord(client, 'inventory', id).catch(() => undefined);
  return entry ? `, with its inventory entry: ${nouns.inventory.title(entry.fields)}` : '';
}
