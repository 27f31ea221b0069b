import { lackingFields, takesField } from '../api/contract.ts';
import { referenceFields } from '../api/nouns.ts';
import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import { askOptional, askParsed, type Prompt } from '../input/question.ts';
import { UsageError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { shellWord } from '../process/text.ts';
import { type Access, openAccess } from './access.ts';
import { checkOfferedFields, extraFields, flagFields, type RecordFlags } from './body-fields.ts';
import { fieldKinds } from './field-kinds.ts';
import type { Names } from './names.ts';
import { parseIdOrName } from './parse-values.ts';
import { type Body, columnOf, type Field, findField, flagOf, type RecordNoun } from './record-nouns.ts';
import { writeRecord } from './write-records.ts';

/** Creates one record from flags, or one for each record of a file. */
export async function createRecords(context: Context, noun: RecordNoun, flags: RecordFlags): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.create);
  const extra = extraFields(noun, flags.field);
  const fields = { ...flagFields(noun, flags.values), ...extra };
  checkOfferedFields(access, fields);
  if (flags.from !== undefined) {
    const { createFromFile } = await import('./from-file.ts');
    return createFromFile(access, flags.from, extra);
  }
  const openFields = fieldsToAsk(access, fields);
  await confirmWrite(context, { what: `create ${noun.singular}` });
  const values: Record<string, unknown> = { ...flags.values };
  const prompt = await context.prompt();
  if (prompt)
    for (const field of openFields) values[columnOf(field)] = await askField(prompt, access.names, field);
  const body = await access.names.resolve({ ...flagFields(noun, values), ...extra });
  await writeRecord(access, () => ({ operation: noun.operations.create, input: { body } }));
}

/**
 * The fields to ask the user for: all that the flags do not give, if a required or a wanted one is missing; else none.
 *
 * @throws UsageError that names the missing fields if questions are impossible, or one of them has no flag.
 */
function fieldsToAsk({ context, noun, operation }: Access, body: Body): readonly Field[] {
  const askable = noun.fields.filter(({ name }) => !(name in body) && takesField(operation, name));
  let missing = lackingFields(operation, body);
  const wantedFields = askable.filter((field) => field.isWanted);
  if (missing.length === 0 && wantedFields.length > 0 && context.prompt()) return askable;
  // If no field is required and none was given, one is named, because an empty body makes no sense.
  if (missing.length === 0 && Object.keys(body).length === 0)
    missing = (wantedFields.length > 0 ? wantedFields : askable.slice(0, 1)).map(({ name }) => name);
  if (missing.length === 0) return [];
  const hasFlags = missing.every((name) => findField(noun, name));
  if (hasFlags && context.prompt()) return askable;
  const flagTexts = missing.map((name) => {
    const field = findField(noun, name);
    return field
      ? flagOf(field)
      : `--field ${name}=${asArgument(operation.body?.fields[name]?.example ?? 'value')}`;
  });
  throw new UsageError(
    `create ${noun.singular}: ${flagTexts.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    hasFlags
      ? `give ${missing.length === 1 ? 'it as a flag' : 'them as flags'}, or records with --from <file or ->; a terminal asks for what is missing`
      : 'the service requires fields that have no flag: give each with --field name=value, as JSON or text',
  );
}

function asArgument(example: unknown): string {
  return shellWord(typeof example === 'string' ? example : printJson(example));
}

/** Asks for the value of a field in a new record; undefined if the user leaves it out. */
async function askField(prompt: Prompt, names: Names, field: Field): Promise<unknown> {
  // `Ship date` for `shipDate`.
  const words = columnOf(field).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const label = words.charAt(0).toUpperCase() + words.slice(1);
  const optional = `${label} (Enter for none)`;
  if (field.kind === 'reference') return askReference(prompt, names, field, label);
  const { placeholder, choices, parse, isOptional } = fieldKinds[field.kind];
  if (placeholder === undefined) return undefined;
  if (choices)
    return prompt.select(
      label,
      choices.map((word) => ({ name: word, value: word })),
    );
  return isOptional ? askOptional(prompt, optional, parse) : askParsed(prompt, label, parse);
}

/** Asks for a pet or a category: from the list, or by its id if the service has no list. */
async function askReference(prompt: Prompt, names: Names, field: Field, label: string): Promise<unknown> {
  const noun = referenceFields[field.name] ?? 'pets';
  if (!names.isListed(noun))
    return field.isWanted
      ? askParsed(prompt, label, parseIdOrName)
      : askOptional(prompt, label, parseIdOrName);
  const records = await names.list(noun);
  if (records.length === 0)
    throw new UsageError(`there are no ${noun}`, `make one with \`petstore ${noun} create\``);
  const choices = records.map(({ id, name, description, status }) => ({
    name: `${name} (${id})`,
    value: id,
    description: description ?? status ?? undefined,
  }));
  return prompt.search(label, choices);
}
