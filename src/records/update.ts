import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { checkOfferedFields, extraFields, flagFields, type Given } from './body-fields.ts';
import { type Body, type EditableNoun, flagOf, inputFor, nameAll, openAccess, readRecord } from './noun.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import type { Write } from './send-write.ts';
import { writeRecords } from './write.ts';

/** Reads each record, changes only the given fields, and writes it back; or does so for each record of a file. */
export async function updateRecords<Entity extends object>(
  context: Context,
  noun: EditableNoun<Entity>,
  given: readonly IdOrName[],
  { from, field, values }: Given,
): Promise<void> {
  const flags = flagFields(noun, values);
  const extra = extraFields(noun, field);
  checkCombination(noun, given, { ...flags, ...(from === undefined && extra) }, from);
  const use = from === undefined ? 'records' : 'bulk';
  const access = await openAccess(context, noun, noun.operations.update, use);
  checkOfferedFields(access, { ...flags, ...extra });
  if (from === undefined) {
    const ids = await access.names.idsOf(noun.named, given);
    await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
    const fields = await access.names.resolve({ ...flags, ...extra });
    const { error } = await writeRecords(access, {
      items: ids,
      asList: ids.length > 1,
      atOnce: context.settings.get('concurrency'),
      prepare: async (id) => replacement(noun, id, await readRecord(access, id), fields),
    });
    if (error) throw error;
    return;
  }
  const [{ updateFromFile }, { withoutPrinted }] = await Promise.all([
    import('./from-file.ts'),
    import('./record-layout.ts'),
  ]);
  return updateFromFile(access, from, extra, async ({ id = 0n, fields }, { format }) => {
    const before = await readRecord(access, id);
    const edited = format.delimiter === '' ? fields : withoutPrinted(before.value, fields);
    const isChanged = Object.entries(edited).some(
      ([name, value]) => !isSame(before.value as Body, name, value),
    );
    return isChanged ? replacement(noun, id, before, edited) : { unchanged: before.value };
  });
}

/** Whether a record has a value already; null leaves a field out. A category is an id, or `{id, name}`. */
function isSame(record: Body, name: string, value: unknown): boolean {
  const { id, name: category } = isJsonObject(value as JsonValue) ? (value as JsonObject) : {};
  const isCategory = name === 'categoryId' && (id !== undefined || category !== undefined);
  const [wanted, found] = !isCategory
    ? [value, record[name]]
    : id === undefined
      ? [category, record.category]
      : [id, record.categoryId];
  return printJson(wanted ?? null) === printJson(found ?? null);
}

/**
 * The write of a changed record. If the service has ETags, it applies only to the record as it was read.
 *
 * @param names the fields that it may change, by default those of the changes.
 */
export function replacement<Entity extends object>(
  { one, operations }: EditableNoun<Entity>,
  id: bigint,
  before: Answer<Entity>,
  changes: Body,
  names: readonly string[] = Object.keys(changes),
): Write {
  return {
    operation: operations.update,
    input: { ...inputFor(operations.update, id, changes), before: before.value },
    options: { ifMatch: before.etag },
    change: { subject: `${one} ${id}`, before: before.value, names },
  };
}

/** @throws UsageError for ids, flags and a file that do not go together. */
function checkCombination<Entity>(
  { one, many, fields }: EditableNoun<Entity>,
  ids: readonly IdOrName[],
  given: Body,
  from: string | undefined,
): void {
  const what = `update ${one}`;
  const isEmpty = Object.keys(given).length === 0;
  checkIdsOrFile(what, ids, from);
  if (from !== undefined && !isEmpty)
    throw new UsageError(`${what}: --from cannot be given with flags of fields`);
  if (from === undefined && isEmpty)
    throw new UsageError(
      `${what}: nothing to change`,
      `give one or more of ${fields.map(flagOf).join(', ')}`,
    );
  const own = fields.find((field) => field.own && field.name in given);
  if (own && new Set(ids).size > 1)
    throw new UsageError(
      `${what}: ${flagOf(own)} would give several ${many} the same ${own.name}`,
      'change one at a time, or give a file with --from',
    );
}
