import { toUpdateBody } from '../api/shapes.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { clientFor, type EditAccess, openAccess, readRecord } from './access.ts';
import {
  extraFields,
  flagFields,
  type Given,
  noteUnknownFields,
  refuseForeignFields,
  toBody,
} from './fields.ts';
import { checkIdsOrFile, resolveIds } from './names.ts';
import { type Body, type EditableNoun, flagOf, inputFor, nameAll, type Write } from './noun.ts';
import type { IdOrName } from './values.ts';
import { writeRecords } from './write.ts';

/** A record and its changes. */
interface Change {
  readonly id: bigint;
  readonly fields: Body;
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
  const requests = 2 * given.ids.length;
  const access = await openAccess(context, noun, noun.operations.update, requests);
  refuseForeignFields(access, { ...flags, ...extra });
  if (from === undefined) {
    const ids = await resolveIds(access, given.ids);
    if (ids.length > 1) refuseShared(noun, flags);
    await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
    const fields = await toBody(access, { ...flags, ...extra });
    const items = ids.map((id) => ({ id, fields }));
    return writeChanges(access, { items, asList: ids.length > 1 });
  }
  const { readRecordFile } = await import('./file.ts');
  const file = await readRecordFile(access, from, extra);
  const items = file.records;
  await confirmWrite(context, { what: `change ${items.length} ${noun.many}` });
  await noteUnknownFields(access, items);
  const client = await clientFor(context, 2 * items.length);
  await writeChanges(
    { ...access, client },
    {
      items,
      asList: file.isList,
      place: ({ place }) => place,
    },
  );
}

interface Changes<Item extends Change> {
  readonly items: readonly Item[];
  readonly asList: boolean;
  readonly place?: (item: Item) => string;
}

async function writeChanges<Entity extends object, Item extends Change>(
  access: EditAccess<Entity>,
  changes: Changes<Item>,
): Promise<void> {
  await writeRecords(access, {
    ...changes,
    atOnce: (await access.context.settings()).get('concurrency'),
    async prepare({ id, fields }) {
      const before = await readRecord(access, id);
      const body = toUpdateBody(access.operation, before.value, fields);
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

function refuseMisfits<Entity>(
  noun: EditableNoun<Entity>,
  ids: readonly IdOrName[],
  given: Body,
  from: string | undefined,
): void {
  const what = `update ${noun.one}`;
  const isEmpty = Object.keys(given).length === 0;
  checkIdsOrFile(what, ids, from);
  if (from !== undefined && !isEmpty)
    throw new UsageError(`${what}: --from cannot be given with flags of fields`);
  if (from === undefined && isEmpty)
    throw new UsageError(
      `${what}: nothing to change`,
      `give one or more of ${noun.fields.map(flagOf).join(', ')}`,
    );
  if (new Set(ids).size > 1) refuseShared(noun, given);
}

/** @throws UsageError for a field, such as a name, that several records would share. */
function refuseShared<Entity>({ one, many, fields }: EditableNoun<Entity>, given: Body): void {
  const own = fields.find((field) => field.own && field.name in given);
  if (!own) return;
  throw new UsageError(
    `update ${one}: ${flagOf(own)} would give several ${many} the same ${own.name}`,
    'change one at a time, or give a file with --from',
  );
}
