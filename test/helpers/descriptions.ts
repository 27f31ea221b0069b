import { describeLines } from './corpus.ts';
import type { Description } from './own-description.ts';

// Descriptions of services unlike the one of the table: other paths, methods, names and gaps.

/** A body or an answer in JSON. */
export const json = <Schema>(schema: Schema) => ({ content: { 'application/json': { schema } } });

/** The responses of an operation that answers 200. */
export const ok = <Schema>(schema: Schema) => ({ 200: { description: 'ok', ...json(schema) } });

/** The schema of a record that has all of these fields. */
export const record = (properties: object) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** Other paths with our operationIds, PATCH for updates, ids of other names, and bounds. */
export const warehouse = describeWarehouse();

function describeWarehouse(): object {
  const document = describeLines(
    'NewPet: name! categoryId#! status!',
    'Change: name categoryId# status',
    'Pet: id#! name! categoryId#! status!',
    'NewCategory: name! description',
    'Category: id#! name! description',
    'InventoryUpdate: quantity#!',
    'InventoryItem: petId#! quantity#! status!',
    'GET /animals -> Pet[] (listPets)',
    'POST /animals NewPet -> Pet (createPet)',
    'GET /animals/{pet_id} -> Pet (getPet)',
    'PATCH /animals/{pet_id} Change -> Pet (updatePet)',
    'DELETE /animals/{pet_id} (deletePet)',
    'GET /kinds -> Category[] (listCategories)',
    'POST /kinds NewCategory -> Category',
    'GET /kinds/{id} -> Category',
    'PUT /stock/{pet_id} InventoryUpdate -> InventoryItem (updateInventory)',
  ) as unknown as Description;
  const { NewPet, InventoryUpdate } = document.components.schemas;
  Object.assign(NewPet?.properties.name ?? {}, { minLength: 2, maxLength: 40 });
  Object.assign(NewPet?.properties.categoryId ?? {}, { minimum: 1 });
  Object.assign(InventoryUpdate?.properties.quantity ?? {}, { exclusiveMaximum: true, maximum: 1000 });
  document.components.securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } };
  const { get } = document.paths['/animals'] ?? {};
  const inQuery = (name: string, schema: object) => ({ name, in: 'query', schema });
  Object.assign(get ?? {}, {
    parameters: [
      inQuery('pet_status', { type: 'string', enum: ['available', 'pending', 'sold'] }),
      inQuery('category_id', { type: 'integer', format: 'int64' }),
      inQuery('page_size', { type: 'integer', minimum: 1, maximum: 50 }),
      { ...inQuery('api-version', { type: 'string', enum: ['2'] }), required: true },
    ],
  });
  const { patch } = document.paths['/animals/{pet_id}'] ?? {};
  const schema = { $ref: '#/components/schemas/Change' };
  Object.assign(patch ?? {}, { requestBody: { content: { 'application/merge-patch+json': { schema } } } });
  const url = 'https://{region}.warehouse.test/api/v2/';
  const servers = [{ url, variables: { region: { default: 'eu' } } }];
  return { ...document, servers, security: [{ key: [] }] };
}

/** Only the operations that the specification states. */
export const sparse = describeLines('GET /pets/{petId}', 'GET /store/orders');

export const pet = record({
  id: { type: 'integer' },
  name: { type: 'string' },
  categoryId: { type: 'integer' },
});

/** Two operations fit listInventory, and none is certainly getPet. */
export const ambiguous = describeLines(
  'Pet: id#! name! categoryId#!',
  'Entry: petId#! quantity#! status!',
  'Count: quantity#!',
  'GET /pets -> Pet[]',
  'GET /animals/{petId} -> Pet',
  'GET /beasts/{petId} -> Pet',
  'GET /a/inventory -> Entry[]',
  'GET /b/inventory -> Entry[]',
  'PUT /a/inventory/{petId} Count -> Entry',
  'PATCH /a/inventory/{petId} Count -> Entry',
  'PUT /b/inventory/{petId} Count -> Entry',
);
