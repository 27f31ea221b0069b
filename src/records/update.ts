import { toUpdateBody } from '../api/shapes.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import {
  extraFields,
  flagFields,
  type Given,
  noteUnknownFields,
  refuseForeignFields,
  toBody,
} from './fields.ts';
import {
  type Body,
  type EditAccess,
  type EditableNoun,
  flagOf,
  inputFor,
  nameAll,
  openAccess,
  readRecord,
} from './noun.ts';
import { checkIdsOrFile, type IdOrName } from './values.ts';
import { type Write, writeRecords } from './write.ts';

/** A record and its changes. */
interface Change {
  readonly id: bigint;
  readonly fields: Body;
  /** In a file. */
  readonly place?: string;
}

/** Reads each record, changes only the given fields, and writes it back; or does so for each record of a file. */
export async function updateRecords<Entity extends object>(
  context: Context,
  noun: EditableNoun<Entity>,
  given: Given & { readonly ids: readonly IdOrName[] },
): Promise<void> {
  const { from } = given;
  const flags = flagFields(noun, given);
  const extra = extraFields(noun, given);
  refuseMisfits(noun, given.ids, { ...flags, ...(from === undefined && extra) }, from);
  const use = from === undefined ? 'records' : 'bulk';
  const access = await openAccess(context, noun, noun.operations.update, use);
  refuseForeignFields(access, { ...flags, ...extra });
  if (from === undefined) {
    const ids = await access.names.idsOf(noun.named, given.ids);
    await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
    const fields = await toBody(access, { ...flags, ...extra });
    const changes = ids.map((id) => ({ id, fields }));
    return writeChanges(access, changes, ids.length > 1);
  }
  const { readRecordFile, withoutPrinted } = await import('./file.ts');
  const file = await readRecordFile(access, from, extra);
  await confirmWrite(context, { what: `change ${file.records.length} ${noun.many}` });
  await noteUnknownFields(access, file.records);
  await writeChanges(access, file.records, file.isList, file.isTable ? withoutPrinted : undefined);
}

/** @param edited picks the fields that were edited, given the record as it is. */
async function writeChanges<Entity extends object>(
  access: EditAccess<Entity>,
  changes: readonly Change[],
  asList: boolean,
  edited: (record: object, fields: Body) => Body = (_, fields) => fields,
): Promise<void> {
  await writeRecords(access, {
    items: changes,
    asList,
    atOnce: (await access.context.settings()).get('concurrency'),
    place: ({ place }) => place,
    async prepare({ id, fields }) {
      const before = await readRecord(access, id);
      const body = toUpdateBody(access.operation, before.value, edited(before.value, fields));
      return replacement(access.noun, id, before, body, Object.keys(fields));
    },
  });
}

/**
 * The write of a changed record. If the service has ETags, it applies only to the record as it was read.
 *
 * @param names the fields that it may change.
 */
export function replacement<Entity extends object>(
  { one, operations }: EditableNoun<Entity>,
  id: bigint,
  before: Answer<Entity>,
  body: Body,
  names: readonly string[],
): Write {
  return {
    operation: operations.update,
    input: inputFor(operations.update, id, body),
    options: { ifMatch: before.etag },
    change: { subject: `${one} ${id}`, before: before.value, names },
  };
}

/** @throws UsageError for ids, flags and a file that do not go together. */
function refuseMisfits<Entity>(
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
