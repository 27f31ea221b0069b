import { flag } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { createRecords } from '../../records/create-records.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { getRecords } from '../../records/get-records.ts';
import { listRecords } from '../../records/list-records.ts';
import { given } from '../../records/noun.ts';
import { updateRecords } from '../../records/update-records.ts';
import { fromFlag, idArgument, idsArgument, limitFlag } from '../arguments.ts';
import { fieldFlags, givenOrder, petFlag } from './flags.ts';
import { orders } from './noun.ts';

export const examples = [
  'petstore orders list --open',
  'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
  'petstore orders complete 1',
];

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List orders',
  operation: 'listOrders',
  examples: [
    'petstore orders list --open',
    'petstore orders list --pet 3 -o json',
    'petstore orders ls --sort -quantity',
  ],
  flags: {
    pet: petFlag('only orders of this pet'),
    complete: flag('--complete', 'only orders that are complete'),
    open: flag('--open', 'only orders that are not complete', { conflicts: ['complete'] }),
    limit: limitFlag,
  },
  run(context, { pet, complete, open, limit }) {
    const where = { petId: pet, complete: open ? false : complete };
    return listRecords(context, orders, { operation: 'listOrders', where, limit });
  },
});

const get = verb({
  name: 'get',
  summary: 'Get one or several orders',
  operation: 'getOrder',
  examples: ['petstore orders get 1', 'petstore orders get 1 2 -o json'],
  args: { ids: idsArgument('orders', 'order') },
  run: (context, { ids }) => getRecords(context, orders, ids),
});

const create = verb({
  name: 'create',
  summary: 'Create an order, or many from a file',
  description:
    'Creates an order, or one for each record of a file. On a terminal it asks for what is missing.',
  operation: 'createOrder',
  write: true,
  examples: [
    'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
    'petstore orders create --from orders.jsonl',
  ],
  flags: { ...fieldFlags, from: fromFlag(['pet', 'quantity', 'shipDate', 'complete']) },
  run: (context, { from, ...flags }) => createRecords(context, orders, { from, given: givenOrder(flags) }),
});

const update = verb({
  name: 'update',
  summary: 'Change an order',
  description: 'Reads an order, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updateOrder',
  write: true,
  examples: [
    'petstore orders update 1 --quantity 3',
    'petstore orders update 1 --ship-date 2027-01-15T09:00:00Z --no-complete',
  ],
  args: { id: idArgument('the order', 'order') },
  flags: fieldFlags,
  run: (context, { id, ...flags }) => updateRecords(context, orders, { ids: [id], given: givenOrder(flags) }),
});

const complete = verb({
  name: 'complete',
  summary: 'Mark orders as complete',
  description: 'Reads each order, sets complete to true and writes it back; all else stays as it is.',
  operation: 'updateOrder',
  write: true,
  examples: ['petstore orders complete 1', 'petstore orders complete 1 2 3'],
  args: { ids: idsArgument('orders', 'openOrder') },
  run: (context, { ids }) => updateRecords(context, orders, { ids, given: given({ complete: true }) }),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete orders, after asking',
  operation: 'deleteOrder',
  write: true,
  examples: ['petstore orders delete 1', 'petstore orders rm 1 2 --yes'],
  args: { ids: idsArgument('orders', 'order') },
  run: (context, { ids }) => deleteRecords(context, orders, ids),
});

export const verbs = [list, get, create, update, complete, remove];

export const columns = async () => orders.view.columns.map(({ name }) => name);
