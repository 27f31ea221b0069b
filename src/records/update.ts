import { offeredOperation } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { toUpdateBody } from '../api/shapes.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { cellText } from '../output/columns.ts';
import type { FileRecord } from './file.ts';
import {
  noteUnknownFields,
  readExtraFields,
  refuseForeignFields,
  toBodyFields,
  withoutAbsent,
} from './given.ts';
import { resolveIds } from './names.ts';
import { type Body, type EditableNoun, nameAll, type Write } from './noun.ts';
import type { IdOrName } from './values.ts';
import { openWrites, writeRecords } from './write.ts';

/** The input of an update: records and their changes, or a file with both. */
export interface Change {
  readonly ids: readonly IdOrName[];
  /** By their names in the body; undefined if a flag was not given. A name may stand for an id. */
  readonly given: Body;
  /** `--field name=value`. */
  readonly extra?: readonly string[] | undefined;
  readonly from?: string | undefined;
}

/** A record and its changes. */
interface Item {
  readonly id: bigint;
  readonly fields: Body;
  readonly place?: string;
}

/** Reads each record, changes only the given fields, and writes it back. */
export async function updateRecords<Row extends object>(
  context: Context,
  noun: EditableNoun<Row>,
  { ids: texts, given: flags, extra, from }: Change,
): Promise<void> {
  const others = readExtraFields(noun, extra);
  const given = { ...withoutAbsent(flags), ...others };
  refuseMisfits(noun, { texts, names: Object.keys(from === undefined ? given : withoutAbsent(flags)), from });
  const client = await openWrites(context, noun, replacementOf(noun), 2 * texts.length);
  refuseForeignFields(offeredOperation(client.contract, replacementOf(noun)), noun, given);
  if (from !== undefined) return updateFromFile(context, client, noun, from, others);
  const ids = await resolveIds(context, client, noun.named, texts);
  if (ids.length > 1) refuseShared(noun, Object.keys(given));
  await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
  const operation = offeredOperation(client.contract, replacementOf(noun));
  const fields = await toBodyFields(context, client, operation, given);
  await writeChanges(context, client, noun, {
    items: ids.map((id) => ({ id, fields })),
    total: ids.length,
    asList: ids.length > 1,
  });
}

/** Updates the records in a file, each with the fields that the file has for it. */
async function updateFromFile<Row extends object>(
  context: Context,
  few: Client,
  noun: EditableNoun<Row>,
  path: string,
  extra: Body,
): Promise<void> {
  const { openRecordFile } = await import('./file.ts');
  const operation = offeredOperation(few.contract, replacementOf(noun));
  const file = await openRecordFile(context, few, noun, path, { operation, use: 'update', extra });
  try {
    await confirmWrite(context, { what: `change ${file.total} ${noun.many}` });
    await noteUnknownFields(context, noun, operation, file.fieldNames);
    const client = file.total < 10 ? few : await context.client('many');
    await writeChanges(context, client, noun, {
      items: toItems(context, client, operation, file.records()),
      total: file.total,
      asList: file.isList,
      place: ({ place }) => place,
    });
  } finally {
    await file.close();
  }
}

async function* toItems(
  context: Context,
  client: Client,
  operation: Operation,
  records: AsyncIterable<FileRecord>,
): AsyncGenerator<Item> {
  for await (const { id, fields, place } of records)
    if (id !== undefined) yield { id, fields: await toBodyFields(context, client, operation, fields), place };
}

interface Changes {
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  readonly total: number;
  readonly asList: boolean;
  place?(item: Item): string | undefined;
}

async function writeChanges<Row extends object>(
  context: Context,
  client: Client,
  noun: EditableNoun<Row>,
  changes: Changes,
): Promise<void> {
  const before = new Map<bigint, Row>();
  await writeRecords(context, noun, client, {
    ...changes,
    noun: noun.many,
    atOnce: (await context.settings()).get('concurrency'),
    async prepare({ id, fields }) {
      const answer = await noun.read(context, client, id);
      before.set(id, answer.value);
      return toReplacement(client, noun, id, answer, fields);
    },
    async onSent({ id, fields }, row) {
      await tellChange(context, noun, { id, before: before.get(id) ?? {}, after: row ?? fields, fields });
      before.delete(id);
    },
  });
}

/**
 * For a PUT the whole record, with unknown fields unchanged; for a PATCH the changed fields and those that its body
 * requires. If the service has ETags, it applies only to the record as it was read.
 */
export function toReplacement<Row extends object>(
  { contract }: Client,
  noun: EditableNoun<Row>,
  id: bigint,
  before: Answer<Row>,
  fields: Body,
): Write<Row> {
  const operation = offeredOperation(contract, replacementOf(noun));
  return noun.replace(id, toUpdateBody(operation, before.value, fields), { ifMatch: before.etag });
}

interface Told {
  readonly id: bigint;
  readonly before: object;
  readonly after: object;
  /** The changed fields. */
  readonly fields: object;
}

/** Shows the user the changes of a write: `pet 3: status available -> sold`. */
export async function tellChange(
  context: Context,
  noun: { readonly one: string },
  { id, before, after, fields }: Told,
): Promise<void> {
  if (!context.io.stderr.isTerminal) return;
  const [old, now] = [before as Body, after as Body];
  const changes = Object.keys(fields)
    .map((name) => ({ name, from: shown(old[name]), to: shown(name in now ? now[name] : undefined) }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `${name} ${from} -> ${to}`);
  await context.notice(`${noun.one} ${id}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`);
}

function shown(value: unknown): string {
  const text = cellText(value as JsonValue | undefined);
  return text === '' ? 'none' : text;
}

export function replacementOf<Row>(noun: EditableNoun<Row>) {
  return noun.replace(0n, {}).operationId;
}

interface Asked {
  readonly texts: readonly IdOrName[];
  readonly names: readonly string[];
  readonly from: string | undefined;
}

function refuseMisfits<Row>(noun: EditableNoun<Row>, { texts, names, from }: Asked): void {
  const { one, fields } = noun;
  if (from !== undefined && texts.length > 0)
    throw new UsageError(`update ${one}: give ids or --from, not both`, 'the file of --from has the ids');
  if (from !== undefined && names.length > 0)
    throw new UsageError(`update ${one}: --from cannot be given with flags of fields`);
  if (from !== undefined) return;
  if (texts.length === 0)
    throw new UsageError(`update ${one}: no id is given`, 'give one or more, or --from <file or ->');
  if (names.length === 0)
    throw new UsageError(
      `update ${one}: nothing to change`,
      `give one or more of ${fields.map(({ flag }) => flag).join(', ')}`,
    );
  if (texts.length > 1 && new Set(texts).size > 1) refuseShared(noun, names);
}

/** @throws UsageError for a field, such as a name, that several records would share. */
function refuseShared<Row>({ one, many, fields }: EditableNoun<Row>, names: readonly string[]): void {
  const own = fields.find((field) => field.own && names.includes(field.name));
  if (!own) return;
  throw new UsageError(
    `update ${one}: ${own.flag} would give several ${many} the same ${own.name}`,
    'change one at a time, or give a file with --from',
  );
}
