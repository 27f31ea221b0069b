import type { RowInput } from '../../../bulk/read-rows.ts';
import { type RunIdentity, RunStore } from '../../../bulk/run-store.ts';
import { resolvePaths } from '../../../config/paths.ts';
import type { Context } from '../../../context.ts';
import { exitCodes, UsageError } from '../../../errors.ts';
import { openSource, type Source } from '../../../input/source.ts';
import { targetOf } from '../place.ts';
import { abandonEarlier, findEarlier } from './earlier.ts';
import {
  type InputFlags,
  type PaceFlags,
  type PlanFlags,
  type RunFlags,
  toGuards,
  toReadOptions,
} from './flags.ts';
import type { BulkJob } from './job.ts';
import { readInput } from './read-input.ts';
import { runBulk, showDifferences } from './run.ts';

export type ApplyFlags = InputFlags & PlanFlags & RunFlags;

/** Applies a file, or goes on with the unfinished run of the same content at the same place. */
export async function applyInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  const runs = new RunStore(resolvePaths(context.io).stateDir);
  const source = await openSource(context.io, path);
  try {
    const job = await readJob(context, source, flags);
    if (context.flags.dryRun) return await runBulk(context, runs, { job, flags });
    await runs.hold(job.identity, async () => {
      if (flags.restart) await abandonEarlier(context, runs, job);
      const earlier = await findEarlier(context, runs, job);
      await runBulk(context, runs, { job: { ...job, earlier }, flags });
    });
  } finally {
    await source.close();
  }
}

/** Prints what applying a file would change; the exit code says whether that is anything. */
export async function diffInput(
  context: Context,
  path: string,
  flags: InputFlags & PaceFlags,
): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    // A pet without an entry differs too, whatever apply would do with it.
    const job = await readJob(context, source, { ...flags, createMissing: true });
    if (await showDifferences(context, job, flags)) context.exitCode = exitCodes.differs;
  } finally {
    await source.close();
  }
}

/** A job of the rows of an input, as the flags have it. */
export async function readJob(context: Context, source: Source, flags: ApplyFlags): Promise<BulkJob> {
  const guards = toGuards(flags);
  // Without a service to call, a large input need not be read first.
  await context.client('many');
  const input = await readInput(context, source, flags);
  const { rows, index, layout, sha256 } = input;
  if (rows.hasExpectations && flags.blind)
    throw new UsageError(`${source.name}: --blind reads no counts to compare with the column expected`);
  return {
    identity: await identify(context, input, flags),
    verb: 'applying',
    name: source.name,
    file: source.path ?? null,
    rows,
    index,
    write: { blind: flags.blind === true, createMissing: flags.createMissing === true },
    guards,
    input: layout && { source, layout, sha256 },
    earlier: undefined,
  };
}

async function identify(
  context: Context,
  { sha256, layout }: RowInput,
  flags: InputFlags,
): Promise<RunIdentity> {
  const { map, onDuplicate, shard } = toReadOptions(flags);
  const input = {
    format: layout?.format ?? null,
    delimiter: layout?.delimiter ?? null,
    map,
    onDuplicate,
    skipInvalid: flags.skipInvalid === true,
    shard: shard ?? null,
  };
  return { kind: 'apply', sha256, target: await targetOf(context), input };
}
