import { describeLines } from './corpus.ts';

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

/** OpenAPI 3.0 in YAML: other paths with our operationIds, PATCH for updates, ids of other names. */
export const warehouse = `
openapi: 3.0.3
info: { title: Warehouse, version: 2.4.0 }
servers:
  - url: https://{region}.warehouse.test/api/v2/
    variables: { region: { default: eu } }
security: [ { key: [] } ]
paths:
  /animals:
    get:
      operationId: listPets
      parameters:
        - { name: pet_status, in: query, schema: { $ref: '#/components/schemas/PetStatus' } }
        - { name: category_id, in: query, schema: { type: integer, format: int64 } }
        - { name: page_size, in: query, schema: { type: integer, minimum: 1, maximum: 50 } }
        - { name: api-version, in: query, required: true, schema: { type: string, enum: ['2'] } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Pets' } } } }
    post:
      operationId: createPet
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/NewPet' } } } }
      responses:
        '201': { description: made, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
  /animals/{pet_id}:
    parameters:
      - { name: pet_id, in: path, required: true, schema: { type: integer, format: int64, minimum: 1 } }
    get:
      operationId: getPet
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
    patch:
      operationId: updatePet
      requestBody:
        content:
          application/merge-patch+json:
            schema:
              type: object
              properties:
                name: { type: string, maxLength: 40 }
                categoryId: { type: integer, format: int64 }
                status: { $ref: '#/components/schemas/PetStatus' }
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
    delete:
      operationId: deletePet
      responses: { '204': { description: gone } }
  /kinds:
    get:
      operationId: listCategories
      responses:
        '200':
          description: ok
          content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Category' } } } }
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/NewCategory' } } } }
      responses:
        '201': { description: made, content: { application/json: { schema: { $ref: '#/components/schemas/Category' } } } }
  /kinds/{id}:
    get:
      parameters: [ { name: id, in: path, required: true, schema: { type: integer } } ]
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Category' } } } }
  /stock/{pet_id}:
    put:
      operationId: updateInventory
      parameters: [ { name: pet_id, in: path, required: true, schema: { type: integer } } ]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/InventoryUpdate' } } } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/InventoryItem' } } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Api-Key }
  schemas:
    PetStatus: { type: string, enum: [available, pending, sold] }
    NewPet:
      type: object
      required: [name, categoryId, status]
      properties:
        name: { type: string, minLength: 2, maxLength: 40 }
        categoryId: { type: integer, format: int64, minimum: 1, maximum: 9223372036854775807 }
        status: { $ref: '#/components/schemas/PetStatus' }
    Pet:
      allOf:
        - $ref: '#/components/schemas/NewPet'
        - type: object
          required: [id]
          properties: { id: { type: integer, format: int64, readOnly: true } }
    Pets: { type: array, items: { $ref: '#/components/schemas/Pet' } }
    NewCategory: { type: object, required: [name], properties: { name: { type: string }, description: { type: string } } }
    Category:
      allOf:
        - $ref: '#/components/schemas/NewCategory'
        - { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }
    InventoryUpdate:
      type: object
      required: [quantity]
      properties: { quantity: { type: integer, minimum: 0, exclusiveMaximum: true, maximum: 1000 } }
    InventoryItem:
      type: object
      required: [petId, quantity, status]
      properties:
        petId: { type: integer, format: int64 }
        quantity: { type: integer }
        status: { $ref: '#/components/schemas/PetStatus' }
`;

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
