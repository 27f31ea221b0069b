import { nouns } from '../api/nouns.ts';
import { continueRun, nextSessionView } from '../bulk/continue-run.ts';
import { listRuns, type RunList, readLog, requireRun, runsOnTarget } from '../bulk/list-runs.ts';
import { runsView, toRunJson } from '../bulk/report.ts';
import { createRowView, removedRecords, rowsOfLog } from '../bulk/row-view.ts';
import type { Run, RunLog } from '../bulk/run.ts';
import { idOfRow, isPerhapsWritten } from '../bulk/run-row.ts';
import { type NamedRow, settleByHand } from '../bulk/settle-by-hand.ts';
import { requireTarget } from '../bulk/target.ts';
import { argument, choice } from '../cli/flag.ts';
import { action, type Group, verb } from '../cli/verb.ts';
import { type Context, isWatchedByPerson } from '../context.ts';
import { inPages } from '../output/printer.ts';
import { CliError, UsageError, ValueError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { Names } from '../records/names.ts';
import { listFlags, referenceFlag, sessionFlags } from './shared-flags.ts';

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List past runs, the newest first',
  description:
    'Lists the runs that this machine has kept: apply, inventory edit, create, update and delete --from, and undo. The list has the runs on all services, with --pet only those on this service; --fields id,file,profile,target shows which. A command that names its records by ids is not a run.',
  examples: ['petstore runs', 'petstore runs --pet 42', 'petstore runs -o json --limit 5'],
  flags: {
    limit: listFlags.limit,
    pet: referenceFlag('pets', 'only runs on this service that wrote this pet or its count'),
  },
  view: () => runsView,
  async run(context, { limit, pet }) {
    const isName = typeof pet === 'string';
    const petId = isName ? await new Names(context, await context.client()).requireId('petId', pet) : pet;
    const runs = (await readRuns(context, petId)).slice(0, limit);
    const targets = new Set(runs.map(({ target }) => target));
    const note = `these runs are on ${targets.size} services: --fields id,file,profile,target shows which`;
    const isNoted = targets.size > 1 && isWatchedByPerson(context) && !context.flags.fields;
    return { kind: 'list', pages: [runs], notices: isNoted ? [['note', note]] : [] };
  },
});

/** Returns the runs on this service that wrote a pet, or all runs. They are one page, because the columns have one width only within a page. */
async function readRuns(context: Context, petId: bigint | undefined): Promise<JsonObject[]> {
  const { io, notice } = context;
  const list = await listRuns(io);
  const warn = async (problem: unknown) => {
    if (!(problem instanceof CliError)) throw problem;
    await notice('warning', problem.message);
  };
  for (const { problem } of list.unreadable) await warn(problem);
  if (petId === undefined) return list.runs.map(toRunJson);
  const runs: JsonObject[] = [];
  // On another service the id is that of another pet.
  for (const run of runsOnTarget(list, await requireTarget(context))) {
    const log = await readLog(list, run.id).catch(warn);
    if (log && hasWrittenPet(log, petId)) runs.push(toRunJson(run));
  }
  return runs;
}

function hasWrittenPet({ rows, header }: RunLog, petId: bigint): boolean {
  const isOfPets = header.noun === 'pets' || nouns[header.noun].isCount;
  return isOfPets && rows.some((row) => idOfRow(row) === petId && isPerhapsWritten(row));
}

const show = verb({
  name: 'show',
  summary: 'Show what a run did, row by row',
  examples: ['petstore runs show r7', 'petstore runs show r7 -o jsonl'],
  args: {
    run: argument('[run]', 'its id, such as r7 (default: the last run)', { offers: 'run' }),
  },
  view: async (context, { run }) => createRowView(requireShown(await listRuns(context.io), run).header.noun),
  async run({ io, printer, flags }, { run: id }) {
    const list = await listRuns(io);
    const log = await readLog(list, requireShown(list, id).id);
    const isData = printer.content === 'documents' && flags.fields === undefined;
    const isRemoved = log.header.kind === 'delete' && isData;
    const printed: Iterable<object> = isRemoved ? removedRecords(log) : rowsOfLog(log);
    return { kind: 'list', pages: inPages(printed) };
  },
});

/** Returns the run to show, by default the last. @throws UsageError if there is none. */
function requireShown(list: RunList, id: string | undefined): Run {
  const run = id === undefined ? list.runs[0] : requireRun(list, id);
  if (!run) throw new UsageError('no runs yet');
  return run;
}

/** Parses `42`, `line:7` or `line:7=42`. @throws ValueError for any other text. */
function parseNamedRow(text: string): NamedRow {
  const [, id, line, madeId] = /^(?:(\d{1,19})|line:([1-9]\d{0,14}))(?:=(\d{1,19}))?$/.exec(text) ?? [];
  if (id === undefined && line === undefined)
    throw new ValueError('must be the id of a record, or line:<n> of the input, or line:<n>=<id>');
  return {
    name: id === undefined ? `line:${line}` : `${BigInt(id)}`,
    madeId: madeId === undefined ? undefined : BigInt(madeId),
  };
}

const settle = verb({
  name: 'settle',
  summary: 'Say what happened to unknown rows',
  description:
    'Says whether rows that are unknown, or still to be written, were applied. Look at their records first. The run can then be finished, and its delivery closed. Sends nothing to the service. A create that was applied needs the id of its record.',
  examples: [
    'petstore runs settle r7 42 43 --as applied',
    'petstore runs settle r7 42 --as failed',
    'petstore runs settle r9 line:3=17 --as applied',
  ],
  args: {
    run: argument('<run>', 'its id, such as r7', { offers: 'run' }),
    rows: argument('<row...>', 'ids of records, or line:<n> of the input, or line:<n>=<id>', {
      label: 'row',
      parse: parseNamedRow,
    }),
  },
  flags: {
    as: choice('--as <applied|failed>', 'whether the rows were written', ['applied', 'failed'] as const),
    lockWaitMs: sessionFlags.lockWaitMs,
  },
  run: async (context, { run, rows, as, lockWaitMs }) => {
    if (as === undefined) throw new UsageError('runs settle: give --as applied or --as failed');
    return settleByHand(context, run, rows, as, { lockWaitMs });
  },
});

export const runCommands: Group = {
  defaultAction: list,
  examples: ['petstore runs', 'petstore runs show r7'],
  verbs: [list, show, settle],
};

export const resume = sessionVerb(
  'resume',
  'Continues a run that was stopped or killed: reads the records of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  ['petstore resume', 'petstore resume r7'],
);

export const undo = sessionVerb(
  'undo',
  'Takes back what a run wrote. It restores each value that is still as the run left it, adds the opposite of what the run added, so that sales in between stay, and removes records that the run created. It leaves alone and reports what somebody has changed since. An undo that stopped continues if you start it again. A command that names its records by ids is not a run, and cannot be undone.',
  ['petstore undo', 'petstore undo r7 --dry-run'],
);

function sessionVerb(verb: 'resume' | 'undo', description: string, examples: readonly string[]) {
  return action({
    description,
    writes: 'records',
    examples,
    args: {
      run: argument('[run]', 'its id, such as r7 (default: the last run on this service)', { offers: 'run' }),
    },
    flags: sessionFlags,
    view: (context, { run }) => nextSessionView(context, verb, run),
    run: (context, { run, ...flags }) => continueRun(context, verb, run, flags),
  });
}
