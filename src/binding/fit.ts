import { withArticle } from '../process/text.ts';
import type { DocumentOperation } from './document.ts';
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

/** Says why an operation cannot be called as that of the table, whatever its path: a clause. */
export function obstacleTo(tableOperation: TableOperation, operation: DocumentOperation): string | undefined {
  const { body, takesNoJson, parameters } = operation;
  const { unmet } = toParameters(operation, tableOperation.id);
  if (unmet) return `it needs the ${unmet.in} parameter ${unmet.name}, which petstore has no value for`;
  const uuid = parameters.find(
    ({ in: place, schema }) => place === 'path' && objectOf(schema).format === 'uuid',
  );
  if (uuid) return `its ${uuid.name} is a UUID, not an integer`;
  if (tableOperation.body && takesNoJson) return 'it takes no JSON';
  const wrong = tableOperation.body && body && wrongBody(tableOperation, body.shape);
  return wrong ?? wrongAnswer(tableOperation, operation);
}

function wrongBody(tableOperation: TableOperation, shape: Shape): string | undefined {
  const { noun, method } = tableOperation;
  const label = shape.names[0] ?? 'body';
  if (shape.kind === 'unknown' || (shape.kind === 'object' && shape.fields.size === 0)) return undefined;
  const names = fieldNamesOf(tableOperation, shape);
  const key = noun === 'inventory' ? 'quantity' : noun !== 'orders' && method === 'POST' ? 'name' : undefined;
  if (key !== undefined && !names.has(key)) return lackingClause(noun, label, [key]);
  if (names.size === 0) return `its ${label} has none of the fields that petstore knows`;
  if (shape.required.has('category') && shapeOf(shape.fields.get('category')).kind === 'string')
    return `its ${label} needs the name of a category in place of its id`;
  return wrongType(tableOperation, shape, label);
}

function lackingClause(noun: string, label: string, fields: readonly string[]): string {
  const [first] = fields;
  return `its ${label} has no field ${fields.join(', ')}: if it has another name, add --map ${noun}.${first}=<name>`;
}

/** Says why the records of an answer cannot be read. A write may have any answer but a record with fields of other types. */
function wrongAnswer(
  tableOperation: TableOperation,
  { answer, answersNoJson }: DocumentOperation,
): string | undefined {
  const isRead = tableOperation.method === 'GET';
  if (!answer) return isRead && answersNoJson ? 'it answers no JSON' : undefined;
  const content = recordsIn(tableOperation, answer.shape);
  if (!content) return answer.shape.kind === 'unknown' ? undefined : 'it answers no list of records';
  const { shape } = content;
  if (shape.kind === 'unknown') return undefined;
  const label = shape.names[0] ?? 'record';
  const wrong = wrongType(tableOperation, shape, label);
  if (wrong !== undefined) return isRead || isRecord(tableOperation, shape) ? wrong : undefined;
  const lacking = isRead ? missingKeys(tableOperation, shape) : undefined;
  return lacking && lackingClause(tableOperation.noun, label, lacking);
}

const integers = new Set(['id', 'petId', 'categoryId', 'quantity']);

function wrongType(tableOperation: TableOperation, shape: Shape, label: string): string | undefined {
  if (shape.kind !== 'object') return `its ${label} is ${withArticle(shape.kind)}`;
  for (const [field, name] of fieldNamesOf(tableOperation, shape)) {
    if (field === 'categoryId' && isCategoryObject(shape.fields.get(name))) continue;
    const { kind } = shapeOf(shape.fields.get(name));
    const isNumber = kind === 'integer' || kind === 'number';
    if (kind === 'unknown' || isNumber === integers.has(field)) continue;
    return `its ${label} has the field ${name} as ${withArticle(kind)}`;
  }
  return undefined;
}
