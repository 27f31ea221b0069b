import { petStatuses } from '../../api/schemas.ts';
import { choice, parsed, value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import {
  idArgument,
  idsArgument,
  limitFlag,
  parseChange,
  parseQuantity,
  quantityArgument,
} from '../arguments.ts';
import { bulkVerbs } from './bulk-verbs.ts';

export const examples = [
  'petstore inventory list --below 5',
  'petstore inventory set 42 10',
  'petstore inventory diff stock.csv',
  'petstore inventory apply stock.csv',
];

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List inventory entries',
  operation: 'listInventory',
  examples: [
    'petstore inventory list --below 5 --sort quantity',
    'petstore inventory list --status available',
    'petstore inventory ls -o csv > stock.csv',
  ],
  flags: {
    status: choice('--status <status>', 'only entries of pets of this status', petStatuses),
    below: value('--below <n>', 'only entries with a quantity under n', (text) =>
      parseQuantity(text, '--below'),
    ),
    limit: limitFlag,
  },
  run: async (context, { status, below, limit }) =>
    (await import('../../records/list-records.ts')).listRecords<'listInventory'>(context, await noun(), {
      operation: 'listInventory',
      where: { status },
      ...(below === undefined ? {} : { matches: ({ quantity }) => quantity < below }),
      limit,
    }),
});

const get = verb({
  name: 'get',
  summary: 'Get the inventory entries of one or several pets',
  operation: 'getInventory',
  examples: ['petstore inventory get 3', 'petstore inventory get 3 4 5 -o json'],
  args: { ids: idsArgument('pets', 'pet', 'petId') },
  run: async (context, { ids }) =>
    (await import('../../records/get-records.ts')).getRecords(context, await noun(), ids),
});

const set = verb({
  name: 'set',
  summary: 'Set the stock count of a pet',
  operation: 'updateInventory',
  write: true,
  examples: ['petstore inventory set 42 10', 'petstore inventory set 42 0 --dry-run'],
  args: { petId: idArgument('the pet', 'pet', 'petId'), quantity: quantityArgument },
  run: async (context, given) => (await import('./counts.ts')).setCount(context, given),
});

const adjust = verb({
  name: 'adjust',
  summary: 'Add to or take from the stock count of a pet',
  description:
    'Reads the stock count of a pet, adds to it and sets the sum. Between reading and setting somebody else may change it: only a service that sends an ETag can tell, and then nothing is overwritten.',
  operation: 'updateInventory',
  write: true,
  examples: ['petstore inventory adjust 42 +5', 'petstore inventory adjust 42 -5'],
  args: {
    petId: idArgument('the pet', 'pet', 'petId'),
    change: parsed('<change>', 'what to add, as +5 or -5', parseChange),
  },
  run: async (context, given) => (await import('./counts.ts')).adjustCount(context, given),
});

const create = verb({
  name: 'create',
  summary: 'Create the inventory entry of a pet',
  description: 'Creates the inventory entry of a pet, with the status that the pet has.',
  operation: 'createInventory',
  write: true,
  examples: ['petstore inventory create 42 10'],
  args: { petId: idArgument('the pet', 'pet', 'petId'), quantity: quantityArgument },
  run: async (context, given) => (await import('./counts.ts')).createEntry(context, given),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete inventory entries, after asking',
  operation: 'deleteInventory',
  write: true,
  examples: ['petstore inventory delete 3', 'petstore inventory rm 3 4 5 --yes'],
  args: { ids: idsArgument('pets', 'pet', 'petId') },
  run: async (context, { ids }) =>
    (await import('../../records/delete-records.ts')).deleteRecords(context, await noun(), ids),
});

async function noun() {
  return (await import('./noun.ts')).inventory;
}

export const verbs = [list, get, set, adjust, create, remove, ...bulkVerbs];

export const columns = async () => (await noun()).view.columns.map(({ name }) => name);
