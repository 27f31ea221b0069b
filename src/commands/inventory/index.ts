import { nouns } from '../../api/nouns.ts';
import { argument, flag, value } from '../../cli/flag.ts';
import { type Group, verb } from '../../cli/verb.ts';
import { parseChange, parseQuantity } from '../../input/numbers.ts';
import type { View } from '../../output/columns.ts';
import { UsageError } from '../../process/errors.ts';
import { recordView } from '../../records/access.ts';
import { type NamedRecord, parseIdOrName } from '../../records/record-fields.ts';
import { applyFlags, diffFlags, listFlags, sessionFlags, statusesFlag } from '../shared-flags.ts';

const { inventory } = nouns;

const petIdArgument = argument('<petId>', 'id or name of the pet', {
  parse: parseIdOrName,
  offers: 'pet',
});

const petIdsArgument = argument('<petId...>', 'ids or names of pets', {
  parse: parseIdOrName,
  offers: 'pet',
});

const quantityArgument = argument('<quantity>', 'the stock count', { parse: parseQuantity });
const file = argument('<file>', 'the counts; - for stdin', { offers: 'file' });
const below = value('--below <n>', 'only entries with a quantity under n', { parse: parseQuantity });

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
    below,
    ...listFlags,
  },
  view: (context) => recordView(context, inventory, 'list'),
  run: async (context, { status, below, ...flags }) =>
    (await import('../../records/list-and-get.ts')).listRecords(context, inventory, {
      status,
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
  view: (context) => recordView(context, inventory, 'get'),
  run: async (context, { ids }) =>
    (await import('../../records/list-and-get.ts')).getRecords(context, inventory, ids),
});

const set = verb({
  name: 'set',
  summary: 'Set the stock count of a pet',
  writes: 'records',
  examples: [
    'petstore inventory set 42 10',
    'petstore inventory set Luna 10',
    'petstore inventory set 42 0 --dry-run',
  ],
  args: { pet: petIdArgument, quantity: quantityArgument },
  view: (context) => recordView(context, inventory, 'update'),
  run: async (context, { pet, quantity }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'set', quantity),
});

const adjust = verb({
  name: 'adjust',
  aliases: ['add'],
  summary: 'Add to or take from the stock count of a pet',
  description:
    "Reads the stock count of a pet, adds to it and sets the sum. If the service sends ETags, as the local service does, a change that somebody else makes in between is never lost: the count is read again, and the sum is computed again. Without ETags such a change is overwritten. If a gateway sends a request twice, somebody else's change can be lost, or yours can count twice: turn off retries of PUT in the gateway.",
  writes: 'records',
  examples: ['petstore inventory adjust 42 +5', 'petstore inventory adjust 42 -5'],
  args: {
    pet: petIdArgument,
    change: argument('<change>', 'what to add, such as +5 or -5', { parse: parseChange }),
  },
  view: (context) => recordView(context, inventory, 'update'),
  run: async (context, { pet, change }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'add', change),
});

const create = verb({
  name: 'create',
  summary: 'Create the inventory entry of a pet',
  description: 'Creates the inventory entry of a pet, with the status that the pet has.',
  writes: 'records',
  examples: ['petstore inventory create 42 10'],
  args: { pet: petIdArgument, quantity: quantityArgument },
  view: (context) => recordView(context, inventory, 'create'),
  run: async (context, { pet, quantity }) =>
    (await import('../../records/create-and-update.ts')).writeCount(context, pet, 'create', quantity),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete inventory entries, after asking',
  writes: 'records',
  examples: ['petstore inventory delete 3', 'petstore inventory rm 3 4 5 --yes'],
  args: { ids: petIdsArgument },
  view: (context) => recordView(context, inventory, 'delete'),
  run: async (context, { ids }) =>
    (await import('../../records/edit-and-delete.ts')).deleteRecords(context, inventory, ids),
});

