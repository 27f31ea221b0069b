import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { listFlags, parseRunId, referenceFlag } from '../arguments.ts';

const runsFlags = {
  limit: listFlags.limit,
  pet: referenceFlag('pets', 'only runs that wrote this pet or its count'),
};

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List past runs, the newest first',
  description:
    'Lists the runs of apply, update --from and undo that this machine has kept, and what became of their rows.',
  examples: ['petstore runs', 'petstore runs --pet 42', 'petstore runs -o json --limit 5'],
  flags: runsFlags,
  view: async (context) => (await import('./show-runs.ts')).runsView(context),
  run: async (context, flags) => (await import('./show-runs.ts')).findRuns(context, flags),
});

const show = verb({
  name: 'show',
  summary: 'Show what a run did, row by row',
  examples: ['petstore runs show r7', 'petstore runs show r7 -o jsonl'],
  args: { run: argument('<run>', 'its id, such as r7', { parse: parseRunId, offers: 'run' }) },
  view: async (context, { run }) => (await import('./show-runs.ts')).outcomesView(context, run),
  run: async (context, { run }) => (await import('./show-runs.ts')).readOutcomes(context, run),
});

export const runs = {
  alone: list,
  flags: runsFlags,
  examples: ['petstore runs', 'petstore runs show r7'],
  verbs: [list, show],
};
