import { flag, value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import { isOverdue } from '../records/orders.ts';
import { parseIdOrName, parseQuantity, parseShipDate } from '../records/values.ts';
import { fieldFlag, fromFlag, idArgument, listFlags, untilFlag } from './arguments.ts';

const noun = async () => (await import('../records/orders.ts')).orders;

export const examples = [
  'petstore orders list --open',
  'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
  'petstore orders complete 1',
];

function petFlag(summary: string) {
  return value('--pet <id or name>', summary, { parse: parseIdOrName, offers: 'pet' });
}

const bodyFlags = {
  pet: petFlag('the pet that is ordered'),
  quantity: value('--quantity <n>', 'how many are ordered', { parse: parseQuantity }),
  shipDate: value(
    '--ship-date <date>',
    'when it ships: RFC 3339; or a day (YYYY-MM-DD, tomorrow, +3d), which begins in UTC',
    { parse: (text, name) => parseShipDate(text, name) },
  ),
  complete: flag('--complete', 'the order is fulfilled'),
  noComplete: {
    ...flag('--no-complete', 'the order is not fulfilled yet'),
    stands: { key: 'complete', value: false },
  },
  field: fieldFlag,
};

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List orders',
  operation: 'listOrders',
  examples: [
    'petstore orders list --open',
    'petstore orders list --overdue',
    'petstore orders list --pet Luna -o json',
    'petstore orders ls --sort -quantity',
  ],
  flags: {
    pet: petFlag('only orders of this pet'),
    complete: flag('--complete', 'only orders that are complete'),
    open: flag('--open', 'only orders that are not complete', { conflicts: ['complete'] }),
    overdue: flag('--overdue', 'only open orders whose ship date has passed', { conflicts: ['complete'] }),
    ...listFlags,
  },
  run: async (context, { pet, complete, open, overdue, ...flags }) =>
    (await import('../records/list.ts')).listRecords(context, await noun(), {
      where: { petId: pet, complete: open || overdue ? false : complete },
      matches: overdue ? (order) => isOverdue(order, context.now()) : undefined,
      ...flags,
    }),
});

const get = verb({
  name: 'get',
  summary: 'Get one or several orders',
  operation: 'getOrder',
  examples: ['petstore orders get 1', 'petstore orders get 1 2 -o json'],
  args: { ids: idArgument('<id...>', 'ids of orders', 'order') },
  flags: { until: untilFlag },
  run: async (context, { ids, until }) =>
    (await import('../records/get.ts')).getRecords(context, await noun(), ids, until),
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
    'petstore orders create --pet Luna --quantity 1 --ship-date +3d',
    'petstore orders create --from orders.csv',
  ],
  flags: {
    ...bodyFlags,
    from: fromFlag('create an order for each record of this file', [
      'pet',
      'quantity',
      'shipDate',
      'complete',
    ]),
  },
  run: async (context, given) =>
    (await import('../records/create.ts')).createRecords(context, await noun(), given),
});

const update = verb({
  name: 'update',
  summary: 'Change orders',
  description: 'Reads each order, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updateOrder',
  write: true,
  examples: [
    'petstore orders update 1 --quantity 3',
    'petstore orders update 1 --ship-date 2027-01-15T09:00:00Z --no-complete',
    'petstore orders update --from orders.csv',
  ],
  args: { ids: idArgument('[id...]', 'ids of orders', 'order') },
  flags: {
    ...bodyFlags,
    from: fromFlag('change the orders of this file, each by its id'),
  },
  run: async (context, given) =>
    (await import('../records/update.ts')).updateRecords(context, await noun(), given),
});

const edit = verb({
  name: 'edit',
  summary: 'Edit an order as YAML in an editor',
  description:
    'Opens the order as YAML in $VISUAL, $EDITOR or vi. Saved unchanged or empty, nothing is sent. An invalid text is opened again with the reason on top. Text that is not sent is kept in a file.',
  operation: 'updateOrder',
  write: true,
  examples: ['petstore orders edit 1', 'EDITOR=nano petstore orders edit 1'],
  args: { id: idArgument('<id>', 'id of the order', 'order') },
  run: async (context, { id }) => (await import('../records/edit.ts')).editRecord(context, await noun(), id),
});

const complete = verb({
  name: 'complete',
  summary: 'Mark orders as complete',
  description: 'Reads each order, sets complete to true and writes it back; all else stays as it is.',
  operation: 'updateOrder',
  write: true,
  examples: ['petstore orders complete 1', 'petstore orders complete 1 2 3'],
  args: { ids: idArgument('<id...>', 'ids of orders', 'order') },
  run: async (context, { ids }) =>
    (await import('../records/update.ts')).updateRecords(context, await noun(), {
      ids,
      complete: true,
    }),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete orders, after asking',
  operation: 'deleteOrder',
  write: true,
  examples: ['petstore orders delete 1', 'petstore orders rm 1 2 --yes'],
  args: { ids: idArgument('[id...]', 'ids of orders', 'order') },
  flags: { from: fromFlag('delete the orders whose ids this file has') },
  run: async (context, given) =>
    (await import('../records/delete.ts')).deleteGiven(context, await noun(), given),
});

export const verbs = [list, get, create, update, edit, complete, remove];

export const columns = async () => (await noun()).columns(new Map()).map(({ name }) => name);
