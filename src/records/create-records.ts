import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import type { EditableNoun, Field, Given } from './noun.ts';
import { openWrites, writeRecord } from './write-records.ts';

interface Creation<Body> {
  readonly given: Given<Body>;
  /** A file of records, instead of what flags give. */
  readonly from: string | undefined;
}

/** Creates one record from what flags gave, or many from a file. */
export async function createRecords<Row, Body extends object>(
  context: Context,
  noun: EditableNoun<Row, Body>,
  { given, from }: Creation<Body>,
): Promise<void> {
  if (from === undefined) return createRecord(context, noun, given);
  const { createFromFile } = await import('./create-from-file.ts');
  await createFromFile(context, noun, from);
}

/** Where something needed is missing, a person is asked for all that is not given. */
async function createRecord<Row, Body extends object>(
  context: Context,
  noun: EditableNoun<Row, Body>,
  given: Given<Body>,
): Promise<void> {
  const missing = await missingNames(context, noun, given);
  if (missing.length > 0 && !context.prompt()) throw missingError(noun, missing);
  const client = await openWrites(context, noun, {
    operation: noun.creation,
    what: `create ${noun.one}`,
  });
  const values = await given.values(client);
  const open = missing.length > 0 ? noun.fields.filter(({ name }) => !given.names.includes(name)) : [];
  const all: Partial<Body> = { ...values, ...(await ask(context, client, open)) };
  const ordered = noun.fields.map(({ name }) => [name, all[name]]).filter(([, value]) => value !== undefined);
  await writeRecord(context, noun, { client, write: noun.create(Object.fromEntries(ordered) as Body) });
}

/** What must be given: the fields that the contract requires, or where nothing at all was given, the first. */
async function missingNames<Row, Body extends object>(
  context: Context,
  { creation, fields }: EditableNoun<Row, Body>,
  { names }: Given<Body>,
): Promise<string[]> {
  const required = (await context.contract()).operations.get(creation)?.body?.required ?? [];
  const needed =
    required.length > 0 || names.length > 0 ? required : fields.slice(0, 1).map(({ name }) => name);
  return needed.filter((name) => !names.includes(name));
}

async function ask<Body extends object>(
  context: Context,
  client: Client,
  fields: readonly Field<Body>[],
): Promise<Partial<Body>> {
  const prompt = await context.prompt();
  const answers: Partial<Body> = {};
  for (const field of prompt ? fields : [])
    Object.assign(answers, prompt && (await field.ask(prompt, client)));
  return answers;
}

function missingError<Row, Body extends object>(
  { one, fields }: EditableNoun<Row, Body>,
  missing: readonly string[],
): UsageError {
  const flags = missing.map(
    (name) => fields.find((field) => field.name === name)?.flag ?? `${name} (no flag gives it)`,
  );
  const verb = missing.length === 1 ? 'is' : 'are';
  return new UsageError(
    `create ${one}: ${flags.join(' and ')} ${verb} missing`,
    'give them as flags, or records with --from <file or ->; on a terminal they are asked for',
  );
}
