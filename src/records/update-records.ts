import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { type EditableNoun, type Given, nameAll, toBody, type Write } from './noun.ts';
import { openWrites, writeRecords } from './write-records.ts';

interface Change<Body> {
  readonly ids: readonly bigint[];
  readonly given: Given<Body>;
}

/** Reads each record, changes what was given, and nothing else, and writes it back. */
export async function updateRecords<Row extends object, Body extends object>(
  context: Context,
  noun: EditableNoun<Row, Body>,
  { ids, given }: Change<Body>,
): Promise<void> {
  if (given.names.length === 0) throw nothingGiven(noun);
  const items = [...new Set(ids)];
  const client = await openWrites(context, noun, {
    operation: noun.replacement,
    what: `change ${nameAll(noun, items)}`,
    requests: 2 * items.length,
  });
  const values = given.values(client);
  const prepare = async (id: bigint) => {
    const [before, changes] = await Promise.all([noun.read(context, client, id), values]);
    return toReplacement(client, noun, { id, before, changes });
  };
  await writeRecords(context, noun, {
    client,
    noun: noun.many,
    items,
    total: items.length,
    prepare,
    asList: items.length > 1,
  });
}

interface Replacement<Row, Body> {
  readonly id: bigint;
  readonly before: Answer<Row>;
  readonly changes: Partial<Body>;
}

/**
 * As a PUT the whole record, what the program does not know as it came; as a PATCH what changes. It holds only for the
 * record as it was read, where the service can tell.
 */
function toReplacement<Row extends object, Body extends object>(
  client: Client,
  noun: EditableNoun<Row, Body>,
  { id, before, changes }: Replacement<Row, Body>,
): Write<Row> {
  const isPatch = client.contract.operations.get(noun.replacement)?.method === 'PATCH';
  const body = toBody<Body>(noun.schema, isPatch ? {} : before.value);
  return noun.replace(id, { ...body, ...changes }, { ifMatch: before.etag });
}

function nothingGiven<Row, Body extends object>({ one, fields }: EditableNoun<Row, Body>): UsageError {
  const flags = fields.map(({ flag }) => flag);
  return new UsageError(`update ${one}: nothing to change`, `give one or more of ${flags.join(', ')}`);
}
