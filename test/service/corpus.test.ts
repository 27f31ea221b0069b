import { expect, test } from 'vitest';
import type { NounName, OperationId } from '../../src/api/operations.ts';
import { bind, type Maps } from '../../src/binding/binding.ts';
import { readDescription } from '../../src/binding/description.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';

// Descriptions in the shapes of public ones, and what is bound of each; two public ones are in public-descriptions.test.ts. A line is an operation of the description:
//
//   METHOD path [body] [-> answer] [(operationId)] [?parameter] [= the operation that it is bound as]
//
// `{id}` is an integer, `{id:string}` and `{id:uuid}` are not. `?shop` is a required query parameter. An answer may be in an
// envelope: `{data: Pet[]}`. A schema has a line before, `Pet: id# name`, with its fields: `id#` is an integer, `id@` a UUID,
// `done?` a boolean, `tags[]` a list, `category.` an object with an id and a name, `n:integer,description_of_it` has a
// description; all else is text.

const corpus = readCorpus(`
# the short petstore, whose get answers a list
Pet: id# name tag
GET /pets -> Pet[] (listPets) = listPets
POST /pets (createPets) = createPet
GET /pets/{petId:string} -> Pet[] (showPetById)

# a clinic with owners
Pet: id# name birthDate type.
Visit: id# date description
Owner: id# firstName
PetType: id# name
GET /owners -> Owner[]
GET /pets -> Pet[] (listPets) = listPets
POST /owners/{ownerId}/pets Pet -> Pet (addPetToOwner)
GET /owners/{ownerId}/pets/{petId} -> Pet (getOwnersPet)
PUT /owners/{ownerId}/pets/{petId} Pet (updateOwnersPet)
GET /pets/{petId} -> Pet (getPet) = getPet
PUT /pets/{petId} Pet -> Pet (updatePet) = updatePet
DELETE /pets/{petId} (deletePet) = deletePet
POST /pets/{petId}/visits Visit -> Visit
GET /pettypes -> PetType[]
DELETE /pettypes/{petTypeId}

# Python with trailing slashes
PetOut: id# name category_id# status
PetIn: name category_id# status
GET /pets/ -> PetOut[] (read_pets_pets__get) = listPets
POST /pets/ PetIn -> PetOut (create_pet_pets__post) = createPet
GET /pets/{pet_id} -> PetOut (read_pet_pets__pet_id__get) = getPet
PUT /pets/{pet_id} PetIn -> PetOut = updatePet
DELETE /pets/{pet_id} = deletePet

# PHP with the noun as parameter
Pet: id# name status
StorePetRequest: name status
GET /api/pets -> {data: Pet[]} = listPets
POST /api/pets StorePetRequest -> {data: Pet} = createPet
GET /api/pets/{pet} -> {data: Pet}
PUT /api/pets/{pet} StorePetRequest -> {data: Pet}
DELETE /api/pets/{pet}

# Django with pages
Category: id# name description
GET /api/categories/ -> {count#, next, previous, results: Category[]} = listCategories
POST /api/categories/ Category -> Category = createCategory
GET /api/categories/{id}/ -> Category = getCategory
PATCH /api/categories/{id}/ Category -> Category = updateCategory
DELETE /api/categories/{id}/ = deleteCategory

# Spring pages
PetDto: id# name status
PetRequest: name status
GET /api/v1/pets -> {content: PetDto[], totalElements#, last?} = listPets
POST /api/v1/pets PetRequest -> PetDto = createPet
GET /api/v1/pets/{id} -> PetDto = getPet
PUT /api/v1/pets/{id} PetRequest -> PetDto = updatePet
DELETE /api/v1/pets/{id} = deletePet
GET /api/v1/pets/search -> {content: PetDto[]}

# HAL
Order: id# pet_id# quantity# ship_date complete?
GET /orders -> {_embedded: {orders: Order[]}} = listOrders
GET /orders/{id} -> Order = getOrder
DELETE /orders/{id} = deleteOrder
GET /orders/search/findByName -> {_embedded: {orders: Order[]}}

# JSON:API, whose ids are texts in an envelope of attributes
PetResource: type id attributes[]
GET /pets -> {data: PetResource[]}
GET /pets/{id} -> {data: PetResource}
DELETE /pets/{id}

# a database as a service, where a PATCH without a filter changes all rows
pets: id# name status
GET /pets -> pets[] = listPets
POST /pets pets = createPet
PATCH /pets pets
DELETE /pets

# OData keys in parentheses
Pet: id# name status
GET /Pets -> {value: Pet[]} = listPets
POST /Pets Pet -> Pet = createPet
GET /Pets({key}) -> Pet
DELETE /Pets({key})

# resource names of gateways
Pet: id# name
GET /v1/pets -> {pets: Pet[], nextPageToken} = listPets
DELETE /v1/pets/{pet_id}:archive
DELETE /v1/pets/{pet_id} = deletePet

# UUIDs
Pet: id@ name status
GET /pets -> Pet[]
POST /pets Pet -> Pet
GET /pets/{petId:uuid} -> Pet
PUT /pets/{petId:uuid} Pet -> Pet
DELETE /pets/{petId:uuid}

# ids of a document store
Pet: _id name status
GET /pets -> Pet[]
POST /pets Pet -> Pet
DELETE /pets/{id:string}

# text ids in the path of integer records
Pet: id# name status
GET /pets -> Pet[] = listPets
GET /pets/{petId:string} -> Pet = getPet
DELETE /pets/{petId:string} = deletePet

# text ids without any schema
GET /pets/{petId:string}
DELETE /pets/{petId:string}
GET /orders = listOrders

# petID and pet-id
Pet: id# name status
GET /pets -> Pet[] = listPets
GET /pets/{petID} -> Pet = getPet
DELETE /pets/{pet-id} = deletePet

# purchase orders
PurchaseOrder: id# supplier total
GET /orders -> PurchaseOrder[]
POST /orders PurchaseOrder
GET /orders/{id} -> PurchaseOrder
PUT /orders/{id} PurchaseOrder
DELETE /orders/{id}

# orders whose pet has another name
Order: id# pet# user# quantity# complete?
Pet: id# name
GET /pets -> Pet[] = listPets
GET /orders -> Order[]
POST /orders Order -> Order
GET /orders/{id} -> Order
PUT /orders/{id} Order -> Order
DELETE /orders/{id}

# an archive beside the shop, though it has our operationId
Pet: id# name status
GET /pets -> Pet[] = listPets
DELETE /archive/pets/{petId} (deletePet)

# orders by number
Order: id# orderNumber# petId# quantity#
GET /orders -> Order[] = listOrders
POST /orders Order -> Order = createOrder
GET /orders/{orderNumber} -> Order
PUT /orders/{orderNumber} Order -> Order
DELETE /orders/{orderNumber}

# pets with an id and another id
Pet: id# petId# name
GET /pets -> Pet[] = listPets
PUT /pets Pet -> Pet
GET /pets/{petId} -> Pet
DELETE /pets/{petId}

# pets with an id and a chip number, by id
Pet: id# chipNumber# name
GET /pets -> Pet[] = listPets
GET /pets/{chipNumber} -> Pet
DELETE /pets/{id} = deletePet

# orders of which some are below others
Order: id# petId# quantity#
Item: id# orderId# petId# quantity#
GET /orders -> Order[] = listOrders
GET /orders/{orderId} -> Order = getOrder
GET /orders/{orderId}/items -> Item[]
DELETE /orders/{orderId}/items/{itemId}
POST /orders/{orderId}/cancel

# orders that are checked out and validated
Order: id# petId# quantity#
GET /orders -> Order[] = listOrders
POST /orders Order -> Order = createOrder
POST /orders/validate Order
POST /checkout Order -> Order
POST /quotes Order

# entries with an id of their own
Entry: id# petId# quantity#
Count: quantity#
GET /inventory -> Entry[] = listInventory
POST /inventory Entry -> Entry = createInventory
GET /inventory/{id} -> Entry
PUT /inventory/{id} Count -> Entry
DELETE /inventory/{id}

# entries with an id of their own, by the pet
Entry: id# petId# quantity#
Count: quantity#
GET /inventory -> Entry[] = listInventory
PUT /inventory/{petId} Count -> Entry (setStock) = updateInventory
PUT /inventory Entry -> Entry

# entries by another id
Entry: petId# quantity#
Count: quantity#
GET /inventory -> Entry[] = listInventory
GET /inventory/{inventoryId} -> Entry
PUT /inventory/{inventory_id} Count
PUT /inventory/{itemId} Count
PATCH /inventory/{entryId} Count
DELETE /inventory/{stockId}

# entries by {id}, though they have no id of their own
InventoryItem: petId# quantity# status
InventoryUpdate: quantity#
GET /inventory -> InventoryItem[] = listInventory
PUT /inventory/{id} InventoryUpdate -> InventoryItem
DELETE /inventory/{id}

# entries by {id}, of which nothing is known
PUT /inventory/{id}
DELETE /inventory/{id}
GET /orders = listOrders

# products with a sku
Stock: sku quantity#
Count: quantity#
GET /inventory -> Stock[]
PUT /inventory/{sku:string} Count -> Stock
DELETE /inventory/{sku:string}

# products with an id
Stock: productId# quantity#
GET /inventory -> Stock[]
GET /inventory/{productId} -> Stock
PUT /inventory/{productId} Stock
DELETE /inventory/{productId}

# stock that is moved
Entry: petId# quantity#
Move: quantity# reason
GET /inventory -> Entry[] = listInventory
GET /inventory/{petId} -> Entry = getInventory
PATCH /inventory/{petId} Move -> Entry (restockInventory)
POST /inventory/{petId}/reserve Move
POST /inventory/inbound Move
POST /inventory/outbound Move
POST /inventory/transfer Move

# a PATCH that says that it sets
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
PATCH /inventory/{petId} Entry -> Entry (update_inventory_item)

# a PUT of a delta
Entry: petId# quantity#
Delta: delta#
GET /inventory -> Entry[] = listInventory
PUT /inventory/{petId} Delta -> Entry

# a PUT with the pet in its body
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
PUT /inventory Entry -> Entry = updateInventory

# entries on pages in the path
Entry: petId# quantity#
GET /api/inventory/{page} -> Entry[]
GET /api/inventory/search -> Entry[]

# an entry below its pet
Pet: id# name
Entry: petId# quantity#
Count: quantity#
GET /pets -> Pet[] = listPets
GET /pets/{petId}/inventory -> Entry
PUT /pets/{petId}/inventory Count -> Entry
DELETE /pets/{petId}/inventory

# stock under another word
InventoryItem: petId# quantity# status
InventoryUpdate: quantity#
GET /stock -> InventoryItem[]
PUT /stock/{petId} InventoryUpdate -> InventoryItem
DELETE /stock/{petId}
GET /pets = listPets

# animals with our schema
Pet: id# name status
NewPet: name status
GET /animals -> Pet[]
POST /animals NewPet -> Pet
GET /animals/{id} -> Pet
GET /orders = listOrders

# animals whose list has our operationId
Pet: id# name status
NewPet: name status
GET /animals -> Pet[] (listPets) = listPets
POST /animals NewPet -> Pet = createPet
GET /animals/{id} -> Pet = getPet
DELETE /animals/{petId} = deletePet
PUT /animals/{animalId} NewPet -> Pet
DELETE /archive/animals/{petId} (deletePets)

# categories by name
Category: id# name
GET /categories -> Category[] = listCategories
GET /categories/{name:string} -> Category
DELETE /categories/{name:string}

# a category that is a text
NewAnimal: name category!
POST /pets NewAnimal
GET /orders = listOrders

# two versions at once
Pet: id# name status
GET /v1/pets -> Pet[]
GET /v2/pets -> Pet[]
DELETE /v1/pets/{id}
DELETE /v2/pets/{id}

# an administration beside the shop
Pet: id# name status
GET /pets -> Pet[] = listPets
GET /admin/pets -> Pet[]
DELETE /admin/pets/{id}
DELETE /pets/{id} = deletePet

# an archive alone
Pet: id# name status
GET /orders = listOrders
GET /archive/pets/{id} -> Pet
DELETE /archive/pets/{id}

# lists of some pets
Pet: id# name status
GET /pets/lost -> Pet[]
GET /pets/popular -> Pet[]
GET /pets/mine -> Pet[]
POST /pets Pet -> Pet = createPet

# stores that each have pets
Pet: id# name status
GET /stores/{storeId}/pets -> Pet[]
POST /stores/{storeId}/pets Pet -> Pet
DELETE /stores/{storeId}/pets/{petId}
GET /orders = listOrders

# actions below a pet
Pet: id# name status
GET /pets -> Pet[] = listPets
POST /pets/{petId}/adopt
POST /pets/{petId}/delete
PUT /pets/{petId}/status Pet
DELETE /pets/{petId}/photos/{photoId}
DELETE /favourites/{petId}

# batches
Pet: id# name status
GET /pets -> Pet[] = listPets
POST /pets/batch Pet[] -> Pet[]
POST /pets Pet[]
PUT /pets Pet[]
DELETE /pets

# forms
Pet: id# name status
GET /pets -> Pet[] = listPets
POST /pets form
PUT /pets/{id} form
PATCH /pets/{id} json-patch

# an envelope by the noun
Pet: id# name status
GET /pets -> {pets: Pet[], count#} = listPets
GET /pets/{id} -> {pet: Pet} = getPet
POST /pets Pet -> {pet: Pet} = createPet

# an envelope with a message
Pet: id# name status
GET /pets -> {success?, message, data: Pet[]} = listPets
GET /pets/{id} -> {success?, message, data: Pet} = getPet
DELETE /pets/{id} -> {success?, message} = deletePet

# an envelope that petstore does not know
Pet: id# name status
GET /pets -> {payload: Pet[]} = listPets
GET /pets/{id} -> {payload: Pet}
DELETE /pets/{id} = deletePet

# a list by id
Pet: id# name
GET /pets -> mapOf
DELETE /pets/{id}
GET /orders = listOrders

# remote procedures
Pet: id# name status
GET /getPets -> Pet[]
GET /getPetById -> Pet
POST /createPet Pet -> Pet (createPet) = createPet
POST /deletePet
GET /pets/count

# a tenant in a required parameter
Pet: id# name status
GET /pets -> Pet[] ?tenant
DELETE /pets/{id} ?tenant
GET /pets/{id} -> Pet = getPet

# orders without a list
Order: id# petId# quantity# complete?
POST /v1/orders Order -> Order = createOrder
GET /v1/orders/{orderId} -> Order = getOrder
DELETE /v1/orders/{orderId} = deleteOrder

# records alone below a prefix
Pet: id# name status
GET /api/pets/{petId} -> Pet
DELETE /api/pets/{petId}
GET /orders = listOrders

# records alone
Pet: id# name status
GET /pets/{petId} -> Pet = getPet
DELETE /pets/{petId} = deletePet

# the service as its public documentation has it
Pet: id# name status
Order: id# petId# quantity# shipDate complete?
InventoryItem: petId# quantity# status
InventoryUpdate: quantity#
GET /pets -> Pet[] (listPets) = listPets
POST /pets Pet -> Pet (addPet) = createPet
GET /pets/{petId} -> Pet (getPet) = getPet
GET /store/orders -> Order[] (listOrders) = listOrders
GET /inventory -> InventoryItem[] (listInventory) = listInventory
PATCH /inventory/{petId} InventoryUpdate -> InventoryItem (updateInventory) = updateInventory

# a category below the pets
SubCategory: id# name
GET /pets = listPets
POST /pet/category SubCategory -> SubCategory (doCategoryStuff)
`);

