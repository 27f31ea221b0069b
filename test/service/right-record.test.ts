import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { bindDocument, describeLines } from '../helpers/corpus.ts';
import { randomOf } from '../helpers/random.ts';
import { names } from '../helpers/shaped-service.ts';

// No write is ever bound to a record that is not the one named. Random services find their records by a key of their own:
// our id, or another field of the record. The parameter in the path has a name that such a key may have, the list may be in
// any envelope or missing, and its schema may say everything or nothing. Each record has another value in each field.

type Noun = 'pets' | 'orders' | 'categories' | 'inventory';

/** The fields of a noun by which a service may find a record, and the names of the path parameter for each. */
const keys: Readonly<Record<Noun, Readonly<Record<string, readonly string[]>>>> = {
  pets: {
    id: ['id', 'petId', 'pet_id', 'pet', 'key'],
    chip: ['chip', 'chipNumber', 'number', 'petNumber', 'key', 'pet'],
    petId: ['petId', 'pet_id'],
  },
  orders: {
    id: ['id', 'orderId', 'order_id', 'order'],
    orderNumber: ['orderNumber', 'order_number', 'number', 'no', 'reference', 'order'],
    petId: ['petId', 'pet_id', 'pet'],
  },
  categories: {
    id: ['id', 'categoryId', 'category'],
    rank: ['rank', 'position', 'number', 'key', 'category'],
  },
  inventory: {
    petId: ['petId', 'pet_id'],
    id: ['id', 'inventoryId', 'inventory_id', 'itemId', 'entryId', 'number', 'inventoryNumber'],
    shelf: ['shelf', 'shelfId', 'position', 'inventory', 'stockId'],
  },
};

/** The field that is our id: `petId` of an entry, and of a pet that has no `id`. */
function ourKeyOf({ noun, fields }: Pick<Scene, 'noun' | 'fields'>): string {
  const isByPet = noun === 'inventory' || (noun === 'pets' && !fields.includes('id'));
  return isByPet ? 'petId' : 'id';
}
/** The other fields of a noun. */
const further: Readonly<Record<Noun, readonly string[]>> = {
  pets: ['name', 'status'],
  orders: ['petId', 'quantity', 'complete'],
  categories: ['name', 'description'],
  inventory: ['petId', 'quantity'],
};

interface Scene {
  readonly noun: Noun;
  readonly fields: readonly string[];
  /** The field by which the service finds a record. */
  readonly key: string;
  readonly description: JsonObject;
  /** The name of the parameter, for messages. */
  readonly parameter: string;
}

function makeScene(seed: number): Scene {
  const { chance, pick } = randomOf(seed);
  const noun = pick<Noun>(['pets', 'orders', 'categories', 'inventory', 'inventory']);
  const key = pick(Object.keys(keys[noun]));
  const otherKeys = Object.keys(keys[noun]).filter(() => chance(0.6));
  // A service that finds its records by another field mostly has an id beside it.
  const fields = [
    ...new Set([
      key,
      ...otherKeys,
      ...further[noun],
      ...(chance(0.8) ? [noun === 'inventory' ? 'petId' : 'id'] : []),
    ]),
  ];
  const parameter = pick(keys[noun][key] ?? []);
  const properties = fields.map((name) => {
    const kind = { name: '', status: '', description: '', complete: '?' }[name] ?? '#';
    return `${name}${kind}`;
  });
  const name = names[noun] ?? '';
  const word = pick([noun, name.toLowerCase().replace('item', '')]);
  const schema = pick(['Record', name]);
  // `/pets/{petId}` without a word about a pet is that of the specification.
  const isDescribed = chance(0.8) || (noun === 'pets' && key === 'petId');
  const [taken, answered] = isDescribed ? [` ${schema}`, ` -> ${schema}`] : ['', ''];
  const list = pick([`${schema}[]`, `{data: ${schema}[]}`, `{items: ${schema}[], total#}`]);
  const prefix = pick(['', '', '/v1', '/api', '/store']);
  const collection = `${prefix}/${word}`;
  const typed = pick([`{${parameter}}`, `{${parameter}:string}`]);
  const item = `${prefix}${pick(['', '', '', '/archive'])}/${word}/${typed}`;
  const body = noun === 'inventory' ? ' {quantity#}' : taken;
  const id = pick(['update', 'set_it', 'replaceRecord', 'adjustStock', 'updateInventory']);
  const update = `${body}${chance(0.5) ? answered : ''}${chance(0.3) ? ` (${id})` : ''}`;
  const routes: readonly [share: number, route: string][] = [
    [0.8, `GET ${collection}${isDescribed ? ` -> ${list}` : ''}`],
    [0.5, `POST ${collection}${taken}`],
    [0.2, `PUT ${collection} ${schema}`],
    [0.2, `PATCH ${collection} ${schema}`],
    [0.6, `GET ${item}${answered}`],
    [1, `${pick(['PUT', 'PUT', 'PATCH'])} ${item}${update}`],
    [1, `DELETE ${item}`],
  ];
  const chosen = routes.filter(([share]) => chance(share)).map(([, route]) => route);
  const description = describeLines(`${schema}: ${properties.join(' ')}`, ...chosen);
  return { noun, fields, key, description, parameter };
}

test('a write on one record is bound only if the service finds the record by our id', async () => {
  let bound = 0;
  // A body that replaces a record names it by all its keys, so only a path can name another one.
  for (let seed = 1; seed <= 600; seed += 1) {
    const { noun, fields, key, description, parameter } = makeScene(seed);
    const { operations } = (await bindDocument(description)).contract;
    const writes = [...operations.values()].filter(
      ({ method, path }) => method !== 'GET' && path.includes('{'),
    );
    bound += writes.length;
    if (key !== ourKeyOf({ noun, fields }))
      expect({
        seed,
        key,
        parameter,
        fields,
        writes: writes.map(({ id, path }) => `${id} ${path}`),
      }).toMatchObject({ writes: [] });
  }
  // The test can fail: many writes are bound.
  expect(bound).toBeGreaterThan(100);
});
