import { expect, test } from 'vitest';
import type { NounName, OperationId } from '../../src/api/nouns.ts';
import { obstacleText } from '../../src/binding/document.ts';
import { bindDocument, describeRow, readCorpus } from '../helpers/corpus.ts';

// Descriptions in the shapes of public ones, and what is bound of each; two public ones are in public-descriptions.test.ts.

const corpus = readCorpus(`
# the short petstore, whose get answers a list
Pet: id# name tag
GET /pets -> Pet[] (listPets) = listPets
POST /pets (createPets) = createPet
GET /pets/{petId:string} -> Pet[] (showPetById)

# a clinic with owners
Pet: id# name birthDate type.
Visit: id# petId# date description
Owner: id# firstName
PetType: id# name
GET /owners -> Owner[]
GET /pets -> Pet[] (listPets) = listPets
POST /owners/{ownerId}/pets Pet -> {id#, name, visits: Visit[]} (addPetToOwner)
GET /owners/{ownerId}/pets/{petId} -> Pet (getOwnersPet)
PUT /owners/{ownerId}/pets/{petId} Pet (updateOwnersPet)
GET /pets/{petId} -> {id#, name, birthDate, type., visits: Visit[]} (getPet) = getPet
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

# text ids in the path of integer records
Pet: id# name status
GET /pets -> Pet[] = listPets
GET /pets/{petId:string} -> Pet = getPet
DELETE /pets/{petId:string} = deletePet

# petID and pet-id
Pet: id# name status
GET /pets -> Pet[] = listPets
GET /pets/{petID} -> Pet = getPet
DELETE /pets/{pet-id} = deletePet

# orders by number, pets with an id and another id, categories by name, and products with a sku
Order: id# orderNumber# petId# quantity#
GET /orders -> Order[] = listOrders
POST /orders Order -> Order = createOrder
GET /orders/{orderNumber} -> Order
PUT /orders/{orderNumber} Order -> Order
DELETE /orders/{orderNumber}
Pet: id# petId# name
GET /pets -> Pet[] = listPets
PUT /pets Pet -> Pet
GET /pets/{petId} -> Pet
DELETE /pets/{petId}
Category: id# name
GET /categories -> Category[] = listCategories
GET /categories/{name:string} -> Category
DELETE /categories/{name:string}
Stock: sku quantity#
GET /inventory -> Stock[]
PUT /inventory/{sku:string} {quantity#} -> Stock
DELETE /inventory/{sku:string}

# orders with records below them
Order: id# petId# quantity#
Item: id# orderId# petId# quantity#
GET /orders -> Order[] = listOrders
GET /orders/{orderId} -> Order = getOrder
GET /orders/{orderId}/items -> Item[]
DELETE /orders/{orderId}/items/{itemId}
POST /orders/{orderId}/cancel

# entries with an id of their own
Entry: id# petId# quantity#
GET /inventory -> Entry[] = listInventory
POST /inventory Entry -> Entry = createInventory
GET /inventory/{id} -> Entry
PUT /inventory/{id} {quantity#} -> Entry
DELETE /inventory/{id}

# entries with an id of their own, by the pet
Entry: id# petId# quantity#
GET /inventory -> Entry[] = listInventory
PUT /inventory/{petId} {quantity#} -> Entry (setStock) = updateInventory
PUT /inventory Entry -> Entry

# entries by another id
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
GET /inventory/{inventoryId} -> Entry
PUT /inventory/{inventory_id} {quantity#}
PUT /inventory/{itemId} {quantity#}
PATCH /inventory/{entryId} {quantity#}
DELETE /inventory/{stockId}

# entries by {id}, though they have no id of their own
InventoryItem: petId# quantity# status
InventoryUpdate: quantity#
GET /inventory -> InventoryItem[] = listInventory
PUT /inventory/{id} InventoryUpdate -> InventoryItem
DELETE /inventory/{id}

# entries by {id}, without a schema
PUT /inventory/{id}
DELETE /inventory/{id}
GET /orders = listOrders

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

# a PUT of a delta
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
PUT /inventory/{petId} {delta#} -> Entry
GET /shelves/{pet_id}/inventory/{place} -> Entry ! getInventory: to bind it, add --map getInventory='GET /shelves/{pet_id}/inventory/7'

# a PUT with the pet in its body
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
PUT /inventory Entry -> Entry = updateInventory

# entries on pages in the path
Entry: petId# quantity#
GET /api/inventory/{page} -> Entry[]
GET /api/inventory/search -> Entry[]

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

# actions below a pet, and an archive beside the shop, though it has our operationId
Pet: id# name status
GET /pets -> Pet[] = listPets
DELETE /archive/pets/{petId} (deletePet)
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

# an envelope of another name, with a message
Pet: id# name status
GET /pets -> {success?, message, payload: Pet[]} = listPets
GET /pets/{id} -> {success?, message, payload: Pet} = getPet
DELETE /pets/{id} -> {success?, message} = deletePet

# pets with a title and a category
Item: id# title category. status
GET /pets -> Item[] ! listPets: its Item has no field name
GET /pets/{petId} -> Item ! getPet: its Item has no field name
DELETE /pets/{petId} ! deletePet: its records are of another kind

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

# near misses
Pet: id# name categoryId# status
NewPet: name! categoryId#
Order: id# petId# quantity#
Category: id# name
InventoryItem: petId# quantity# status
InventoryUpdate: quantity#
GET /pets -> Pet[] = listPets
POST /pets NewPet -> Pet = createPet
GET /v2/pets/{petId} -> Pet ! getPet: no bound list or create has its path: to bind it, add --map getPet='GET /v2/pets/{petId}'
PUT /pets/{petId}.json Pet -> Pet ! updatePet: its path has a parameter within a word
GET /catalogue -> Category[] (allCategories) ! listCategories: no operation of the description has a fitting method, path and schemas
GET /orders/findByStatus -> Order[] ! listOrders: findByStatus may have only some of the records
PUT /inventory/{animalId} InventoryUpdate -> InventoryItem ! updateInventory: its animalId may be the id of something else
DELETE /inventory/{id} ! deleteInventory: its id may be the id of something else
GET /pets/{petId}/inventory -> InventoryItem ! getInventory: its path is below that of a pet: to bind it, add --map getInventory='GET /pets/{petId}/inventory'

# records alone, also below a prefix, and near misses of another kind
Pet: id# name status
GET /api/pets/{petId} -> Pet
DELETE /api/pets/{petId}
Order: id# petId# quantity#
GET /orders/{id} -> Order = getOrder
DELETE /orders/{id} = deleteOrder
DELETE /shelves/{shelfId}/{categoryId} (deleteCategory) ! deleteCategory: its path needs a value for shelfId, of which 7 is an example: to bind it, add --map deleteCategory='DELETE /shelves/7/{categoryId}'
GET /shops/{shopId}/orders -> Order[] ! listOrders: its path needs a value for shopId, of which 7 is an example: to bind it, add --map listOrders='GET /shops/7/orders'

# what cannot be called, or answers other records
Pet: id# name status
Uuid: id@ name
NewPet: name category!
Vaccination: id# vaccine
GET /pets -> Vaccination[] ! listPets: its Vaccination has no field name
GET /pets/{petId} -> Uuid ! getPet: its Uuid has the field id as a string
POST /pets NewPet ! createPet: its records are of another kind (GET /pets:
GET /orders ?shop ! listOrders: it needs the query parameter shop, which petstore has no value for
POST /orders form ! createOrder: it takes multipart/form-data, not application/json
POST /categories NewPet
DELETE /categories/{id} = deleteCategory

# no get, and a list of summaries
Summary: id# name
Pet: id# name status chip
Order: id# petId#
InventoryUpdate: quantity#
GET /pets -> Summary[] = listPets
PUT /pets/{petId} Pet -> Pet ! updatePet: it replaces the record, and listPets does not show these fields in the same form: status, chip
GET /orders -> Order[] = listOrders
PUT /orders/{orderId} Order -> Order = updateOrder
PUT /inventory/{petId} InventoryUpdate = updateInventory

# a get of less than the update takes
Pet: id# name chip
NewPet: name chip
GET /pets -> Pet[] = listPets
GET /pets/{petId} -> {id#, name} = getPet
PUT /pets/{petId} NewPet ! updatePet: it replaces the record, and getPet does not show these fields in the same form: chip

# an update that takes another form than the get shows
Pet: id# name price# tags[]
NewPet: name price tags[]
GET /pets/{petId} -> Pet = getPet
PUT /pets/{petId} NewPet ! updatePet: it replaces the record, and getPet does not show these fields in the same form: price

# a category in words
Pet: id# name status
NewPet: name category!
GET /pets -> Pet[] = listPets
POST /pets NewPet ! createPet: its NewPet needs the name of a category in place of its id

# a count that is added to by its name
InventoryItem: petId# quantity#
InventoryUpdate: quantity#
GET /inventory -> InventoryItem[] = listInventory
PUT /inventory/{petId} InventoryUpdate -> InventoryItem (addStock) ! updateInventory: it says add, so it may change the count instead of setting it

# a count that is added to by its summary
InventoryItem: petId# quantity#
InventoryUpdate: quantity#
GET /inventory -> InventoryItem[] = listInventory
PATCH /inventory/{petId} InventoryUpdate -> InventoryItem "Increment the count of a pet" ! updateInventory: it says increment, so it may change the count instead of setting it

# a count that is added to by its description
InventoryItem: petId# quantity#
InventoryUpdate: quantity:integer,how_many_to_add
GET /inventory -> InventoryItem[] = listInventory
PUT /inventory/{petId} InventoryUpdate -> InventoryItem ! updateInventory: it says add, so it may change the count instead of setting it

# a count that is set, by its description
InventoryItem: petId# quantity#
InventoryUpdate: quantity:integer,What_is_left_to_sell;_0_or_more.
GET /inventory -> InventoryItem[] = listInventory
PATCH /inventory/{petId} InventoryUpdate -> InventoryItem (changeStockLevel) = updateInventory

# a PATCH of a count
Entry: petId# quantity#
GET /inventory -> Entry[] = listInventory
PATCH /inventory/{petId} {quantity#} -> Entry (updateInventoryByPetId) ! updateInventory: a PATCH may add to the count

# orders of pets by another name, with last slashes
Order: id# pet_number# customer_id# quantity#
GET /orders/ -> Order[] ! listOrders: its Order has no field petId; pet_number may be meant: to bind it, add --map orders.petId=pet_number
GET /categories = listCategories ! deleteInventory: no operation of the description has a fitting method, path and schemas

# orders that may be for anything
Order: id# total# quantity#
GET /orders -> Order[] ! listOrders: its Order has no field petId
GET /categories = listCategories

# a count that a query takes
InventoryItem: petId# quantity#
GET /inventory -> InventoryItem[] = listInventory
PUT /inventory/{petId} ?quantity ! updateInventory: it needs the query parameter quantity, which petstore has no value for

# maps: pets by their id, and numbers
Pet: id# name
GET /pets -> mapOf
DELETE /pets/{id}
GET /inventory -> map ! listInventory: its answer has no list of records, or several
DELETE /inventory/{petId} ! deleteInventory: its records are of another kind (GET /inventory: its answer has no list of records, or several
GET /orders = listOrders

# entries in an envelope, of text ids
Entry: petId quantity#
GET /inventory -> {data: Entry[]} ! listInventory: its Entry has the field petId as a string
GET /orders = listOrders

# entries with other names for both
Entry: pet# quantity_on_hand# state
GET /inventory -> {data: Entry[]} ! listInventory: its Entry has no field petId, quantity; pet, quantity_on_hand may be meant: to bind it, add --map inventory.petId=pet --map inventory.quantity=quantity_on_hand
GET /orders = listOrders

# entries with an id of their own alone, which no --map line may name
Entry: id# quantity#
GET /inventory -> Entry[] ! listInventory: its Entry has no field petId
GET /orders = listOrders

# two lists in one answer
Entry: petId# quantity#
GET /inventory -> {a: Entry[], b: Entry[]} ! listInventory: its answer has no list of records, or several
GET /orders = listOrders
`);

