import { argument, value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { parseChange, parseQuantity } from '../../records/parse-values.ts';
import { recordNouns, recordView } from '../../records/record-nouns.ts';
import { listFlags, petIdArgument, petIdsArgument, quantityArgument, statusesFlag } from '../arguments.ts';
import { bulkVerbs } from './bulk-verbs.ts';

const { inventory } = recordNouns;

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
  examples: [
    'petstore inventory list --below 5 --sort quantity',
    'petstore inventory list --status available',
    'petstore inventory ls -o csv > stock.csv',
  ],
  flags: {
    status: statusesFlag('only entries of pets of this status'),
    below: value('--below <n>', 'only entries with a quantity under n', { parse: parseQuantity }),
    ...listFlags,
  },
  view: (context) => recordView(context, inventory, 'listInventory'),
  run: async (context, { status, below, ...flags }) =>
    (await import('../../records/list.ts')).listRecords(context, inventory, {
      where: { status },
      matches: below === undefined ? undefined : ({ quantity }) => Number(quantity) < below,
      ...flags,
    }),
});

const get = verb({
  name: 'get',
  aliases: ['show'],
  summary: 'Get the inventory entries of one or several pets',
  examples: ['petstore inventory get 3', 'petstore inventory get 3 4 5 -o json'],
  args: { ids: petIdsArgument },
  view: async (context) => (await import('../../records/get.ts')).getView(context, inventory),
  run: async (context, { ids }) => (await import('../../records/get.ts')).getRecords(context, inventory, ids),
});

const set = verb({
  name: 'set',
  summary: 'Set the stock count of a pet',
  write: true,
  examples: [
    'petstore inventory set 42 10',
    'petstore inventory set Luna 10',
    'petstore inventory set 42 0 --dry-run',
  ],
  args: { pet: petIdArgument, quantity: quantityArgument },
  view: (context) => recordView(context, inventory, 'updateInventory'),
  run: async (context, { pet, quantity }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'set', quantity),
});

const adjust = verb({
  name: 'adjust',
  aliases: ['add'],
  summary: 'Add to or take from the stock count of a pet',
  description:
    'Reads the stock count of a pet, adds to it and sets the sum. If the service sends ETags, as the local one does, a change that somebody else makes in between is never lost: the count is read and added to again, ten times at most. Without ETags such a change is overwritten. A gateway that passes a request on twice, as nginx with two upstreams does by default, can lose it too, or count yours twice: switch that off for PUT.',
  write: true,
  examples: ['petstore inventory adjust 42 +5', 'petstore inventory adjust 42 -5'],
  args: {
    pet: petIdArgument,
    change: argument('<change>', 'what to add, such as +5 or -5', { parse: parseChange }),
  },
  view: (context) => recordView(context, inventory, 'updateInventory'),
  run: async (context, { pet, change }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'add', change),
});

const create = verb({
  name: 'create',
  summary: 'Create the inventory entry of a pet',
  description: 'Creates the inventory entry of a pet, with the status that the pet has.',
  write: true,
  examples: ['petstore inventory create 42 10'],
  args: { pet: petIdArgument, quantity: quantityArgument },
  view: (context) => recordView(context, inventory, 'createInventory'),
  run: async (context, { pet, quantity }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'create', quantity),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete inventory entries, after asking',
  write: true,
  examples: ['petstore inventory delete 3', 'petstore inventory rm 3 4 5 --yes'],
  args: { ids: petIdsArgument },
  view: (context) => recordView(context, inventory, 'deleteInventory'),
  run: async (context, { ids }) =>
    (await import('../../records/delete.ts')).deleteRecords(context, inventory, ids),
});

export const verbs = [list, get, set, adjust, create, remove, ...bulkVerbs];
