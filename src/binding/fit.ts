import type { NounName } from '../api/operations.ts';
import { withArticle } from '../process/text.ts';
import type { DocumentOperation, Obstacle } from './document.ts';
import { toParameters } from './parameters.ts';
import {
  fieldNamesOf,
  isCategoryObject,
  isRecord,
  missingKeys,
  recordsIn,
  type TableOperation,
} from './record-format.ts';
import { objectOf, type Shape, shapeOf } from './schema.ts';

/** Finds out why an operation, whatever its path, cannot be called as an operation of the table. */
export function obstacleTo(
  tableOperation: TableOperation,
  operation: DocumentOperation,
): Obstacle | undefined {
  const { body, takesNoJson, parameters } = operation;
  const { unknownParameter } = toParameters(operation, tableOperation.id);
  if (unknownParameter) {
    const { in: place, name } = unknownParameter;
    return { why: `it needs the ${place} parameter ${name}, which petstore has no value for` };
  }
  const uuid = parameters.find(
    ({ in: place, schema }) => place === 'path' && objectOf(schema).format === 'uuid',
  );
  if (uuid) return { why: `its ${uuid.name} is a UUID, not an integer` };
  if (tableOperation.body && takesNoJson) return { why: 'it takes no JSON' };
  const obstacle = tableOperation.body && body && obstacleInBody(tableOperation, body.shape);
  return obstacle ?? obstacleInAnswer(tableOperation, operation);
}

function obstacleInBody(tableOperation: TableOperation, shape: Shape): Obstacle | undefined {
  const { noun, method } = tableOperation;
  const label = shape.names[0] ?? 'body';
  if (shape.kind === 'unknown' || (shape.kind === 'object' && shape.fields.size === 0)) return undefined;
  const names = fieldNamesOf(tableOperation, shape);
  const key = noun === 'inventory' ? 'quantity' : noun !== 'orders' && method === 'POST' ? 'name' : undefined;
  if (key !== undefined && !names.has(key)) return lackOf(noun, label, [key]);
  if (names.size === 0) return { why: `its ${label} has none of the fields that petstore knows` };
  if (shape.required.has('category') && shapeOf(shape.fields.get('category')).kind === 'string')
    return { why: `its ${label} needs the name of a category in place of its id` };
  return obstacleInTypes(tableOperation, shape, label);
}

function lackOf(noun: NounName, label: string, fields: readonly string[]): Obstacle {
  return {
    why: `its ${label} has no field ${fields.join(', ')}`,
    remedy: `if it has another name, add --map ${noun}.${fields[0]}=<name>`,
  };
}

/**
 * Finds out why the records of an answer cannot be read. The answer of a write may be anything, unless it is
 * a record whose fields have other types.
 */
function obstacleInAnswer(
  tableOperation: TableOperation,
  { answer, answersNoJson }: DocumentOperation,
): Obstacle | undefined {
  const isRead = tableOperation.method === 'GET';
  if (!answer) return isRead && answersNoJson ? { why: 'it answers no JSON' } : undefined;
  const content = recordsIn(tableOperation, answer.shape);
  if (!content) return answer.shape.kind === 'unknown' ? undefined : { why: 'it answers no list of records' };
  const { shape } = content;
  if (shape.kind === 'unknown') return undefined;
  const label = shape.names[0] ?? 'record';
  const obstacle = obstacleInTypes(tableOperation, shape, label);
  if (obstacle) return isRead || isRecord(tableOperation, shape) ? obstacle : undefined;
  const fields = isRead ? missingKeys(tableOperation, shape) : undefined;
  return fields && lackOf(tableOperation.noun, label, fields);
}

const integerFields = new Set(['id', 'petId', 'categoryId', 'quantity']);

function obstacleInTypes(tableOperation: TableOperation, shape: Shape, label: string): Obstacle | undefined {
  if (shape.kind !== 'object') return { why: `its ${label} is ${withArticle(shape.kind)}` };
  for (const [field, name] of fieldNamesOf(tableOperation, shape)) {
    if (field === 'categoryId' && isCategoryObject(shape.fields.get(name))) continue;
    const { kind } = shapeOf(shape.fields.get(name));
    const isNumber = kind === 'integer' || kind === 'number';
    if (kind === 'unknown' || isNumber === integerFields.has(field)) continue;
    return { why: `its ${label} has the field ${name} as ${withArticle(kind)}` };
  }
  return undefined;
}