const diff = verb({
  name: 'diff',
  summary: 'Show what apply would change',
  description:
    'Compares the counts of a file with the current counts. Prints the rows that differ and the rows that cannot be written. Changes nothing. Exits with 8 if there are such rows, else with 0.',
  examples: [
    'petstore inventory diff stock.csv',
    'petstore inventory diff - -o jsonl < feed.jsonl',
    'petstore inventory diff stock.csv > /dev/null || echo "the shelves and the service differ"',
  ],
  args: { file },
  flags: diffFlags,
  view: async (context) => (await import('../../bulk/session.ts')).sessionView(context, 'inventory', 'diff'),
  run: async (context, { file, ...flags }) =>
    (await import('./apply-counts.ts')).applyCounts(context, file, flags, 'diff'),
});

const apply = verb({
  name: 'apply',
  summary: 'Set stock counts to those of a file',
  description:
    'Reads petId and quantity from a file of CSV, TSV, JSON or JSON lines (- is stdin), checks all of it, compares it with the current counts, asks, and sets the counts that differ. petstore keeps the plan, so that resume can finish a stopped run and undo can restore the counts.',
  writes: 'records',
  examples: [
    'petstore inventory apply stock.csv',
    'petstore inventory apply stock.csv --dry-run',
    'petstore inventory apply delivery.csv --relative --delivery LS-1001',
    'petstore inventory apply - --yes < feed.jsonl',
    'petstore inventory apply stock.csv --yes --max-changes 10% --max-delta 500',
    'petstore inventory apply stock.csv --yes --map "petId=SKU,quantity=On hand"',
  ],
  args: { file },
  flags: applyFlags,
  view: async (context) => (await import('../../bulk/session.ts')).sessionView(context, 'inventory'),
  run: async (context, { file, ...flags }) =>
    (await import('./apply-counts.ts')).applyCounts(context, file, flags),
});

const exportAll = verb({
  name: 'export',
  summary: 'Print all counts as CSV, ready for apply',
  defaultFormat: 'csv',
  description:
    'Prints the whole inventory as CSV, or in the format of -o, page by page. The output as csv, tsv, json or jsonl can be edited and applied.',
  examples: [
    'petstore inventory export > stock.csv',
    'petstore inventory export --with-expected > stock.csv',
    'petstore inventory export --fields petId,name,quantity',
  ],
  flags: {
    withExpected: flag(
      '--with-expected',
      'add a column that makes apply write only counts that nobody changed',
    ),
  },
  async view(context, { withExpected }) {
    const view = await recordView(context, inventory, 'list');
    return withExpected ? addExpected(view) : view;
  },
  async run(context, { withExpected }) {
    const { fields } = context.flags;
    if (withExpected && fields && !fields.includes('expected'))
      throw new UsageError('--with-expected: --fields leaves out its column', 'add expected to --fields');
    const { listRecords } = await import('../../records/list-and-get.ts');
    return listRecords(context, inventory, { needsWhole: true });
  },
});

/** Adds the count as `expected`, so that `apply` writes a row only if the count has not changed since. */
function addExpected(view: View<NamedRecord>): View<NamedRecord> {
  const index = view.columns.findIndex(({ name }) => name === 'quantity') + 1;
  return {
    ...view,
    columns: view.columns.toSpliced(index, 0, {
      name: 'expected',
      value: ({ fields }) => fields.quantity,
      align: 'right',
    }),
    data: ({ fields: { quantity = null }, original }) => ({ ...original, expected: quantity }),
  };
}

const edit = verb({
  name: 'edit',
  summary: 'Change counts in an editor',
  description:
    'Opens counts with the names of their pets in $VISUAL, $EDITOR or vi; then plans, asks and writes the rows that you changed, each only if nobody else has changed the count meanwhile.',
  writes: 'records',
  examples: ['petstore inventory edit --below 5', 'EDITOR="code --wait" petstore inventory edit'],
  flags: {
    below,
    ...sessionFlags,
  },
  view: async (context) => (await import('../../bulk/session.ts')).sessionView(context, 'inventory'),
  run: async (context, { below, ...flags }) =>
    (await import('./edit-counts.ts')).editCounts(context, below, flags),
});

export const inventoryCommands: Group = {
  examples: [
    'petstore inventory list --below 5',
    'petstore inventory set 42 10',
    'petstore inventory diff stock.csv',
    'petstore inventory apply stock.csv',
  ],
  verbs: [list, get, set, adjust, create, remove, diff, apply, exportAll, edit],
};
