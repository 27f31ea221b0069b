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
  const isAsked = unflagged(noun, missing).length === 0 && context.prompt() !== undefined;
  if (missing.length > 0 && !isAsked) throw missingError(noun, missing, given.names);
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
  noun: EditableNoun<Row, Body>,
  missing: readonly string[],
  given: readonly string[],
): UsageError {
  const names = [...given, ...missing];
  const flags = missing.map(
    (name) => noun.fields.find((field) => field.name === name)?.flag ?? `${name} (no flag gives it)`,
  );
  const verb = missing.length === 1 ? 'is' : 'are';
  return new UsageError(
    `create ${noun.one}: ${flags.join(' and ')} ${verb} missing`,
    unflagged(noun, missing).length > 0
      ? `give the whole record as JSON, with fields of the service's own: ${exampleOf(noun, names)}`
      : 'give them as flags, or records with --from <file or ->; on a terminal they are asked for',
  );
}

/** What the service wants and this program does not know. */
function unflagged<Row, Body extends object>(
  { fields }: EditableNoun<Row, Body>,
  missing: readonly string[],
): string[] {
  return missing.filter((name) => !fields.some((field) => field.name === name));
}

/** As `echo '{"name": …}' | petstore pets create --from -`. */
function exampleOf<Row, Body extends object>(
  noun: EditableNoun<Row, Body>,
  names: readonly string[],
): string {
  const fields = [...new Set(names)].map((name) => `${JSON.stringify(name)}: …`);
  return `echo '{${fields.join(', ')}}' | petstore ${noun.many} create --from -`;
}
