import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import { checkOfferedFields, extraFields, flagFields, type RecordFlags } from './body-fields.ts';
import { type Body, type EditableNoun, flagOf, nameAll, openAccess } from './noun.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import type { Write } from './send-write.ts';
import { writeRecords } from './write.ts';

/** Reads each record, changes only the given fields, and writes it back. */
export async function updateRecords<Entity extends object>(
  context: Context,
  noun: EditableNoun<Entity>,
  idsOrNames: readonly IdOrName[],
  { field, values }: Pick<RecordFlags, 'field' | 'values'>,
): Promise<void> {
  const body = { ...flagFields(noun, values), ...extraFields(noun, field) };
  checkUpdate(noun, idsOrNames, body);
  const access = await openAccess(context, noun, noun.operations.update);
  checkOfferedFields(access, body);
  const ids = await access.names.idsOf(noun.named, idsOrNames);
  await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
  const fields = await access.names.resolve(body);
  const { error } = await writeRecords(access, {
    items: ids,
    asList: ids.length > 1,
    atOnce: context.settings.get('concurrency'),
    prepare: async (id) =>
      replacement(noun, id, await readRecord<Entity>(access.client, access.operation.noun, id), fields),
  });
  if (error) throw error;
}

/**
 * The write of a changed record. If the service has ETags, it applies only to the record as it was read.
 *
 * @param names the fields that it may change, by default those of the changes.
 */
export function replacement<Entity extends object>(
  { singular, operations }: EditableNoun<Entity>,
  id: bigint,
  before: Answer<Entity>,
  changes: Body,
  names: readonly string[] = Object.keys(changes),
): Write {
  return {
    operation: operations.update,
    input: { id, body: changes, before: before.value },
    options: { ifMatch: before.etag },
    change: { subject: `${singular} ${id}`, before: before.value, names },
  };
}

/** @throws UsageError for ids, flags and a file that do not go together. */
export function checkUpdate<Entity>(
  { singular, plural, fields }: EditableNoun<Entity>,
  ids: readonly IdOrName[],
  body: Body,
  from?: string,
): void {
  const what = `update ${singular}`;
  const isEmpty = Object.keys(body).length === 0;
  checkIdsOrFile(what, ids, from);
  if (from !== undefined && !isEmpty)
    throw new UsageError(`${what}: --from cannot be given with flags of fields`);
  if (from === undefined && isEmpty)
    throw new UsageError(
      `${what}: nothing to change`,
      `give one or more of ${fields.map(flagOf).join(', ')}`,
    );
  const unique = fields.find((field) => field.isUnique && field.name in body);
  if (unique && new Set(ids).size > 1)
    throw new UsageError(
      `${what}: ${flagOf(unique)} would give several ${plural} the same ${unique.name}`,
      'change one at a time, or give a file with --from',
    );
}
