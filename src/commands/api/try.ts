import * as v from 'valibot';
import { type Contract, isListId, offeredOperation } from '../../api/contract.ts';
import {
  type Bounds,
  type Input,
  idName,
  type Operation,
  type OperationId,
  operations,
  type Parameter,
} from '../../api/operations.ts';
import { bodySchemas, fieldTypes, IdText, type QueryName, querySchemas } from '../../api/schemas.ts';
import { offersField, takesCategoryObject } from '../../api/shapes.ts';
import { confirmWrite } from '../../asking.ts';
import { brokenBound } from '../../client/bounds.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import type { Prompt } from '../../input/question.ts';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../../json.ts';
import type { View } from '../../output/columns.ts';
import { readPet } from '../../records/read-pet.ts';
import { requestText, showRequests } from '../../records/show-requests.ts';
import { findOperation } from './operations.ts';

type AnyInput = Input<OperationId>;

/** Asks for the parameters of an operation, shows the request and sends it. */
export async function tryOut(context: Context, name: string): Promise<void> {
  const id = findOperation(name, 'api try');
  const operation = triable(await context.contract(), id);
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      'api try: needs a terminal to ask on, and neither CI nor --no-input',
      withoutQuestions(operation),
    );
  const client = await context.client();
  const input = await askInput(prompt, operation);
  const request = client.toRequest(id, input);
  if (context.flags.dryRun) return showRequests(context, [request]);
  await context.io.stderr.write(`\n${requestText(request)}\n`);
  if (operation.method !== 'GET' || operations[id].method !== 'GET')
    await confirmWrite(context, { what: `send this ${operation.method}`, destructive: true });
  await send(context, client, { id, input });
}

function triable(contract: Contract, id: OperationId): Operation {
  const operation = offeredOperation(contract, id);
  if (!operation.hideTryIt) return operation;
  throw new UsageError(
    `api try ${id}: the service asks that it is not offered to try (x-hideTryItPanel)`,
    withoutQuestions(operation),
  );
}

function withoutQuestions({ method, path }: Operation): string {
  return `without questions: petstore api request ${method} '${path}'`;
}

async function askInput(prompt: Prompt, operation: Operation): Promise<AnyInput> {
  const ids: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  const places = { id: ids, query, body };
  for (const question of questionsOf(operation)) {
    const value = await ask(prompt, question);
    if (value !== undefined) places[question.place][question.name] = value;
  }
  return { ...ids, query, ...(operation.body && { body }) } as unknown as AnyInput;
}

