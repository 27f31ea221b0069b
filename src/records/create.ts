import { offeredOperation } from '../api/contract.ts';
import { confirmWrite } from '../asking.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { printJson } from '../json.ts';
import { shellWord } from '../text.ts';
import type { FileRecord } from './file.ts';
import {
  noteUnknownFields,
  readExtraFields,
  refuseForeignFields,
  toBodyFields,
  withoutAbsent,
} from './given.ts';
import type { Body, EditableNoun } from './noun.ts';
import { openWrites, writeRecord, writeRecords } from './write.ts';

/** The input of a create: fields from flags, or a file of records. */
export interface Creation {
  /** By their names in the body; undefined if a flag was not given. A name may stand for an id. */
  readonly given: Body;
  /** `--field name=value`. */
  readonly extra?: readonly string[] | undefined;
  readonly from?: string | undefined;
}

/** Creates one record from flags, or many from a file. */
export async function createRecords<Row>(
  context: Context,
  noun: EditableNoun<Row>,
  { given, extra, from }: Creation,
): Promise<void> {
  const client = await openWrites(context, noun, noun.create({}).operationId);
  const others = readExtraFields(noun, extra);
  if (from !== undefined) return createFromFile(context, client, noun, from, others);
  return createRecord(context, client, noun, { ...withoutAbsent(given), ...others });
}

/** If a required field is missing, the user is asked for all fields that were not given. */
async function createRecord<Row>(
  context: Context,
  client: Client,
  noun: EditableNoun<Row>,
  given: Body,
): Promise<void> {
  const operation = offeredOperation(client.contract, noun.create({}).operationId);
  const { required = [], fields: offered } = operation.body ?? {};
  refuseForeignFields(operation, noun, given);
  const names = Object.keys(given);
  // If no field is required and none was given, ask for the first, because an empty body makes no sense.
  const first = noun.fields.find(({ name }) => offered === undefined || name in offered);
  const needed = required.length > 0 || names.length > 0 || !first ? required : [first.name];
  const missing = needed.filter((name) => !names.includes(name));
  const withoutFlag = missing.filter((name) => !noun.fields.some((field) => field.name === name));
  const isAsked = missing.length > 0 && withoutFlag.length === 0 && context.prompt() !== undefined;
  if (missing.length > 0 && !isAsked) throw missingError(noun, missing, offered ?? {});
  await confirmWrite(context, { what: `create ${noun.one}` });
  const all: Record<string, unknown> = { ...given };
  const prompt = await context.prompt();
  for (const field of isAsked && prompt ? noun.fields : []) {
    if (field.name in all || !prompt || (offered && !(field.name in offered))) continue;
    const answer = await field.ask(prompt, client);
    if (answer !== undefined) all[field.name] = answer;
  }
  const body = await toBodyFields(context, client, operation, all);
  await writeRecord(context, noun, client, noun.create(inOrder(noun, body)));
}

/** The fields in the noun's order, then any others. */
function inOrder<Row>({ fields }: EditableNoun<Row>, body: Body): Body {
  const names = [...fields.map(({ name }) => name).filter((name) => name in body), ...Object.keys(body)];
  return Object.fromEntries([...new Set(names)].map((name) => [name, body[name]]));
}

function missingError<Row>(
  noun: EditableNoun<Row>,
  missing: readonly string[],
  examples: Readonly<Record<string, unknown>>,
): UsageError {
  const flagOf = (name: string) => noun.fields.find((field) => field.name === name)?.flag;
  const shown = missing.map(
    (name) => flagOf(name) ?? `--field ${name}=${asArgument(examples[name] ?? 'value')}`,
  );
  const verb = missing.length === 1 ? 'is' : 'are';
  return new UsageError(
    `create ${noun.one}: ${shown.join(' and ')} ${verb} missing`,
    missing.every(flagOf)
      ? 'give them as flags, or records with --from <file or ->; on a terminal they are asked for'
      : 'the service requires fields that have no flag: give each with --field name=value, as JSON or text',
  );
}

function asArgument(example: unknown): string {
  return shellWord(typeof example === 'string' ? example : printJson(example));
}

/** Creates one record for each in a file, in order. The whole file is checked before the first request. */
async function createFromFile<Row>(
  context: Context,
  client: Client,
  noun: EditableNoun<Row>,
  path: string,
  extra: Body,
): Promise<void> {
  const { openRecordFile } = await import('./file.ts');
  const operation = offeredOperation(client.contract, noun.create({}).operationId);
  refuseForeignFields(operation, noun, extra);
  const file = await openRecordFile(context, client, noun, path, { operation, use: 'create', extra });
  try {
    await confirmWrite(context, { what: `create ${file.total} ${noun.many}` });
    if (file.hasIds)
      await context.note(
        `note: ids in the file are left out because the service gives each new ${noun.one} its own`,
      );
    await noteUnknownFields(context, noun, operation, file.fieldNames);
    await writeRecords(context, noun, client, {
      items: file.records(),
      total: file.total,
      noun: noun.many,
      asList: file.isList,
      place: ({ place }: FileRecord) => place,
      prepare: async ({ fields }) => noun.create(await toBodyFields(context, client, operation, fields)),
    });
  } finally {
    await file.close();
  }
}
