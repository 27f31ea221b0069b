import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { builtInContract, hidesTryIt, type Operation, type RequestBody } from '../contract.ts';
import { type OperationId, rowOf, type Stability } from '../operations.ts';
import { type SchemaWriter, toAnswers } from './answers.ts';
import { fieldBounds } from './bounds.ts';
import type { Description } from './description.ts';
import { type DocumentOperation, successStatuses } from './document-operation.ts';
import { toParameters } from './parameters.ts';
import { shapeOf } from './schema-shape.ts';
import { isSecured } from './security.ts';

/** A description, and how its schemas are kept. */
interface OperationSource extends Description {
  readonly schemas: SchemaWriter;
}

/** An operation of the table as a document describes it. */
export function toOperation(
  id: OperationId,
  from: DocumentOperation,
  description: OperationSource,
): Operation {
  const row = builtInContract.operations.get(id);
  if (!row) throw new Error(`no operation ${id}`);
  const { source, pathItem, responses } = from;
  const success = successStatuses(responses);
  const tag = Array.isArray(source.tags) ? source.tags[0] : undefined;
  const body = toRequestBody(id, from, description);
  const sunset = sunsetOf(source) ?? sunsetOf(pathItem);
  return {
    id,
    noun: row.noun,
    tag: textOf(tag) ?? row.tag,
    summary: textOf(source.summary) ?? row.summary,
    method: from.method,
    path: from.path,
    parameters: toParameters(from, id),
    ...(body && { body }),
    ...(row.result && from.answer !== 'none' && { result: row.result }),
    many: row.many,
    success: success.length > 0 ? usualFirst(success, row.success) : row.success,
    errors: Object.keys(responses).filter(isErrorStatus).map(Number),
    answers: toAnswers(responses, description.schemas),
    secured: isSecured(source, description.document),
    stability: stabilityOf(source) ?? stabilityOf(pathItem) ?? 'stable',
    deprecated: source.deprecated === true,
    ...(sunset !== undefined && { sunset }),
    hideTryIt: hidesTryIt(description.document, pathItem, source),
    source: 'bound',
  };
}

function toRequestBody(
  id: OperationId,
  from: DocumentOperation,
  { names }: Description,
): RequestBody | undefined {
  const { body: name } = rowOf(id);
  if (name === undefined) return undefined;
  if (typeof from.body === 'string') return builtInContract.operations.get(id)?.body;
  const { mediaType, schema } = from.body;
  const { fields, required } = shapeOf(schema, names);
  const asked = [...required].filter((field) => !isReadOnly(fields.get(field)));
  return { name, mediaType, required: asked, bounds: fieldBounds(schema, names) };
}

/** What is only ever answered is not asked for (OpenAPI 3.0.3, "readOnly"). */
function isReadOnly(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && schema.readOnly === true;
}

function usualFirst(stated: readonly number[], usual: readonly number[]): number[] {
  return [...stated].sort((a, b) => Number(usual.includes(b)) - Number(usual.includes(a)) || a - b);
}

function isErrorStatus(status: string): boolean {
  return /^[45]\d\d$/.test(status);
}

/** Publishers know `alpha` too, which the service document does not. */
function stabilityOf(source: JsonObject): Stability | undefined {
  const value = source['x-stability'];
  if (value === 'alpha') return 'experimental';
  return value === 'beta' || value === 'experimental' || value === 'stable' ? value : undefined;
}

/** The date of the extension, whether it is written with a time or without. */
function sunsetOf(source: JsonObject): string | undefined {
  const value = textOf(source['x-deprecated-sunset'] ?? source['x-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
