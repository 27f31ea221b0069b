import type { JournalHeader } from '../../../bulk/journal-lines.ts';
import { isResumable, type RunState, readRunInfo } from '../../../bulk/run-info.ts';
import { isSameRun, type RunStore } from '../../../bulk/run-store.ts';
import type { Context } from '../../../context.ts';
import { UsageError } from '../../../errors.ts';
import { openSource } from '../../../input/source.ts';
import { refuseOtherTarget, targetOf } from '../place.ts';
import { type ApplyFlags, readJob } from './apply-input.ts';
import { infoOrWarning, loadEarlier } from './earlier.ts';
import type { RunFlags } from './flags.ts';
import { runBulk } from './run.ts';
import { undoRun } from './undo-run.ts';

/** Of a run that goes on in another process the lock says so, and which one it is. */
const closedBecause: { readonly [S in RunState]?: string } = {
  finished: 'it has finished',
  undone: 'it was undone',
  abandoned: 'another run was started in its place',
};

/** Goes on with a run that was stopped or killed: by its id, or the newest one of this place. */
export async function resumeRun(
  context: Context,
  runs: RunStore,
  { run, flags }: { readonly run: string | undefined; readonly flags: RunFlags },
): Promise<void> {
  const id = run === undefined ? await newestResumable(context, runs) : await runs.resolve(run);
  const info = await readRunInfo(runs, id);
  if (!info) throw new UsageError(`resume ${id}: the run has not begun`);
  await refuseOtherTarget(context, info.header);
  const closed = closedBecause[info.state];
  if (closed !== undefined) throw new UsageError(`resume ${id}: ${closed}`);
  if (info.header.kind === 'undo') return undoRun(context, runs, { run: info.header.name, flags });
  await resumeApply(context, runs, { header: info.header, flags });
}

async function resumeApply(
  context: Context,
  runs: RunStore,
  { header, flags }: { readonly header: JournalHeader; readonly flags: RunFlags },
): Promise<void> {
  const { run, file } = header;
  const source = await openSource(context.io, file ?? '-');
  try {
    const job = await readJob(context, source, { ...flags, ...flagsOf(header) });
    if (!isSameRun(header, job.identity))
      throw new UsageError(
        `resume ${run}: ${source.name} is not what the run began with`,
        'apply it as a run of its own with `petstore inventory apply`',
      );
    await runs.hold(job.identity, async () => {
      const earlier = await loadEarlier(context, runs, { run, job });
      await runBulk(context, runs, { job: { ...job, earlier }, flags });
    });
  } finally {
    await source.close();
  }
}

/** The flags that make `apply` read the input, and write it, as the run did. */
function flagsOf({ input, options }: JournalHeader): ApplyFlags {
  const { format, delimiter, map, onDuplicate, skipInvalid, shard } = input;
  return {
    format: format ?? undefined,
    delimiter: delimiter || undefined,
    map: Object.entries(map).map(([field, column]) => `${field}=${column}`),
    onDuplicate,
    skipInvalid: skipInvalid || undefined,
    shard: shard ? `${shard.index}/${shard.count}` : undefined,
    blind: options.blind || undefined,
    createMissing: options.createMissing || undefined,
    // The guards held when the run was confirmed; what is left of it says nothing about shares.
    allowZero: true,
  };
}

async function newestResumable(context: Context, runs: RunStore): Promise<string> {
  // Without a service to call there is none whose run is meant.
  await context.client('many');
  const target = await targetOf(context);
  for (const run of await runs.ids()) {
    const info = await infoOrWarning(context, runs, run);
    if (info && isResumable(info.state) && info.header.target === target) return run;
  }
  throw new UsageError(
    `resume: no unfinished run at ${target}`,
    '`petstore inventory runs` lists all of them',
  );
}
