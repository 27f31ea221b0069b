import { expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { type OperationId, operationIds, operations } from '../../src/api/operations.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/process/exact-json.ts';

function objectsOf(value: JsonValue): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isJsonObject(value) ? [value, ...Object.values(value).flatMap(objectsOf)] : [];
}

function operationOf(id: OperationId, document = toOpenApi()): JsonObject {
  const paths = document.paths as Record<string, Record<string, JsonObject>>;
  const { path, method } = operations[id];
  return paths[path]![method.toLowerCase()]!;
}

test('describes every operation at the path and method of the table', () => {
  for (const id of operationIds) expect(operationOf(id).operationId).toBe(id);
});

test('names the schemas as the service document does', () => {
  const { schemas } = toOpenApi().components as { schemas: JsonObject };
  expect(Object.keys(schemas)).toEqual([
    'PetStatus',
    'NewPet',
    'Pet',
    'Pets',
    'NewCategory',
    'Category',
    'Order',
    'InventoryItem',
    'InventoryUpdate',
    'Error',
  ]);
  expect(schemas.NewPet).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string' },
      categoryId: { type: 'integer', format: 'int64' },
      status: { $ref: '#/components/schemas/PetStatus' },
    },
    required: ['name', 'categoryId'],
  });
});

test('resolves all its references', () => {
  const document = toOpenApi();
  const references = objectsOf(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const [, ...keys] = reference.split('/');
    expect(
      keys.reduce<JsonValue | undefined>((at, key) => (at as JsonObject)?.[key], document),
    ).toBeDefined();
  }
});

test('is plain JSON: its text parses to the same document', () => {
  const document = toOpenApi();
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  expect(objectsOf(document).filter(({ required }) => Array.isArray(required) && !required.length)).toEqual(
    [],
  );
});

test('marks operations that are deprecated, unstable or hidden from try-it', () => {
  expect(operationOf('getPet')).toMatchObject({ deprecated: true, 'x-deprecated-sunset': '2027-12-31' });
  expect(operationOf('getPet', toOpenApi({ sunset: '2030-01-02' }))).toMatchObject({
    'x-deprecated-sunset': '2030-01-02',
  });
  expect(operationOf('updateOrder')).toMatchObject({ 'x-stability': 'beta' });
  expect(operationOf('listOrders')).toMatchObject({ 'x-hideTryItPanel': true });
  expect(operationOf('listPets')).not.toHaveProperty('deprecated');
});

test('has an example of a Link header without a next page', () => {
  const { Link } = (toOpenApi() as { components: { headers: Record<string, { example: string }> } })
    .components.headers;
  expect(Link?.example).toMatch(/^<.+>; rel="\w+"$/);
  expect(Link?.example).not.toContain('next');
});
