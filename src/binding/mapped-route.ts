import { takesId } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import { joinFirst } from '../process/text.ts';
import {
  type DocumentOperation,
  type DocumentParameter,
  obstacleText,
  type Route,
  routeText,
} from './document.ts';
import { obstacleTo } from './obstacles.ts';
import { isParameter } from './path-words.ts';
import type { TableOperation } from './wire-form.ts';

/**
 * Finds the operation at a route that the user chose with `--map`. Values in the path take the place of its parameters, and
 * `?name=value` behind the path fixes a query parameter.
 *
 * @throws UsageError if the description has no such route or parameter, or if the operation cannot be called.
 */
export function findOperationAt(
  documentOperations: readonly DocumentOperation[],
  tableOperation: TableOperation,
  route: Route,
): DocumentOperation {
  const { id, method } = tableOperation;
  const [path = '', query = ''] = route.path.split('?');
  const match = documentOperations
    .filter((candidate) => candidate.method === route.method)
    .flatMap((candidate) => withFixedPath(candidate, path) ?? [])
    .sort((a, b) => Number(b.path === path) - Number(a.path === path))[0];
  if (!match) {
    throw new UsageError(
      `--map ${id}: the description has no ${routeText({ ...route, path })}`,
      `it has ${joinFirst(documentOperations.map(routeText), 8)}`,
    );
  }
  const operation = withFixedQuery(match, id, query);
  const ids = operation.parameters.filter((parameter) => parameter.in === 'path').length;
  const isInBody = method === 'PUT' && ids === 0;
  const expected = takesId(id) && !isInBody ? 1 : 0;
  const obstacle =
    ids === expected
      ? obstacleTo(tableOperation, operation)
      : {
          why: `${id} takes ${expected === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`,
        };
  if (obstacle)
    throw new UsageError(`--map ${id}: ${routeText(operation)} does not fit: ${obstacleText(obstacle)}`);
  return operation;
}

/**
 * Puts the values of a path in place of the parameters. Returns undefined if the operation has another path.
 */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation | undefined {
  const segmentsOf = (text: string) => text.replace(/(?<=.)\/$/, '').split('/');
  const values = segmentsOf(path);
  const template = segmentsOf(operation.path);
  const isSame = template.every((segment, index) => isParameter(segment) || segment === values[index]);
  if (values.length !== template.length || !isSame) return undefined;
  const segments = template.map((segment, index) =>
    isParameter(values[index] ?? '') ? segment : values[index],
  );
  const isInPath = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter(
    (parameter) => parameter.in !== 'path' || isInPath(parameter.name),
  );
  return { ...operation, path: segments.join('/'), parameters };
}

/** Gives query parameters constant values. @throws UsageError if the operation has no such parameter. */
function withFixedQuery(operation: DocumentOperation, id: string, query: string): DocumentOperation {
  const values = new Map(new URLSearchParams(query));
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query');
  const unknownName = [...values.keys()].find(
    (name) => !inQuery.some((parameter) => parameter.name === name),
  );
  if (unknownName !== undefined)
    throw new UsageError(
      `--map ${id}: ${routeText(operation)} has no query parameter ${unknownName}`,
      inQuery.length > 0 ? `it has ${inQuery.map(({ name }) => name).join(', ')}` : undefined,
    );
  const parameters = operation.parameters.map((parameter): DocumentParameter => {
    const value = parameter.in === 'query' ? values.get(parameter.name) : undefined;
    return value === undefined ? parameter : { ...parameter, required: true, fixedValue: value };
  });
  return { ...operation, parameters };
}
