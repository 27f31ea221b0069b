import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { type CliError, UsageError } from '../errors.ts';
import { openSource, type Source } from '../input/source.ts';
import { type EditableNoun, toBody, type Write } from './noun.ts';
import { type FileRecord, readBodies } from './read-bodies.ts';
import { openWrites, writeRecords } from './write-records.ts';

/** Creates a record from each of a file, in its order; nothing is sent before all of them are known to be valid. */
export async function createFromFile<Row, Body extends object>(
  context: Context,
  noun: EditableNoun<Row, Body>,
  path: string,
): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    const { total, asList, names } = await survey(noun, await context.client(), source);
    const client = await openWrites(context, noun, {
      operation: noun.creation,
      what: `create ${total} ${noun.many}`,
    });
    await noticeFields(context, noun, names);
    const writes = {
      client,
      noun: noun.many,
      total,
      asList,
      prepare: ({ write }: Item<Row>) => write,
      place: ({ place }: Item<Row>) => place,
      isFatal,
    };
    await writeRecords(context, noun, { ...writes, items: toItems(noun, source) });
  } finally {
    await source.close();
  }
}

interface Item<Row> {
  readonly write: Write<Row>;
  readonly place: string;
}

async function* toItems<Row, Body extends object>(
  noun: EditableNoun<Row, Body>,
  source: Source,
): AsyncGenerator<Item<Row>> {
  for await (const record of readBodies(source, noun.schema)) yield toItem(noun, record);
}

function toItem<Row, Body extends object>(
  { schema, create }: EditableNoun<Row, Body>,
  { fields, place }: FileRecord,
): Item<Row> {
  return { write: create(toBody(schema, fields)), place };
}

interface Survey {
  readonly total: number;
  readonly asList: boolean;
  /** Names of all fields in the file. */
  readonly names: ReadonlySet<string>;
}

/** Reads the file once for all that may be wrong in it: its form, its fields, the bounds of the contract. */
async function survey<Row, Body extends object>(
  noun: EditableNoun<Row, Body>,
  client: Client,
  source: Source,
): Promise<Survey> {
  const names = new Set<string>();
  let total = 0;
  let asList = false;
  for await (const record of readBodies(source, noun.schema)) {
    total += 1;
    asList = record.isListed;
    for (const name of Object.keys(record.fields)) names.add(name);
    checkBounds(client, toItem(noun, record));
  }
  if (total === 0) throw new UsageError(`${source.name}: no records in it`);
  return { total, asList, names };
}

function checkBounds<Row>(client: Client, { write, place }: Item<Row>): void {
  try {
    write.toRequest(client);
  } catch (error) {
    throw error instanceof UsageError
      ? new UsageError(`${place}: ${error.message}`, error.details.hint)
      : error;
  }
}

/** Says once what of the records is not sent, or is sent without being understood. */
async function noticeFields<Row, Body extends object>(
  context: Context,
  { schema, many, one, creation }: EditableNoun<Row, Body>,
  names: ReadonlySet<string>,
): Promise<void> {
  const unknown = [...names].filter((name) => !Object.hasOwn(schema.entries, name));
  const body = (await context.contract()).operations.get(creation)?.body;
  const isDescribed = (name: string) =>
    body?.required.includes(name) || Object.hasOwn(body?.bounds ?? {}, name);
  const others = unknown.filter((name) => name !== 'id' && !isDescribed(name));
  if (unknown.includes('id'))
    await context.note(`note: ids in the file are left out, for the service gives each new ${one} its own`);
  if (others.length > 0)
    await context.note(`note: ${many} have no such fields, they are sent as they are: ${others.join(', ')}`);
}

/** After a refused token, or no answer after all retries, the next record would fare no better. */
function isFatal({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}
