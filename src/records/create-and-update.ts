import { lackingFields, takesField } from '../api/contract.ts';
import { type Field, type Noun, nouns } from '../api/nouns.ts';
import type { Fields } from '../api/record-values.ts';
import { canAsk, confirmWrite, openPrompt } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Prompt } from '../input/prompt.ts';
import type { Output } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Intent } from '../writes/row.ts';
import { openAccess, type RecordAccess } from './access.ts';
import { type RecordFlags, toBody } from './body-fields.ts';
import type { Names } from './names.ts';
import {
  columnOf,
  fieldKinds,
  findField,
  flagOf,
  type IdOrName,
  parseIdOrName,
  parseText,
  recordsText,
  statusesOf,
  toServiceValue,
} from './record-fields.ts';
import { writeRecords } from './write-records.ts';

export async function createRecord(context: Context, noun: Noun, flags: RecordFlags): Promise<Output> {
  const access = await openAccess(context, noun, 'create');
  const fields: Record<string, JsonValue | undefined> = { ...toBody(access, flags) };
  const fieldsToAsk = findFieldsToAsk(access, fields);
  await confirmWrite(context, { what: `create ${noun.singular}` });
  const prompt = await openPrompt(context);
  if (prompt)
    for (const field of fieldsToAsk) {
      const answer = await askField(prompt, access, field);
      if (answer !== undefined) fields[field.name] = answer;
    }
  const body = await access.names.resolve(fields, access.operation);
  return writeRecords(access, [{ intent: { kind: 'create', fields: body } }]);
}

/** Changes fields of records: reads each record, changes the fields, and writes it back. */
export async function updateRecords(
  context: Context,
  noun: Noun,
  idsOrNames: readonly IdOrName[],
  flags: RecordFlags,
): Promise<Output> {
  const access = await openAccess(context, noun, 'update');
  const body = toBody(access, flags);
  if (Object.keys(body).length === 0)
    throw new UsageError(
      `${noun.name} update: nothing to change`,
      `give one or more of ${noun.fields.map(flagOf).join(', ')}`,
    );
  const ids = await access.names.requireIds(noun.idName, idsOrNames);
  await confirmWrite(context, { what: `change ${recordsText(noun, ids)}` });
  const value = await access.names.resolve(body, access.operation);
  const writes = ids.map((id) => ({ id, intent: { kind: 'set', value } as const }));
  return writeRecords(access, writes);
}

/** Writes the count of a pet: sets it, adds to the current count, or creates the entry. */
export async function writeCount(
  context: Context,
  pet: IdOrName,
  kind: 'set' | 'add' | 'create',
  count: number,
): Promise<Output> {
  const access = await openAccess(context, nouns.inventory, kind === 'create' ? 'create' : 'update');
  const id = await access.names.requireId('petId', pet);
  const questions = {
    set: `set the stock of pet ${id} to ${count}`,
    add: `change the stock of pet ${id} by ${count}`,
    create: `create the inventory entry of pet ${id}`,
  };
  await confirmWrite(context, { what: questions[kind] });
  const intents: Readonly<Record<typeof kind, Intent>> = {
    set: { kind: 'set', value: count },
    add: { kind: 'add', change: count },
    create: { kind: 'create', fields: { petId: id, quantity: count } },
  };
  return writeRecords(access, [{ id, intent: intents[kind] }]);
}

/**
 * Returns the fields to ask the user for: if a required or a wanted field is missing, all fields without a flag; otherwise none.
 *
 * @throws UsageError that names the missing fields if the user cannot be asked for them.
 */
function findFieldsToAsk({ context, noun, operation }: RecordAccess, body: Fields): readonly Field[] {
  const askableFields = noun.fields.filter(({ name }) => !(name in body) && takesField(operation, name));
  const wantedNames = askableFields.filter(({ isWanted }) => isWanted).map(({ name }) => name);
  const missingNames = [...new Set([...lackingFields(operation, body), ...wantedNames])];
  if (missingNames.length === 0) return [];
  if (canAsk(context) && missingNames.every((name) => findField(noun, name))) return askableFields;
  const flagTexts = missingNames.map((name) => {
    const field = findField(noun, name);
    return field ? flagOf(field) : `--field ${name}=<value>`;
  });
  const isOne = missingNames.length === 1;
  throw new UsageError(
    `${noun.name} create: ${flagTexts.join(' and ')} ${isOne ? 'is' : 'are'} missing`,
    `give ${isOne ? 'it as a flag' : 'them as flags'}, or records with --from <file>`,
  );
}

/** Asks for the value of a field, which the user may leave out. */
async function askField(
  prompt: Prompt,
  { names, noun, client }: RecordAccess,
  field: Field,
): Promise<JsonValue | undefined> {
  // `Ship date` for `shipDate`.
  const name = columnOf(field).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  if (field.name === 'categoryId' && names.hasList('categories')) return askCategory(prompt, names, label);
  if (fieldKinds[field.kind].placeholder === undefined) return undefined;
  const choices = field.kind === 'status' ? statusesOf(client.contract, noun.name) : undefined;
  if (choices)
    return prompt.select(
      label,
      choices.map((choice) => ({ name: choice, value: choice })),
    );
  const isOptional = !field.isRequired && !field.isWanted;
  return prompt.text(isOptional ? `${label} (Enter for none)` : label, (text) => {
    if (isOptional && text === '') return undefined;
    if (field.kind === 'reference') return names.requireId(field.name, parseIdOrName(parseText(text)));
    return toServiceValue(field, parseText(text), client.contract, noun.name);
  });
}

async function askCategory(prompt: Prompt, names: Names, label: string): Promise<JsonValue> {
  const records = await names.readList('categories');
  if (records.length === 0)
    throw new UsageError('there are no categories', 'create one with `petstore categories create`');
  return prompt.select(
    label,
    records.map(({ id, name }) => ({ name: `${name} (${id})`, value: id })),
  );
}
