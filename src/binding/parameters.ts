import { idName, type OperationId, operations, type Parameter } from '../api/operations.ts';
import type { Bounds, QueryName } from '../api/schemas.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type DocumentOperation, type DocumentParameter, isFieldName } from './document.ts';
import { boundsOf, listOf, objectOf } from './schema.ts';

/** Other names for the table's query parameters, in lower case and without punctuation. */
const otherNames: Readonly<Record<QueryName, readonly string[]>> = {
  status: ['petstatus'],
  categoryId: ['category'],
  petId: ['pet'],
  complete: ['completed', 'iscomplete'],
  limit: ['pagesize', 'perpage', 'maxresults'],
  after: ['startafter', 'afterid'],
};

/** The parameters that hold the id: those of the path, or else the one in the query or the headers with its name. */
export function identify(operation: DocumentOperation, id: OperationId): DocumentParameter[] {
  const ofPath = operation.parameters.filter((parameter) => parameter.in === 'path');
  const name = idName(id);
  if (ofPath.length > 0 || name === undefined) return ofPath;
  return operation.parameters.filter(
    (parameter) =>
      parameter.required &&
      (parameter.in === 'query' || parameter.in === 'header') &&
      [plain(name), 'id'].includes(plain(parameter.name).replace(/^x/, '')),
  );
}

/** A required parameter that the program has no value for. Most headers can be given with `--header`. */
export function unmetParameter(operation: DocumentOperation, id: OperationId): DocumentParameter | undefined {
  const ids = new Set(identify(operation, id));
  return operation.parameters.find(
    (parameter) =>
      parameter.required &&
      !ids.has(parameter) &&
      queryName(parameter, id) === undefined &&
      (parameter.in === 'header' ? !isFieldName(parameter.name) : fixedValue(parameter) === undefined),
  );
}

/** Whether a list requires a filter, so that it cannot list everything. */
export function needsFilter(operation: DocumentOperation, id: OperationId): boolean {
  return operation.parameters.some(
    (parameter) =>
      parameter.required && queryName(parameter, id) !== undefined && fixedValue(parameter) === undefined,
  );
}

/** The parameters of an operation by the table's names. Other required parameters keep their own names. */
export function toParameters(operation: DocumentOperation, id: OperationId): Parameter[] {
  const ids = new Set(identify(operation, id));
  return operation.parameters.flatMap((parameter): Parameter[] => {
    const { name: wireName, required, schema } = parameter;
    const place = parameter.in;
    if (place !== 'path' && place !== 'query' && place !== 'header') return [];
    if (place === 'header' && !isFieldName(wireName)) return [];
    const known = ids.has(parameter) ? idName(id) : queryName(parameter, id);
    if (known === undefined && !required) return [];
    const value = known === undefined ? fixedValue(parameter) : undefined;
    const isFilter = known !== undefined && known !== 'limit' && known !== 'after';
    return [
      {
        name: known ?? wireName,
        wireName,
        in: place,
        required,
        bounds: value === undefined ? textBounds(schema) : undefined,
        fallback: isFilter && !required ? fixedValue(parameter) : undefined,
        value,
      },
    ];
  });
}

/** Bounds of a parameter. Every value is sent as text, so the type string is left out. */
function textBounds(schema: JsonValue | undefined): Bounds | undefined {
  const { type, ...bounds } = boundsOf(schema) ?? {};
  const kept = type === undefined || type === 'string' ? bounds : { type, ...bounds };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** Names of parameters for a page size, in lower case and without punctuation. */
const pageSizes: readonly string[] = ['limit', ...otherNames.limit, 'size', 'count', 'take', 'top', 'rows'];

/** The usual page size of a list that documents no links to further pages, 0 if unknown; undefined for other lists. */
export function unlinkedPageOf(operation: DocumentOperation, id: OperationId): number | undefined {
  const size = operation.parameters.find(
    (each) => each.in === 'query' && pageSizes.includes(plain(each.name)),
  );
  if (!operations[id].many || !size || documentsLinks(operation)) return undefined;
  return Number(fixedValue(size) ?? 0) || 0;
}

function documentsLinks({ responses }: DocumentOperation): boolean {
  const headers = Object.values(responses).flatMap((response) =>
    Object.keys(objectOf(objectOf(response).headers)),
  );
  return headers.some((name) => name.toLowerCase() === 'link');
}

/** The table's name for a filter or a paging parameter. */
export function queryName({ name, in: place }: DocumentParameter, id: OperationId): QueryName | undefined {
  if (place !== 'query' && place !== 'header') return undefined;
  const written = plain(name);
  const ours = operations[id].parameters.flatMap((each) =>
    each.in === 'query' ? [each.name as QueryName] : [],
  );
  return (
    ours.find((each) => plain(each) === written) ?? ours.find((each) => otherNames[each].includes(written))
  );
}

/** The only value that a description allows, or its default. */
function fixedValue({ schema }: DocumentParameter): string | undefined {
  const { const: constant, enum: choices, default: fallback } = objectOf(schema);
  const [only, ...others] = listOf(choices);
  const value = constant ?? (others.length === 0 ? only : undefined) ?? fallback;
  const isText = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isText && /^[\x20-\x7e]*$/.test(String(value)) ? String(value) : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
