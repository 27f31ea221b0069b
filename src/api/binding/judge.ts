import { isJsonObject, type JsonValue } from '../../json.ts';
import { type Method, type OperationId, rowOf } from '../operations.ts';
import type { BodyName, ResultName } from '../schemas.ts';
import type { SchemaNames } from './description.ts';
import type { Content, DocumentOperation } from './document-operation.ts';
import { identify, unmetParameter } from './parameters.ts';
import { type Fit, fieldTypes, fitList, fitResource } from './resource.ts';
import { shapeOf } from './schema-shape.ts';

type Role = 'list' | 'get' | 'create' | 'update' | 'delete';

/** How an operation of a document fits one of the table. */
export type Judgement =
  /** By the name of a schema; by that of the whole record where a new one is stated; by shape; by some fields of it. */
  | { readonly fit: 'name' | 'record' | 'shape' | 'part'; readonly why: string }
  /** Nothing speaks for it but its place, and nothing against it. */
  | { readonly fit: 'open' }
  /** A reason where it would fit but for that. */
  | { readonly fit: 'no'; readonly reason?: string | undefined };

const roleMethods: Readonly<Record<Role, readonly Method[]>> = {
  list: ['GET'],
  get: ['GET'],
  create: ['POST'],
  update: ['PUT', 'PATCH', 'POST'],
  delete: ['DELETE'],
};

export function roleOf(id: OperationId): Role {
  const row = rowOf(id);
  if (row.many) return 'list';
  return ({ GET: 'get', POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const)[
    row.method
  ];
}

/** Why an operation cannot play the part of one in the table, by its method and the ids that it takes. */
export function refusePart(operation: DocumentOperation, id: OperationId): string | undefined {
  const role = roleOf(id);
  if (!roleMethods[role].includes(operation.method)) return `${id} cannot be a ${operation.method}`;
  const ids = identify(operation, id).length;
  const wanted = role === 'list' || role === 'create' ? 0 : 1;
  if (ids === wanted) return undefined;
  return `${id} takes ${wanted === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`;
}

/** How far the schemas of an operation say that it is the one of the table. */
export function judge(operation: DocumentOperation, id: OperationId, names: SchemaNames): Judgement {
  if (!roleMethods[roleOf(id)].includes(operation.method)) return { fit: 'no' };
  const judgement = judgeSchemas(operation, id, names);
  if (judgement.fit === 'no') return judgement;
  const obstacle = refusePart(operation, id) ?? refuseParameters(operation, id);
  if (obstacle === undefined) return judgement;
  return { fit: 'no', ...(judgement.fit !== 'open' && { reason: obstacle }) };
}

/** Why an operation cannot be called, by the parameters that it wants. */
export function refuseParameters(operation: DocumentOperation, id: OperationId): string | undefined {
  const unmet = unmetParameter(operation, id);
  return unmet && `it needs the ${unmet.in} parameter ${unmet.name}, which petstore has no value for`;
}

function judgeSchemas(operation: DocumentOperation, id: OperationId, names: SchemaNames): Judgement {
  if (roleOf(id) === 'delete') return { fit: 'open' };
  const hasBody = rowOf(id).body !== undefined;
  return hasBody ? judgeBody(operation, id, names) : judgeAnswer(operation, id, names);
}

function judgeAnswer(operation: DocumentOperation, id: OperationId, names: SchemaNames): Judgement {
  const { result, many } = rowOf(id);
  const { answer } = operation;
  if (answer === 'unknown' || result === undefined) return { fit: 'open' };
  if (typeof answer === 'string') return { fit: 'no' };
  const fit = many ? fitList(answer.schema, result, names) : fitResource(answer.schema, result, names);
  if (isUncertain(fit, operation, result)) return { fit: 'no' };
  const named =
    many && result === 'Pet' && shapeOf(answer.schema, names).names.has('Pets') ? 'Pets' : undefined;
  return toJudgement(fit, `answers ${named ?? (many ? `an array of ${result}` : result)}`);
}

function judgeBody(operation: DocumentOperation, id: OperationId, names: SchemaNames): Judgement {
  const { body: name, result } = rowOf(id);
  const { body, answer, method, path } = operation;
  if (name === undefined || body === 'none') return { fit: 'open' };
  if (method === 'POST' && roleOf(id) === 'update' && name !== 'InventoryUpdate' && !/\}\/?$/.test(path))
    return { fit: 'no' };
  if (body === 'other') return { fit: 'no' };
  const judgement = judgeSchema({ operation, schema: body.schema }, id, names);
  if (judgement.fit === 'no' || result === undefined || typeof answer === 'string') return judgement;
  const answered = fitResource(answer.schema, result, names);
  if (answered.by !== 'no') return judgement;
  // Some fields in common, or none to go by, do not bring it near.
  if (judgement.fit === 'part' || judgement.fit === 'open') return { fit: 'no' };
  return { fit: 'no', reason: answered.reason ?? `it answers something other than ${result}` };
}

function judgeSchema(
  { operation, schema }: { readonly operation: DocumentOperation } & Pick<Content, 'schema'>,
  id: OperationId,
  names: SchemaNames,
): Judgement {
  const { body, result } = rowOf(id);
  if (body === undefined) return { fit: 'open' };
  const fit = fitResource(schema, body, names);
  if (fit.by === 'name' || fit.by === 'nothing') return toJudgement(fit, `takes ${body}`);
  const isNew = body === 'NewPet' || body === 'NewCategory';
  const record: Fit = isNew && result ? fitResource(schema, result, names) : { by: 'no' };
  if (record.by === 'name') return { fit: 'record', why: `takes ${result}` };
  if (record.by === 'no' && record.reason !== undefined) return { fit: 'no', reason: record.reason };
  if (fit.by === 'shape' && !isUncertain(fit, operation, body)) return toJudgement(fit, `takes ${body}`);
  if (operation.method === 'PATCH' && holdsPartOf(schema, body, names))
    return { fit: 'part', why: `takes some fields of ${body}` };
  return { fit: 'no', ...(fit.by === 'no' && fit.reason !== undefined && { reason: fit.reason }) };
}

function toJudgement(fit: Fit, why: string): Judgement {
  if (fit.by === 'nothing') return { fit: 'open' };
  if (fit.by === 'no') return { fit: 'no', reason: fit.reason };
  return { fit: fit.by, why: fit.by === 'shape' ? `${why} by its fields` : why };
}

/** A name and a description are the fields of many things: only where the word stands too are they a category. */
function isUncertain(
  fit: Fit,
  { path, operationId }: DocumentOperation,
  name: BodyName | ResultName,
): boolean {
  return fit.by === 'shape' && /Category$/.test(name) && !/categor/i.test(`${path} ${operationId ?? ''}`);
}

function holdsPartOf(schema: JsonValue | undefined, name: BodyName, names: SchemaNames): boolean {
  if (!isJsonObject(schema)) return false;
  const known = fieldTypes(name);
  const fields = [...shapeOf(schema, names).fields.keys()];
  return fields.length > 0 && fields.every((field) => known.has(field));
}
