import { lackingFields, takesField } from '../api/contract.ts';
import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { shellWord } from '../process/text.ts';
import { checkOfferedFields, extraFields, flagFields, type RecordFlags } from './body-fields.ts';
import {
  type Body,
  columnOf,
  type EditAccess,
  type EditableNoun,
  findField,
  flagOf,
  openAccess,
} from './noun.ts';
import type { Write } from './send-write.ts';
import { writeRecord } from './write.ts';

/** Creates one record from flags, or one for each record of a file. */
export async function createRecords<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  flags: RecordFlags,
): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.create);
  const extra = extraFields(noun, flags.field);
  const fields = { ...flagFields(noun, flags.values), ...extra };
  checkOfferedFields(access, fields);
  if (flags.from !== undefined) {
    const { createFromFile } = await import('./from-file.ts');
    return createFromFile(access, flags.from, extra, (fields) => creation(noun, fields));
  }
  const openFields = fieldsToAsk(access, fields);
  await confirmWrite(context, { what: `create ${noun.singular}` });
  const all = { ...flags.values };
  const prompt = await context.prompt();
  if (prompt) for (const field of openFields) all[columnOf(field)] = await field.ask?.(prompt, access.names);
  const body = await access.names.resolve({ ...flagFields(noun, all), ...extra });
  await writeRecord(access, () => creation(noun, body));
}

function creation<Entity>({ operations }: EditableNoun<Entity>, body: Body): Write {
  return { operation: operations.create, input: { body } };
}

/**
 * The fields to ask the user for: none, or all that were not given if one that is required or wanted is missing.
 *
 * @throws UsageError that names the missing fields if questions are impossible, or one of them has no flag.
 */
function fieldsToAsk<Entity>({ context, noun, operation }: EditAccess<Entity>, body: Body) {
  const open = noun.fields.filter(({ name }) => !(name in body) && takesField(operation, name));
  let missing = lackingFields(operation, body);
  const wantedFields = open.filter((field) => field.isWanted);
  if (missing.length === 0 && wantedFields.length > 0 && context.prompt()) return open;
  // If no field is required and none was given, one is named, because an empty body makes no sense.
  if (missing.length === 0 && Object.keys(body).length === 0)
    missing = (wantedFields.length > 0 ? wantedFields : open.slice(0, 1)).map(({ name }) => name);
  if (missing.length === 0) return [];
  const hasFlags = missing.every((name) => findField(noun, name));
  if (hasFlags && context.prompt()) return open;
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
