import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { beginFlags, inputFlags, paceFlags, planFlags, runFlags } from './bulk/flags.ts';

const diff = verb({
  name: 'diff',
  summary: 'Show what apply would change',
  description:
    'Compares the counts of a file with the current ones and prints those that differ; changes nothing. Exits 0 if none does, 8 if some do.',
  operation: 'listInventory',
  examples: [
    'petstore inventory diff stock.csv',
    'petstore inventory diff - -o jsonl < feed.jsonl',
    'petstore inventory diff stock.csv > /dev/null || echo "the shelves and the service disagree"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: { ...inputFlags, ...planFlags, ...paceFlags },
  run: async (context, { file, ...flags }) =>
    (await import('./bulk/jobs.ts')).diffInput(context, file, flags),
});

const apply = verb({
  name: 'apply',
  summary: 'Set stock counts to those of a file',
  description:
    'Reads a CSV, JSON or JSONL file of petId and quantity (- is stdin), checks all of it, compares it with the current counts, asks, and sets those that differ. What it does is kept in a journal: a run that was stopped can be resumed, and one that was wrong undone.',
  operation: 'updateInventory',
  write: 'planned',
  examples: [
    'petstore inventory apply stock.csv',
    'petstore inventory apply stock.csv --dry-run',
    'petstore inventory apply - --yes < feed.jsonl',
    'petstore inventory apply stock.csv --yes --max-changes 10% --max-delta 500',
    'petstore inventory apply stock.csv --yes --blind --concurrency 16 --rate 200',
    'petstore inventory apply stock.csv --yes --map petId=SKU --map "quantity=On hand"',
  ],
  args: { file: argument('<file>', 'the counts; - for stdin', { offers: 'file' }) },
  flags: { ...inputFlags, ...planFlags, ...beginFlags, ...runFlags },
  run: async (context, { file, ...flags }) =>
    (await import('./bulk/jobs.ts')).applyInput(context, file, flags),
});

const exportAll = verb({
  name: 'export',
  summary: 'Print all counts as CSV, ready for apply',
  description:
    'Prints the whole inventory as CSV, or as -o says, page by page. What it prints can be edited and applied.',
  operation: 'listInventory',
  examples: ['petstore inventory export > stock.csv', 'petstore inventory export -o jsonl > stock.jsonl'],
  run: async (context) => (await import('./export.ts')).exportInventory(context),
});

const runs = verb({
  name: 'runs',
  summary: 'List past runs, the newest first',
  description: 'Lists the runs of apply and undo that this machine has kept, and what became of their rows.',
  examples: ['petstore inventory runs', 'petstore inventory runs -o json', 'petstore inventory runs -o ids'],
  run: async (context) => (await import('./runs.ts')).listRuns(context),
});

const resume = verb({
  name: 'resume',
  summary: 'Go on where a run stopped',
  description:
    'Goes on with a run of apply or undo that was stopped or killed: reads the current counts again, asks, and writes what still differs, from the same input and with the same flags.',
  operation: 'updateInventory',
  write: 'planned',
  examples: ['petstore inventory resume', 'petstore inventory resume 20271121-0215'],
  args: {
    run: argument(
      '[run]',
      'its id, or how the id begins (default: the newest unfinished run of this service)',
      {
        offers: 'run',
      },
    ),
  },
  flags: runFlags,
  run: async (context, { run, ...flags }) => (await import('./bulk/jobs.ts')).resumeRun(context, run, flags),
});

const undo = verb({
  name: 'undo',
  summary: 'Set back what a run changed',
  description:
    'Sets every count that a run changed back to what it was before, and removes the entries that its --create-missing made, if the count is still the one that the run set: what somebody has changed since is left alone, and reported as failed. A --blind run read no counts to go back to and cannot be undone. An undo is a run too: it can be resumed, and undone, which makes removed entries again.',
  operation: 'updateInventory',
  write: 'planned',
  examples: [
    'petstore inventory undo 20271121-021530123-3f2a9c',
    'petstore inventory undo 20271121-0215 --dry-run',
  ],
  args: { run: argument('<run>', 'its id, or how the id begins', { offers: 'run' }) },
  flags: runFlags,
  async run(context, { run, ...flags }) {
    const { runStore, undoRun } = await import('./bulk/jobs.ts');
    await undoRun(context, await runStore(context).resolve(run), flags);
  },
});

export const bulkVerbs = [diff, apply, exportAll, runs, resume, undo];
