import { argument, flag, value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { parseIdOrName, parseQuantity } from '../../records/parse-values.ts';
import { statusesFlag } from '../arguments.ts';
import {
  bulkWriteFlags,
  diffPlanFlags,
  inputFlags,
  paceFlags,
  planFlags,
  resumeFlags,
  undoFlags,
} from './bulk-flags.ts';

const diff = verb({
  name: 'diff',
  summary: 'Show what apply would change',
  description:
    'Compares the counts of a file with the current ones and prints those that differ, and the rows that cannot be written; changes nothing. Exits 0 if there are none, 8 if there are some.',
  operation: 'listInventory',
  examples: [
    'petstore inventory diff stock.csv',
    'petstore inventory diff - -o jsonl < feed.jsonl',
    'petstore inventory diff stock.csv > /dev/null || echo "the shelves and the service differ"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: { ...inputFlags, ...diffPlanFlags, ...paceFlags },
  run: async (context, { file, ...flags }) => (await import('./apply.ts')).diffInput(context, file, flags),
});

const apply = verb({
  name: 'apply',
  summary: 'Set stock counts to those of a file',
  description:
    'Reads a CSV, JSON or JSONL file of petId and quantity (- is stdin), checks all of it, compares it with the current counts, asks, and sets those that differ. The plan is kept: resume finishes a run that was stopped, undo sets it back.',
  operation: 'updateInventory',
  write: 'planned',
  examples: [
    'petstore inventory apply stock.csv',
    'petstore inventory apply stock.csv --dry-run',
    'petstore inventory apply delivery.csv --relative',
    'petstore inventory apply - --yes < feed.jsonl',
    'petstore inventory apply stock.csv --yes --max-changes 10% --max-delta 500',
    'petstore inventory apply stock.csv --yes --map petId=SKU --map "quantity=On hand"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: { ...inputFlags, ...planFlags, ...bulkWriteFlags },
  run: async (context, { file, ...flags }) => (await import('./apply.ts')).applyInput(context, file, flags),
});

const exportAll = verb({
  name: 'export',
  summary: 'Print all counts as CSV, ready for apply',
  description:
    'Prints the whole inventory as CSV, or as -o says, page by page. What it prints can be edited and applied.',
  operation: 'listInventory',
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
  run: async (context, { withExpected }) =>
    (await import('./export.ts')).exportInventory(context, withExpected === true),
});

const edit = verb({
  name: 'edit',
  summary: 'Change counts in an editor',
  description:
    'Opens counts with the names of their pets in $VISUAL, $EDITOR or vi; then plans, asks and writes the rows that you changed, each only if nobody else has changed the count meanwhile.',
  operation: 'updateInventory',
  write: 'planned',
  examples: ['petstore inventory edit --below 5', 'EDITOR="code --wait" petstore inventory edit'],
  flags: {
    status: statusesFlag('only entries of pets of this status'),
    below: value('--below <n>', 'only entries with a quantity under n', { parse: parseQuantity }),
    ...resumeFlags,
  },
  run: async (context, { status, below, ...flags }) =>
    (await import('./edit-counts.ts')).editInventory(context, { status, below }, flags),
});

const listFlags = {
  limit: value('--limit <n>', 'show at most n (default: all)', {
    parse: (text, name) => parseQuantity(text, name, 1),
  }),
  pet: value('--pet <id or name>', 'only runs that wrote the count of this pet', {
    parse: parseIdOrName,
    offers: 'pet',
  }),
};

const listRuns = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List past runs, the newest first',
  description: 'Lists the runs of apply and undo that this machine has kept, and what became of their rows.',
  examples: [
    'petstore inventory runs',
    'petstore inventory runs --pet 42',
    'petstore inventory runs -o json --limit 5',
  ],
  flags: listFlags,
  run: async (context, flags) => (await import('./show-runs.ts')).listRuns(context, flags),
});

const runs = {
  name: 'runs',
  summary: 'List past runs, the newest first, or show one row by row',
  alone: listRuns,
  flags: listFlags,
  examples: ['petstore inventory runs', 'petstore inventory runs show r7'],
  verbs: [
    listRuns,
    verb({
      name: 'show',
      summary: 'Show what a run did, row by row',
      examples: ['petstore inventory runs show r7', 'petstore inventory runs show r7 -o jsonl'],
      args: { run: argument('<run>', 'its id, such as r7', { offers: 'run' }) },
      run: async (context, { run }) => (await import('./show-runs.ts')).showRun(context, run),
    }),
  ],
};

const runArgument = argument('[run]', 'its id, such as r7 (default: the last run on this service)', {
  offers: 'run',
});

const resume = verb({
  name: 'resume',
  summary: 'Finish a run that stopped',
  description:
    'Continues a run of apply or undo that was stopped or killed: reads the counts of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  operation: 'updateInventory',
  write: 'planned',
  examples: ['petstore inventory resume', 'petstore inventory resume r7'],
  args: { run: runArgument },
  flags: resumeFlags,
  run: async (context, { run, ...flags }) => (await import('./resume.ts')).resumeRun(context, run, flags),
});

const undo = verb({
  name: 'undo',
  summary: 'Set back what a run wrote',
  description:
    'Sets every count that a run wrote back to what it was before, and removes the entries that it created, if the count is still the one that the run wrote; what somebody has changed since is left alone and reported. An undo that stopped goes on if it is started again.',
  operation: 'updateInventory',
  write: 'planned',
  examples: ['petstore inventory undo', 'petstore inventory undo r7 --dry-run'],
  args: { run: runArgument },
  flags: undoFlags,
  run: async (context, { run, ...flags }) => (await import('./resume.ts')).undoRun(context, run, flags),
});

export const bulkVerbs = [diff, apply, exportAll, edit, runs, resume, undo];
