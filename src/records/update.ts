import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { openAccess } from './access.ts';
import { checkOfferedFields, extraFields, flagFields, type RecordFlags } from './body-fields.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import { type Body, flagOf, nameAll, namedNoun, type RecordNoun } from './record-nouns.ts';
import type { Write } from './write.ts';
import { writeRecords } from './write-records.ts';

/** Reads each record, changes only the given fields, and writes it back. */
export async function updateRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
  { field, values }: Pick<RecordFlags, 'field' | 'values'>,
): Promise<void> {
  const body = { ...flagFields(noun, values), ...extraFields(noun, field) };
  checkUpdate(noun, idsOrNames, body);
  const access = await openAccess(context, noun, noun.operations.update);
  checkOfferedFields(access, body);
  const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
  await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
  const fields = await access.names.resolve(body);
  const prepare = async (id: bigint) =>
    replacement(noun, id, await readRecord(access.client, noun.name, id), fields);
  const { error } = await writeRecords(access, ids, prepare, { asList: ids.length > 1 });
  if (error) throw error;
}

/** The write of a changed record. If the service has ETags, it applies only to the record as it was read. */
export function replacement(
  { operations }: RecordNoun,
  id: bigint,
  before: Answer<JsonObject>,
  changes: Body,
): Write {
  const input = { id, body: changes, before: before.value };
  return { operation: operations.update, input, ifMatch: before.etag };
}

/** @throws UsageError for ids, flags and a file that do not go together. */
export function checkUpdate(
  { singular, plural, fields }: RecordNoun,
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
  const name = fields.find((field) => field.kind === 'name' && field.name in body);
  if (name && new Set(ids).size > 1)
    throw new UsageError(
      `${what}: ${flagOf(name)} would give several ${plural} the same ${name.name}`,
      'change one at a time, or give a file with --from',
    );
}