async function ask(prompt: Prompt, question: Question): Promise<unknown> {
  const message = `${question.name} (${describe(question)})`;
  const choices =
    question.bounds.enum ?? (question.bounds.type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices) {
    const none = question.required ? [] : [{ name: '(leave it out)', value: undefined }];
    const text = await prompt.select(message, [
      ...none,
      ...choices.map((choice) => ({ name: choice, value: choice })),
    ]);
    return text === undefined ? undefined : question.read(text);
  }
  const refuse = (text: string) => {
    if (text.trim() === '') return question.required ? 'a value is needed' : undefined;
    try {
      question.read(text);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  const text = await prompt.text(message, { refuse });
  return text.trim() === '' ? undefined : question.read(text);
}

async function send(
  context: Context,
  client: Client,
  { id, input }: { readonly id: OperationId; readonly input: AnyInput },
): Promise<void> {
  const printer = await context.printer();
  if (isListId(id)) {
    const { query } = input as { readonly query?: object };
    for await (const page of client.list(id, query)) {
      const rows = page as unknown as JsonObject[];
      await printer.records([rows], viewOf(rows[0]));
      break;
    }
    return;
  }
  const { value, status } =
    id === 'getPet'
      ? await readPet(context, client, (input as Input<'getPet'>).petId)
      : await client.call(id, input);
  if (value === undefined) return context.notice(`done: ${status}`);
  const row = value as unknown as JsonObject;
  await printer.record(row, viewOf(row));
}

/** All fields of the record, in its order. */
function viewOf(row: JsonObject | undefined): View<JsonObject> {
  const names = Object.keys(row ?? { id: null });
  return {
    noun: 'records',
    columns: names.map((name) => ({ name, value: (record): JsonValue | undefined => record[name] })),
  };
}

/** A question to the user for one parameter or field of an operation. */
interface Question {
  readonly name: string;
  readonly place: 'id' | 'query' | 'body';
  readonly required: boolean;
  readonly bounds: Bounds;
  /** The default of the service. */
  readonly fallback: string | undefined;
  /** An example of the JSON for an array or an object. */
  readonly json?: string;
  /** Parses an answer. @throws AnswerError */
  read(text: string): unknown;
}

/** An answer is not acceptable; the message is a clause. */
class AnswerError extends Error {}

/** The questions for an operation: ids, then filters, then the fields of its body. */
export function questionsOf(operation: Operation): Question[] {
  const parameters = operation.parameters.filter(({ value }) => value === undefined);
  return [...parameters.map(ofParameter), ...ofBody(operation)];
}

/** Type, limits and default in a few words: `integer, 1 to 1000, default 100`. */
export function describe({ bounds, fallback, required, json }: Question): string {
  const { type, maxLength } = bounds;
  const parts = [
    json === undefined ? (type ?? 'text') : `JSON such as ${json}`,
    ...rangeOf(bounds),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ...(required ? [] : ['optional']),
  ];
  return parts.join(', ');
}

function rangeOf({ minimum, maximum }: Bounds): string[] {
  if (minimum !== undefined && maximum !== undefined) return [`${minimum} to ${maximum}`];
  if (minimum !== undefined) return [`at least ${minimum}`];
  return maximum === undefined ? [] : [`at most ${maximum}`];
}

function ofParameter({ name, in: place, required, bounds = {} }: Parameter): Question {
  const isQuery = Object.hasOwn(querySchemas, name) && place !== 'path' && !required;
  const schema: v.GenericSchema = isQuery ? querySchemas[name as QueryName] : IdText;
  const stated = jsonSchemaOf(schema);
  return {
    name,
    place: isQuery || place === 'query' ? 'query' : 'id',
    required,
    bounds: { ...stated, ...bounds },
    fallback: stated.default === undefined ? undefined : String(stated.default),
    read: (text) => held(checked(schema, text), bounds),
  };
}

function ofBody(operation: Operation): Question[] {
  const { body, method } = operation;
  if (!body) return [];
  const entries: Record<string, v.GenericSchema> = bodySchemas[body.name].entries;
  const types = fieldTypes(body.name);
  // The id of a record comes from the service, from the path, or from a question of its own.
  const own = Object.keys(entries).filter((field) => field !== 'id' && field !== body.idField);
  const offered = own.filter((field) => offersField(operation, field));
  const known = takesCategoryObject(operation)
    ? offered.map((field) => (field === 'categoryId' ? 'category' : field))
    : offered;
  const extra = body.required.filter(
    (field) => !(field in entries) && field !== 'category' && field !== body.idField,
  );
  return [...idInBody(operation), ...[...known, ...extra].map(toQuestion)];

  function toQuestion(field: string): Question {
    const schema = entries[field];
    const bounds: Bounds = body?.bounds[field] ?? {};
    const type = (types.get(field) ?? bounds.type) as Bounds['type'];
    const stated = schema ? jsonSchemaOf(schema) : {};
    const example = schema ? undefined : body?.fields?.[field];
    const isJson = typeof example === 'object' && example !== null;
    const value = (text: string) => (isJson ? parseAnswer(text) : typed(text, type));
    return {
      name: field,
      place: 'body',
      required: method !== 'PATCH' && (body?.required.includes(field) ?? false),
      bounds: { ...stated, ...(type && { type }), ...bounds },
      fallback: undefined,
      ...(isJson && { json: printJson(example) }),
      read: (text) => held(schema ? checked(schema, value(text)) : value(text), bounds),
    };
  }
}

/** The id of the record, if it is neither in the path nor in the query. */
function idInBody({ id, body, parameters }: Operation): Question[] {
  const name = idName(id);
  if (body?.idField === undefined || name === undefined) return [];
  if (parameters.some((parameter) => parameter.name === name)) return [];
  return [ofParameter({ name, wireName: name, in: 'path', required: true })];
}

function parseAnswer(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new AnswerError(`must be JSON: ${messageOf(error)}`);
  }
}

function jsonSchemaOf(schema: v.GenericSchema): Bounds & { readonly default?: unknown } {
  const inner = 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema;
  if ('options' in inner && inner.type === 'picklist')
    return { enum: inner.options as string[], type: 'string' };
  const { jsonSchema } = 'pipe' in inner ? (v.getMetadata(inner) as { jsonSchema?: Bounds }) : {};
  return jsonSchema ?? {};
}

function typed(text: string, type: Bounds['type']): JsonValue {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type !== 'integer' && type !== 'number') return text;
  if (!/^-?\d+(\.\d+)?$/.test(text.trim()))
    throw new AnswerError(`must be ${type === 'integer' ? 'an integer' : 'a number'}`);
  const value = Number(text);
  return Number.isSafeInteger(value) || text.includes('.') ? value : BigInt(text.trim());
}

function checked(schema: v.GenericSchema, value: unknown): unknown {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new AnswerError(result.issues[0].message);
}

function held(value: unknown, bounds: Bounds): unknown {
  const why = brokenBound(value, bounds);
  if (why !== undefined) throw new AnswerError(why);
  return value;
}
