import { idName, type OperationId, operations, type Parameter } from '../api/operations.ts';
import type { Bounds, QueryName } from '../api/schemas.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type DocumentOperation, type DocumentParameter, isFieldName } from './document.ts';
import { plain } from './nouns.ts';
import { boundsOf, listOf, objectOf, shapeOf } from './schema.ts';

/** Other names for the table's query parameters, in lower case and without punctuation. */
const otherNames: Readonly<Record<QueryName, readonly string[]>> = {
  status: ['petstatus'],
  categoryId: ['category'],
  petId: ['pet'],
  complete: ['completed', 'iscomplete'],
  limit: ['pagesize', 'perpage', 'maxresults', 'size', 'count', 'take', 'top', 'pagelimit'],
  after: [],
};

export const pageNames = /^(page|pagenumber|pageno|pageindex|currentpage)$/;
export const offsetNames = /^(offset|skip|start|startindex|firstresult|pageoffset)$/;

/** The value with which a paging parameter asks for the first page, if it has to be sent. */
function beginningOf(name: string): string | undefined {
  if (pageNames.test(plain(name))) return '1';
  return offsetNames.test(plain(name)) ? '0' : undefined;
}

/** The filter or the page size of the table that a name stands for. */
export function filterOf(name: string, id: OperationId): QueryName | undefined {
  const ours = operations[id].parameters.flatMap((each) =>
    each.in === 'query' ? [each.name as QueryName] : [],
  );
  const written = plain(name);
  return (
    ours.find((each) => plain(each) === written) ?? ours.find((each) => otherNames[each].includes(written))
  );
}

/** The table's name for a query parameter, if its values are of the same type. */
function queryName({ name, in: place, schema }: DocumentParameter, id: OperationId): QueryName | undefined {
  const known = place === 'query' ? filterOf(name, id) : undefined;
  const isId = known === 'categoryId' || known === 'petId' || known === 'after';
  return isId && shapeOf(schema).kind === 'string' ? undefined : known;
}

/** A required parameter that the program has no value for. Most headers can be given with `--header`. */
export function unmetParameter(operation: DocumentOperation, id: OperationId): DocumentParameter | undefined {
  return operation.parameters.find(
    (parameter) =>
      parameter.required &&
      parameter.in !== 'path' &&
      queryName(parameter, id) === undefined &&
      (parameter.in === 'header'
        ? !isFieldName(parameter.name)
        : fixedValue(parameter) === undefined && beginningOf(parameter.name) === undefined),
  );
}

/**
 * The parameters of an operation by the table's names. Other required parameters are called `query name` or
 * `header name`, so that none is taken for one of ours.
 */
export function toParameters({ parameters }: DocumentOperation, id: OperationId): Parameter[] {
  return parameters.flatMap((parameter): Parameter[] => {
    const { name: wireName, required, schema, in: place } = parameter;
    if (place !== 'path' && place !== 'query' && place !== 'header') return [];
    if (place === 'header' && !isFieldName(wireName)) return [];
    const known = place === 'path' ? idName(id) : queryName(parameter, id);
    if (known === undefined && !required) return [];
    const value = known === undefined ? (fixedValue(parameter) ?? beginningOf(wireName)) : undefined;
    const isFilter = known !== undefined && known !== 'after';
    return [
      {
        name: known ?? `${place} ${wireName}`,
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

/** The only value that a description allows, or its default. */
export function fixedValue({ schema }: DocumentParameter): string | undefined {
  const { const: constant, enum: choices, default: fallback } = objectOf(schema);
  const [only, ...others] = listOf(choices);
  const value = constant ?? (others.length === 0 ? only : undefined) ?? fallback;
  const isText = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isText && /^[\x20-\x7e]*$/.test(String(value)) ? String(value) : undefined;
}
