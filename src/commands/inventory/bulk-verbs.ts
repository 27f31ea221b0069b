import { argument, flag, value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { UsageError } from '../../process/errors.ts';
import { parseQuantity } from '../../records/values.ts';
import { petIdArgument, statusesFlag } from '../arguments.ts';
import { beginFlags, inputFlags, paceFlags, planFlags, runFlags } from './flags.ts';

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
  run: async (context, { file, ...flags }) => (await import('./apply.ts')).diffInput(context, file, flags),
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
    'petstore inventory export -o jsonl > stock.jsonl',
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
    'Opens the counts in $VISUAL, $EDITOR or vi, as `export --with-expected` prints them; then plans, asks and writes what was saved, as apply does.',
  operation: 'updateInventory',
  write: 'planned',
  examples: ['petstore inventory edit --below 5', 'EDITOR="code --wait" petstore inventory edit'],
  flags: {
    status: statusesFlag('only entries of pets of this status'),
    below: value('--below <n>', 'only entries with a quantity under n', { parse: parseQuantity }),
    ...runFlags,
  },
  run: async (context, { status, below, ...flags }) =>
    (await import('./edit.ts')).editInventory(context, { status, below }, flags),
});

const runArgument = argument('<run>', 'its id, or how the id begins', { offers: 'run' });

const listRuns = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List past runs, the newest first',
  description: 'Lists the runs of apply and undo that this machine has kept, and what became of their rows.',
  examples: ['petstore inventory runs', 'petstore inventory runs -o json', 'petstore inventory runs -o ids'],
  run: async (context) => (await import('./runs.ts')).listRuns(context),
});

const runs = {
  name: 'runs',
  summary: 'List past runs, the newest first; show one, give one up, delete old ones',
  alone: listRuns,
  examples: ['petstore inventory runs', 'petstore inventory runs show 20271121-0215'],
  verbs: [
    listRuns,
    verb({
      name: 'show',
      summary: 'Show what a run did, row by row',
      examples: [
        'petstore inventory runs show 20271121-0215',
        'petstore inventory runs show 20271121-0215 -o csv',
      ],
      args: { run: runArgument },
      run: async (context, { run }) => (await import('./runs.ts')).showRun(context, run),
    }),
    verb({
      name: 'discard',
      summary: 'Give up an unfinished run',
      description:
        'Gives up a run that was stopped or killed: it cannot be resumed any more. It can still be undone.',
      examples: ['petstore inventory runs discard 20271121-0215'],
      args: { run: runArgument },
      run: async (context, { run }) => (await import('./runs.ts')).discardRun(context, run),
    }),
    verb({
      name: 'prune',
      summary: 'Delete the journals of old runs, after asking',
      description:
        'Deletes the journals of runs that have ended: they cannot be undone any more. Unfinished runs stay, and deliveries of the last 7 days.',
      examples: ['petstore inventory runs prune', 'petstore inventory runs prune --older-than 30d --yes'],
      flags: {
        olderThan: value('--older-than <duration>', 'only runs that ended so long ago (default 90d)', {
          parse: parseAge,
        }),
      },
      run: async (context, { olderThan = 90 * dayMs }) =>
        (await import('./runs.ts')).pruneRuns(context, olderThan),
    }),
  ],
};

const log = verb({
  name: 'log',
  summary: "Show which runs set a pet's count",
  description:
    "Shows which runs on this machine set, or may have set, a pet's count, the newest first. What set, adjust and create did to a single count is not kept.",
  examples: ['petstore inventory log 42', 'petstore inventory log Luna -o json'],
  args: { pet: petIdArgument },
  run: async (context, { pet }) => (await import('./runs.ts')).logPet(context, pet),
});

const dayMs = 24 * 3_600_000;

/** `90d` or `12h`, in milliseconds. */
function parseAge(text: string): number {
  const [, digits, unit] = /^(\d{1,5})(d|h)$/.exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`--older-than '${text}': must be days or hours, as 90d or 12h`);
  return Number(digits) * (unit === 'd' ? dayMs : dayMs / 24);
}

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
  run: async (context, { run, ...flags }) => (await import('./apply.ts')).resumeRun(context, run, flags),
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
  args: { run: runArgument },
  flags: runFlags,
  run: async (context, { run, ...flags }) => (await import('./apply.ts')).undoRun(context, run, flags),
});

export const bulkVerbs = [diff, apply, exportAll, edit, runs, log, resume, undo];
