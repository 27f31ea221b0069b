import { argument, choice } from '../../cli/flag.ts';
import { type Group, verb } from '../../cli/verb.ts';
import { UsageError } from '../../process/errors.ts';
import { listFlags, parseNamedRow, parseRunId, referenceFlag, resumeFlags } from '../shared-flags.ts';

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List past runs, the newest first',
  description:
    'Lists the runs that this machine has kept: apply, edit, create, update and delete --from, and undo. Commands with ids are not runs.',
  examples: ['petstore runs', 'petstore runs --pet 42', 'petstore runs -o json --limit 5'],
  flags: {
    limit: listFlags.limit,
    pet: referenceFlag('pets', 'only runs that wrote this pet or its count'),
  },
  prepare: async (context, flags) => (await import('./show-runs.ts')).findRuns(context, flags),
});

const show = verb({
  name: 'show',
  summary: 'Show what a run did, row by row',
  examples: ['petstore runs show r7', 'petstore runs show r7 -o jsonl'],
  args: {
    run: argument('[run]', 'its id, such as r7 (default: the last run)', {
      parse: parseRunId,
      offers: 'run',
    }),
  },
  prepare: async (context, { run }) => (await import('./show-runs.ts')).readOutcomes(context, run),
});

const settle = verb({
  name: 'settle',
  summary: 'Say what happened to rows that are unknown',
  description:
    'Keeps what a person has found out about rows that are unknown or left, so that the run can be finished and its delivery closed. It sends nothing to the service. A create that was applied needs the id of its record.',
  examples: [
    'petstore runs settle r7 42 43 --as applied',
    'petstore runs settle r7 42 --as failed',
    'petstore runs settle r9 line:3=17 --as applied',
  ],
  args: {
    run: argument('<run>', 'its id, such as r7', { parse: parseRunId, offers: 'run' }),
    rows: argument('<row...>', 'ids of records, or line:<n> of the input, or line:<n>=<id>', {
      label: 'row',
      parse: parseNamedRow,
    }),
  },
  flags: {
    as: choice('--as <applied|failed>', 'whether the rows were written', ['applied', 'failed'] as const),
    lockWait: resumeFlags.lockWait,
  },
  run: async (context, { run, rows, as, lockWait }) => {
    if (as === undefined) throw new UsageError('runs settle: give --as applied or --as failed');
    return (await import('../../bulk/settle-rows.ts')).settleRows(context, run, rows, as, { lockWait });
  },
});

export const runCommands: Group = {
  alone: list,
  examples: ['petstore runs', 'petstore runs show r7'],
  verbs: [list, show, settle],
};
