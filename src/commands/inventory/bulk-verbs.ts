import { argument, flag, value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { parseQuantity } from '../../records/parse-values.ts';
import { statusesFlag } from '../arguments.ts';
import { applyFlags, diffFlags, resumeFlags } from '../runs/run-flags.ts';

const diff = verb({
  name: 'diff',
  summary: 'Show what apply would change',
  description:
    'Compares the counts of a file with the current ones and prints those that differ, and the rows that cannot be written; changes nothing. Exits 0 if there are none, 8 if there are some.',
  examples: [
    'petstore inventory diff stock.csv',
    'petstore inventory diff - -o jsonl < feed.jsonl',
    'petstore inventory diff stock.csv > /dev/null || echo "the shelves and the service differ"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: diffFlags,
  view: async (context) => (await import('../runs/run-session.ts')).runView(context, 'inventory', true),
  run: async (context, { file, ...flags }) =>
    (await import('./apply.ts')).applyCounts(context, file, flags, 'diff'),
});

const apply = verb({
  name: 'apply',
  summary: 'Set stock counts to those of a file',
  description:
    'Reads a CSV, JSON or JSONL file of petId and quantity (- is stdin), checks all of it, compares it with the current counts, asks, and sets those that differ. The plan is kept: resume finishes a run that was stopped, undo sets it back.',
  write: 'planned',
  examples: [
    'petstore inventory apply stock.csv',
    'petstore inventory apply stock.csv --dry-run',
    'petstore inventory apply delivery.csv --relative --delivery LS-1001',
    'petstore inventory apply - --yes < feed.jsonl',
    'petstore inventory apply stock.csv --yes --max-changes 10% --max-delta 500',
    'petstore inventory apply stock.csv --yes --map "petId=SKU,quantity=On hand"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: applyFlags,
  view: async (context) => (await import('../runs/run-session.ts')).runView(context, 'inventory'),
  run: async (context, { file, ...flags }) =>
    (await import('./apply.ts')).applyCounts(context, file, flags, 'apply'),
});

const exportAll = verb({
  name: 'export',
  summary: 'Print all counts as CSV, ready for apply',
  description:
    'Prints the whole inventory as CSV, or as -o says, page by page. What it prints can be edited and applied.',
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
  view: async (_, { withExpected }) => (await import('./export.ts')).exportView(withExpected === true),
  run: async (context, { withExpected }) =>
    (await import('./export.ts')).exportInventory(context, withExpected === true),
});

const edit = verb({
  name: 'edit',
  summary: 'Change counts in an editor',
  description:
    'Opens counts with the names of their pets in $VISUAL, $EDITOR or vi; then plans, asks and writes the rows that you changed, each only if nobody else has changed the count meanwhile.',
  write: 'planned',
  examples: ['petstore inventory edit --below 5', 'EDITOR="code --wait" petstore inventory edit'],
  flags: {
    status: statusesFlag('only entries of pets of this status'),
    below: value('--below <n>', 'only entries with a quantity under n', { parse: parseQuantity }),
    ...resumeFlags,
  },
  view: async (context) => (await import('../runs/run-session.ts')).runView(context, 'inventory'),
  run: async (context, { status, below, ...flags }) =>
    (await import('./edit-counts.ts')).editInventory(context, { status, below }, flags),
});

export const bulkVerbs = [diff, apply, exportAll, edit];