interface Row {
  readonly kind: string;
  readonly schemas: Readonly<Record<string, string>>;
  readonly operations: readonly string[];
}

function readCorpus(text: string): Row[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map((block) => {
      const [kind = '', ...lines] = block.trim().split('\n');
      const isSchema = (line: string) => /^\w+:/.test(line);
      const schemas = lines.filter(isSchema).map((line) => line.split(/:\s*(.*)/, 2));
      return {
        kind,
        schemas: Object.fromEntries(schemas),
        operations: lines.filter((line) => !isSchema(line)),
      };
    });
}

/** Makes the schema of a field: `quantity#`, `n:integer,with_a_description`. */
function fieldSchema(field: string): [name: string, schema: JsonObject] {
  const [, name = '', kind = '', type, description = ''] =
    /^([\w-]+)([#@?.!]|\[\])?(?::(\w+),(\S+))?$/.exec(field) ?? [];
  const schemas: Record<string, JsonObject> = {
    '#': { type: 'integer' },
    '@': { type: 'string', format: 'uuid' },
    '?': { type: 'boolean' },
    '[]': { type: 'array', items: {} },
    '.': { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } },
  };
  if (type !== undefined) return [name, { type, description: description.replaceAll('_', ' ') }];
  return [name, schemas[kind] ?? { type: 'string' }];
}

function recordSchema(fields: string): JsonObject {
  const entries = fields.split(' ').filter(Boolean);
  const required = entries.filter((field) => field.endsWith('!')).map((field) => field.slice(0, -1));
  return { type: 'object', properties: Object.fromEntries(entries.map(fieldSchema)), required };
}

/** Makes the schema of a body or an answer: `Pet`, `Pet[]`, `{data: Pet[], count#}`, `map`. */
function contentSchema(text: string): JsonObject {
  const [, inner] = /^\{(.*)\}$/.exec(text) ?? [];
  if (inner !== undefined) {
    const members = inner.split(/, (?![^{]*\})/).map((member): [string, JsonObject] => {
      const [, name = '', value] = /^(\w+): (.*)$/.exec(member) ?? [];
      return value === undefined ? fieldSchema(member) : [name, contentSchema(value)];
    });
    return { type: 'object', properties: Object.fromEntries(members) };
  }
  if (text.endsWith('[]')) return { type: 'array', items: contentSchema(text.slice(0, -2)) };
  if (text === 'map') return { type: 'object', additionalProperties: { type: 'integer' } };
  if (text === 'mapOf') return { type: 'object', additionalProperties: { $ref: '#/components/schemas/Pet' } };
  if (text === 'text') return { type: 'string' };
  return { $ref: `#/components/schemas/${text}` };
}

const line =
  /^(GET|POST|PUT|PATCH|DELETE) (\S+)(?: (?!->|=|\(|\?)(\S+))?(?: -> (\{.*\}|\S+))?(?: \((\w+)\))?(?: \?(\w+))?(?: = (\w+))?$/;

function describe({ kind, schemas, operations }: Row) {
  const paths: JsonObject = {};
  const expected: Record<string, string> = {};
  for (const text of operations) {
    const match = line.exec(text);
    if (!match) throw new Error(`${kind}: ${text}`);
    const [, method = '', typedPath = '', body, answer, operationId, parameter, id] = match;
    const path = typedPath.replace(/:(string|uuid)\}/g, '}');
    const parameters: JsonObject[] = [...typedPath.matchAll(/\{([\w-]+)(?::(\w+))?\}/g)].map(
      ([, name = '', type]) => ({
        name,
        in: 'path',
        required: true,
        schema:
          type === undefined
            ? { type: 'integer' }
            : type === 'uuid'
              ? { type: 'string', format: type }
              : { type },
      }),
    );
    if (parameter)
      parameters.push({ name: parameter, in: 'query', required: true, schema: { type: 'string' } });
    const types: Record<string, string> = {
      form: 'multipart/form-data',
      'json-patch': 'application/json-patch+json',
    };
    const type = types[body ?? ''];
    const content = type ? { [type]: {} } : { 'application/json': { schema: contentSchema(body ?? '') } };
    const schema = answer === undefined ? undefined : contentSchema(answer);
    const response = { description: 'ok', ...(schema && { content: { 'application/json': { schema } } }) };
    paths[path] = {
      ...(paths[path] as JsonObject | undefined),
      [method.toLowerCase()]: {
        ...(operationId !== undefined && { operationId }),
        parameters,
        ...(body !== undefined && { requestBody: { content } }),
        responses: { [answer === undefined && method !== 'GET' ? 204 : 200]: response },
      },
    };
    if (id !== undefined) expected[id] = `${method} ${path}`;
  }
  const named = Object.entries(schemas).map(([name, fields]) => [name, recordSchema(fields)]);
  const document = {
    openapi: '3.0.3',
    info: { title: kind, version: '1' },
    paths,
    components: { schemas: Object.fromEntries(named) },
  };
  return { document, expected };
}

const url = 'file:///openapi.json';

async function bindTo(document: JsonObject, maps: Partial<Maps> = {}) {
  const source = { url, label: 'x', document: structuredClone(document) };
  const allMaps = { operations: new Map(), fields: new Map(), ...maps };
  return bind(await readDescription(source), allMaps);
}

async function boundRoutes(document: JsonObject): Promise<Record<string, string>> {
  const { operations } = (await bindTo(document)).contract;
  return Object.fromEntries(
    [...operations.values()].map(({ id, method, path }) => [id, `${method} ${path}`]),
  );
}

test.each(corpus)('what is certain of a description is bound, and nothing else: $kind', async (row) => {
  const { document, expected } = describe(row);
  expect(await boundRoutes(document)).toEqual(expected);
});

test.each(corpus)('each --map line that is printed binds: $kind', async (row) => {
  const { document } = describe(row);
  for (const [id, { state, remedy = '' }] of (await bindTo(document)).matches) {
    if (state === 'bound' || remedy === '') continue;
    const [, mappedId = '', method = '', path = ''] = /--map (\w+)='(\w+) (\S+)'/.exec(remedy) ?? [];
    const [, noun = '', field = '', name = ''] = /--map (\w+)\.(\w+)=(\S+)/.exec(remedy) ?? [];
    const maps: Partial<Maps> =
      mappedId === ''
        ? { fields: new Map([[noun as NounName, new Map([[field, name]])]]) }
        : { operations: new Map([[mappedId as OperationId, { method, path }]]) };
    const { contract } = await bindTo(document, maps);
    expect([id, remedy, [...contract.operations.keys()]]).toEqual([id, remedy, expect.arrayContaining([id])]);
  }
});
