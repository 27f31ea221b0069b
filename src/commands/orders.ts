import { nouns } from '../api/nouns.ts';
import type { RecordOf } from '../api/schemas.ts';
import { argument, flag, value } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import { parseId } from '../input/numbers.ts';
import { recordView } from '../records/access.ts';
import { isDueBefore, isOverdue, parseMoment } from '../records/record-fields.ts';
import { recordVerbs } from './record-verbs.ts';
import { listFlags, referenceFlag } from './shared-flags.ts';

const { orders } = nouns;

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List orders',
  examples: [
    'petstore orders list --open',
    'petstore orders list --overdue',
    'petstore orders list --due-before +1w',
    'petstore orders list --pet Luna -o json',
    'petstore orders ls --sort -quantity',
  ],
  flags: {
    pet: referenceFlag('pets', 'only orders of this pet'),
    complete: flag('--complete', 'only orders that are complete'),
    open: flag('--open', 'only orders that are not complete', { conflicts: ['complete'] }),
    overdue: flag('--overdue', 'only open orders whose ship date (a day in UTC) has passed', {
      conflicts: ['complete'],
    }),
    dueBefore: value('--due-before <date>', 'only open orders that ship before this date', {
      parse: parseMoment,
      conflicts: ['complete'],
    }),
    ...listFlags,
  },
  view: (context) => recordView(context, orders, 'list'),
  async run(context, { pet, complete, open, overdue, dueBefore, ...flags }) {
    const isDated = overdue || dueBefore !== undefined;
    const isDue = (order: RecordOf<'orders'>) =>
      (!overdue || isOverdue(order)) && (dueBefore === undefined || isDueBefore(order, dueBefore));
    return (await import('../records/list-and-get.ts')).listRecords(context, orders, {
      where: { petId: pet, complete: open || isDated ? false : complete },
      matches: isDated ? (order) => isDue(order as RecordOf<'orders'>) : undefined,
      needs: isDated ? ['shipDate'] : [],
      ...flags,
    });
  },
});

const { get, create, update, edit, remove } = recordVerbs(orders, {
  get: ['petstore orders get 1', 'petstore orders get 1 2 -o json'],
  create: [
    'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
    'petstore orders create --pet Luna --quantity 1 --ship-date +3d',
    'petstore orders create --from orders.csv',
  ],
  update: [
    'petstore orders update 1 --quantity 3',
    'petstore orders update 1 --ship-date 2027-01-15T09:00:00Z --no-complete',
    'petstore orders update --from orders.csv',
  ],
  delete: ['petstore orders delete 1', 'petstore orders rm 1 2 --yes'],
});

const complete = verb({
  name: 'complete',
  summary: 'Mark orders as complete',
  description: 'Sets complete to true and changes nothing else: reads each order and writes it back.',
  writes: 'records',
  examples: ['petstore orders complete 1', 'petstore orders complete 1 2 3'],
  args: { ids: argument('<id...>', 'ids of orders', { parse: parseId, offers: 'order' }) },
  view: (context) => recordView(context, orders, 'update'),
  run: async (context, { ids }) =>
    (await import('../records/create-and-update.ts')).updateRecords(context, orders, ids, {
      complete: true,
    }),
});

export const orderCommands: Group = {
  examples: [
    'petstore orders list --open',
    'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
    'petstore orders complete 1',
  ],
  verbs: [list, get, create, update, edit, complete, remove],
};
