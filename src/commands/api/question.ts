import * as v from 'valibot';
import type { Bounds, Operation, Parameter } from '../../api/contract.ts';
import { bodySchemas, fieldTypes, IdText, type QueryName, querySchemas } from '../../api/schemas.ts';
import { brokenBound } from '../../client/bounds.ts';
import type { JsonValue } from '../../json.ts';

/** One thing that an operation takes, as a person is asked for it. */
export interface Question {
  readonly name: string;
  readonly place: 'id' | 'query' | 'body';
  readonly required: boolean;
  readonly bounds: Bounds;
  /** What the service takes where it is left out. */
  readonly fallback: string | undefined;
  /** The value of an answer. @throws AnswerError */
  read(text: string): unknown;
}

/** Why an answer will not do, a clause. */
class AnswerError extends Error {}

/** Everything that an operation takes: ids, then filters, then the fields of its body. */
export function questionsOf(operation: Operation): Question[] {
  const parameters = operation.parameters.filter(({ value }) => value === undefined);
  return [...parameters.map(ofParameter), ...ofBody(operation)];
}

/** Type, limits and default in a few words: `integer, 1 to 1000, default 100`. */
export function describe({ bounds, fallback, required }: Question): string {
  const { type, maxLength } = bounds;
  const parts = [
    type ?? 'text',
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

function ofBody({ body, method }: Operation): Question[] {
  if (!body) return [];
  const entries: Record<string, v.GenericSchema> = bodySchemas[body.name].entries;
  const types = fieldTypes(body.name);
  const extra = body.required.filter((field) => !(field in entries));
  // The service gives the id of a record, or the path has it.
  const fields = [...Object.keys(entries).filter((field) => field !== 'id'), ...extra];
  return fields.map((field) => {
    const schema = entries[field];
    const bounds: Bounds = body.bounds[field] ?? {};
    const type = (types.get(field) ?? bounds.type) as Bounds['type'];
    const stated = schema ? jsonSchemaOf(schema) : {};
    return {
      name: field,
      place: 'body',
      required: method !== 'PATCH' && body.required.includes(field),
      bounds: { ...stated, ...(type && { type }), ...bounds },
      fallback: undefined,
      read: (text) => held(schema ? checked(schema, typed(text, type)) : typed(text, type), bounds),
    };
  });
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
