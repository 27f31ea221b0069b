import type { Operation } from '../api/operations.ts';
import { withArticle } from '../process/text.ts';
import type { DocumentOperation } from './document.ts';
import { unmetParameter } from './parameters.ts';
import { fieldNamesOf, isRecord, lackOf, recordsIn } from './record-format.ts';
import { objectOf, type Shape, shapeOf } from './schema.ts';

/** Why an operation cannot be called as one of the table, whatever its path, a clause. */
export function obstacleTo(own: Operation, operation: DocumentOperation): string | undefined {
  const { body, parameters } = operation;
  const unmet = unmetParameter(operation, own.id);
  if (unmet) return `it needs the ${unmet.in} parameter ${unmet.name}, which petstore has no value for`;
  const uuid = parameters.find((each) => each.in === 'path' && objectOf(each.schema).format === 'uuid');
  if (uuid) return `its ${uuid.name} is a UUID, not an integer`;
  if (own.body && body === 'other') return 'it takes no JSON';
  if (own.body && typeof body === 'object') {
    const wrong = wrongBody(own, body.shape);
    if (wrong !== undefined) return wrong;
  }
  return wrongAnswer(own, operation);
}

function wrongBody(own: Operation, shape: Shape): string | undefined {
  const label = shape.names[0] ?? 'body';
  if (shape.kind === 'unknown' || (shape.kind === 'object' && shape.fields.size === 0)) return undefined;
  const { names } = fieldNamesOf(own.noun, shape);
  const key = own.noun === 'inventory' ? 'quantity' : own.method === 'POST' ? 'name' : undefined;
  const isNamed = own.noun === 'pets' || own.noun === 'categories' || key === 'quantity';
  if (key !== undefined && isNamed && !names.has(key)) return `its ${label} has no field ${key}`;
  if (names.size === 0) return `its ${label} has none of the fields that petstore knows`;
  return wrongType(own, shape, label);
}

/** Why the records of an answer cannot be read; a write may be answered with anything but a record of other types. */
function wrongAnswer(own: Operation, { answer }: DocumentOperation): string | undefined {
  const isRead = own.method === 'GET';
  if (answer === 'unknown') return undefined;
  if (typeof answer === 'string') return isRead ? 'it answers no JSON' : undefined;
  const content = recordsIn(own, answer.shape);
  if (!content) return answer.shape.kind === 'unknown' ? undefined : 'it answers no list of records';
  const { shape } = content;
  if (shape.kind === 'unknown') return undefined;
  const label = shape.names[0] ?? 'record';
  const wrong = wrongType(own, shape, label);
  if (wrong !== undefined) return isRead || isRecord(own.noun, shape) ? wrong : undefined;
  const lacking = isRead ? lackOf(own.noun, shape) : undefined;
  return lacking && `its ${label} has no field ${lacking.join(', ')}`;
}

const integers = new Set(['id', 'petId', 'categoryId', 'quantity']);

function wrongType(own: Operation, shape: Shape, label: string): string | undefined {
  if (shape.kind !== 'object') return `its ${label} is ${withArticle(shape.kind)}`;
  const { names, category } = fieldNamesOf(own.noun, shape);
  for (const [field, name] of names) {
    if (field === 'categoryId' && category) continue;
    const { kind } = shapeOf(shape.fields.get(name));
    const isNumber = kind === 'integer' || kind === 'number';
    if (kind === 'unknown' || isNumber === integers.has(field)) continue;
    return `its ${label} has the field ${name} as ${withArticle(kind)}`;
  }
  return undefined;
}