test.each(corpus)('what is certain of a description is bound, and nothing else: $kind', async (row) => {
  const { document, expected, reasons } = describeRow(row);
  const { bound, matches } = await bindDocument(document);
  expect(bound).toEqual(expected);
  for (const [id, reason] of Object.entries(reasons)) {
    expect(obstacleText(matches.get(id as OperationId) ?? { why: '' })).toContain(reason);
  }
});

test.each(corpus)('each --map line that is printed binds: $kind', async (row) => {
  const { document } = describeRow(row);
  for (const [id, { state, flags }] of (await bindDocument(document)).matches) {
    if (state === 'bound' || flags === undefined) continue;
    const [, method, path = ''] = /^--map \w+='(\w+) (\S+)'$/.exec(flags) ?? [];
    const [, noun = ''] = /^--map (\w+)\./.exec(flags) ?? [];
    const names = [...flags.matchAll(/\.(\w+)=(\w+)/g)].map(
      ([, ours = '', name = '']) => [ours, name] as const,
    );
    const { bound } = await bindDocument(
      document,
      method === undefined
        ? { fields: new Map([[noun as NounName, new Map(names)]]) }
        : { operations: new Map([[id, { method, path }]]) },
    );
    const route = method === undefined ? expect.anything() : `${method} ${path.split('?')[0]}`;
    expect(bound, flags).toMatchObject({ [id]: route });
  }
});
