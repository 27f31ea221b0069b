/** Descriptions of services unlike the one of the table: other paths, methods, names, versions and gaps. */

/** OpenAPI 3.0 in YAML: other paths, PATCH for updates, ids of other names, one in the query and one in a header. */
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
      operationId: searchAnimals
      parameters:
        - { name: pet_status, in: query, schema: { $ref: '#/components/schemas/PetStatus' } }
        - { name: category_id, in: query, schema: { type: integer, format: int64 } }
        - { name: page_size, in: query, schema: { type: integer, minimum: 1, maximum: 50 } }
        - { name: api-version, in: query, required: true, schema: { type: string, enum: ['2'] } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Pets' } } } }
    post:
      operationId: registerAnimal
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/NewPet' } } } }
      responses:
        '201': { description: made, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
  /animals/{animal_id}:
    parameters:
      - { name: animal_id, in: path, required: true, schema: { type: integer, format: int64, minimum: 1 } }
    get:
      deprecated: true
      x-deprecated-sunset: 2030-06-30
      operationId: readAnimal
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
        4XX: { description: no, content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
    patch:
      operationId: changeAnimal
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
      responses: { '204': { description: gone } }
  /kinds:
    get:
      responses:
        '200':
          description: ok
          content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Category' } } } }
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/NewCategory' } } } }
      responses:
        '201': { description: made, content: { application/json: { schema: { $ref: '#/components/schemas/Category' } } } }
  /kind:
    get:
      parameters: [ { name: id, in: query, required: true, schema: { type: integer } } ]
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Category' } } } }
  /stock:
    put:
      x-stability: beta
      parameters: [ { name: X-Pet-Id, in: header, required: true, schema: { type: integer } } ]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/InventoryUpdate' } } } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/InventoryItem' } } } }
  /health:
    get: { responses: { '200': { description: ok } } }
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
        friends: { type: array, items: { $ref: '#/components/schemas/Pet' } }
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
    Error:
      type: object
      required: [code, message, status]
      properties: { code: { type: string }, message: { type: string }, status: { type: integer } }
`;

const item = {
  type: 'object',
  required: ['petId', 'quantity', 'status'],
  properties: {
    petId: { type: 'integer' },
    quantity: { type: ['integer', 'null'], exclusiveMinimum: -1 },
    status: { type: 'string' },
  },
};
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
const ok = (schema: unknown) => ({ '200': { description: 'ok', ...json(schema) } });
const idInPath = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };

/** OpenAPI 3.1 in JSON with no name of the service document: only fields tell what is what. */
export const unnamed = {
  openapi: '3.1.0',
  info: { title: 'Unnamed', version: '1' },
  paths: {
    '/v1/beasts': {
      get: { responses: ok({ type: 'array', items: { $ref: '#/components/schemas/Beast' } }) },
      post: {
        requestBody: json({ $ref: '#/components/schemas/BeastInput', description: 'what to make' }),
        responses: { '201': { description: 'made' } },
      },
    },
    '/v1/beasts/{id}': {
      parameters: [idInPath],
      get: { responses: ok({ anyOf: [{ $ref: '#/components/schemas/Beast' }, { type: 'null' }] }) },
      put: {
        requestBody: json({ $ref: '#/components/schemas/BeastInput' }),
        responses: { '204': { description: 'done' } },
      },
    },
    '/v1/counts/{id}': {
      parameters: [idInPath],
      get: { responses: ok(item) },
      put: {
        requestBody: json({ type: 'object', properties: { quantity: { type: 'integer' } } }),
        responses: ok(item),
      },
    },
    '/v1/categories': {
      get: {
        responses: ok({
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: { type: 'integer' },
              name: { type: 'string' },
              description: { type: 'string' },
            },
          },
        }),
      },
    },
    '/v1/tags': {
      post: {
        requestBody: json({
          type: 'object',
          properties: { name: { type: 'string' }, description: { type: 'string' } },
        }),
        responses: {},
      },
    },
  },
  components: {
    schemas: {
      BeastInput: {
        type: 'object',
        required: ['name', 'categoryId'],
        properties: {
          name: { type: 'string' },
          categoryId: { type: 'integer' },
          status: { enum: ['available', 'sold'] },
        },
      },
      Beast: {
        allOf: [{ $ref: '#/components/schemas/BeastInput' }],
        properties: { id: { type: 'integer' }, parent: { $ref: '#/components/schemas/Beast' } },
      },
    },
  },
};

/** All that the service document states, and nothing more. */
export const sparse = {
  openapi: '3.0.0',
  info: { title: 'Pet Store', version: '1.0.0' },
  paths: {
    '/pets/{petId}': { get: { deprecated: true, responses: { default: { description: 'not shown' } } } },
    '/store/orders': {
      get: { 'x-hideTryItPanel': true, responses: { '200': { description: 'not shown' } } },
    },
  },
};

const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' } },
};
const quantity = { type: 'object', required: ['quantity'], properties: { quantity: { type: 'integer' } } };
const takesUpdate = {
  requestBody: json({ $ref: '#/components/schemas/InventoryUpdate' }),
  responses: ok({ $ref: '#/components/schemas/InventoryItem' }),
};

/** Two operations fit updateInventory and two getPet; an operationId tells the lists apart. */
export const ambiguous = {
  openapi: '3.0.3',
  info: { title: 'Ambiguous', version: '1' },
  paths: {
    '/pets': { get: { operationId: 'list_pets', responses: ok({ $ref: '#/components/schemas/Pets' }) } },
    '/pets/popular': {
      get: {
        operationId: 'popular',
        responses: ok({ type: 'array', items: { $ref: '#/components/schemas/Pet' } }),
      },
    },
    '/pets/{id}': { parameters: [idInPath], get: { responses: ok({ $ref: '#/components/schemas/Pet' }) } },
    '/orders/{id}/pet': {
      parameters: [idInPath],
      get: { responses: ok({ $ref: '#/components/schemas/Pet' }) },
    },
    '/stock/{id}': { parameters: [idInPath], put: takesUpdate, patch: takesUpdate },
  },
  components: {
    schemas: {
      Pet: pet,
      Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
      InventoryUpdate: quantity,
      InventoryItem: item,
    },
  },
};

/** `Pets` is an object around the list. */
export const wrapped = {
  openapi: '3.0.3',
  info: { title: 'Wrapped', version: '1' },
  paths: {
    '/pets': { get: { operationId: 'listPets', responses: ok({ $ref: '#/components/schemas/Pets' }) } },
    '/pets/{id}': { parameters: [idInPath], get: { responses: ok({ $ref: '#/components/schemas/Pet' }) } },
  },
  components: {
    schemas: {
      Pet: pet,
      Pets: {
        type: 'object',
        properties: {
          data: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
          total: { type: 'integer' },
        },
      },
    },
  },
};
