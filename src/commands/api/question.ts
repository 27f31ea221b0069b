import * as v from 'valibot';
import { idName, type Operation, type OperationId, type Parameter } from '../../api/operations.ts';
import { type Bounds, bodySchemas, IdText, jsonSchemaOf, querySchemas } from '../../api/schemas.ts';
import { offersField, takesCategory } from '../../api/shapes.ts';
import { brokenBound } from '../../client/bounds.ts';
import { messageOf, UsageError } from '../../process/errors.ts';
import { type JsonValue, parseJson, printJson } from '../../process/exact-json.ts';

/** A question to the user for one parameter or field of an operation. */
export interface Question {
  readonly name: string;
  /** The part of the input that gets the answer. */
  readonly place: 'id' | 'query' | 'body';
  readonly required: boolean;
  readonly bounds: Bounds;
  /** The default of the service. */
  readonly fallback?: string | undefined;
  /** An example of the JSON for an array or an object. */
  readonly json?: string | undefined;
  /** Parses an answer. @throws UsageError whose message is a clause. */
  read(text: string): unknown;
}

/** The questions for an operation: ids, then filters, then the fields of its body. */
export function questionsOf(operation: Operation): Question[] {
  const parameters = operation.parameters.filter(({ value }) => value === undefined);
  return [...parameters.map((each) => ofParameter(operation.id, each)), ...ofBody(operation)];
}

/** Type, limits and default in a few words: `integer, 1 to 1000, default 100`. */
export function describeQuestion({ bounds, fallback, required, json }: Question): string {
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

function ofParameter(id: OperationId, { name, required, bounds = {} }: Parameter): Question {
  const isId = name === idName(id);
  const filters: Readonly<Record<string, v.GenericSchema>> = querySchemas;
  const schema = isId ? IdText : (filters[name] ?? v.string());
  const { default: fallback, ...stated } = jsonSchemaOf(schema);
  return {
    name,
    place: isId ? 'id' : 'query',
    required,
    bounds: { ...stated, ...bounds },
    fallback: fallback === undefined ? undefined : String(fallback),
    read: (text) => checked(text, schema, bounds),
  };
}

function ofBody(operation: Operation): Question[] {
  const { id, body, method, parameters } = operation;
  if (!body) return [];
  const entries: Readonly<Record<string, v.GenericSchema>> = bodySchemas[body.name].entries;
  // The id of a record comes from the service, from the path, or from a question of its own.
  const known = Object.keys(entries)
    .filter((field) => field !== 'id' && field !== body.idField && offersField(operation, field))
    .map((field) => (field === 'categoryId' && takesCategory(operation) ? 'category' : field));
  const extra = body.required.filter(
    (field) => !(field in entries) && field !== 'category' && field !== body.idField,
  );
  const questions = [...known, ...extra].map((field): Question => {
    const schema = entries[field];
    const stated = schema && jsonSchemaOf(schema);
    const bounds = body.bounds[field] ?? {};
    const example = schema ? undefined : body.fields?.[field];
    const json = typeof example === 'object' && example !== null ? printJson(example) : undefined;
    const toValue = json === undefined ? toScalar : parseAnswer;
    return {
      name: field,
      place: 'body',
      required: method !== 'PATCH' && body.required.includes(field),
      bounds: { ...stated, ...bounds },
      json,
      read: (text) => checked(toValue(text, stated?.type ?? bounds.type), schema ?? v.unknown(), bounds),
    };
  });
  const name = idName(id);
  const isAsked = parameters.some((parameter) => parameter.name === name);
  if (body.idField === undefined || name === undefined || isAsked) return questions;
  return [ofParameter(id, { name, wireName: name, in: 'path', required: true }), ...questions];
}

function parseAnswer(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UsageError(`must be JSON: ${messageOf(error)}`);
  }
}

function toScalar(text: string, type: Bounds['type']): JsonValue {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type !== 'integer' && type !== 'number') return text;
  if (!/^-?\d+(\.\d+)?$/.test(text.trim()))
    throw new UsageError(`must be ${type === 'integer' ? 'an integer' : 'a number'}`);
  const value = Number(text);
  return Number.isSafeInteger(value) || text.includes('.') ? value : BigInt(text.trim());
}

/** The value of an answer, if it fits the program's schema and the bounds of the description. */
function checked(answer: unknown, schema: v.GenericSchema, bounds: Bounds): unknown {
  const result = v.safeParse(schema, answer);
  if (!result.success) throw new UsageError(result.issues[0].message);
  const why = brokenBound(result.output, bounds);
  if (why !== undefined) throw new UsageError(why);
  return result.output;
}
