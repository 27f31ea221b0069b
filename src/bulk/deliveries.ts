import type { Context } from '../context.ts';
import { type OwnCode, UsageError } from '../process/errors.ts';
import { followUpOf } from './follow-up.ts';
import { isOpen, type RunList, requireReadableRuns, runsOnTarget, unreadableOn } from './list-runs.ts';
import {
  areDisjointShards,
  isSameTarget,
  type Run,
  type RunHeader,
  shardName,
  type Target,
  targetName,
} from './run.ts';
import { requireSameService } from './same-service.ts';
import { readSessionRuns } from './session-runs.ts';

// What is written only once: a delivery, by its number, and a create, by its file. While a run of it is open, no other one begins.

/**
 * Checks that every other run of the delivery is finished, because until then it is not certain what that run has booked. Another
 * shard of a file that was split into as many parts shares no row with this one, and need not be finished.
 *
 * @throws UsageError `unfinished_delivery` that names the command that ends the other run, or how many shards to give; `other_profile`.
 */
export async function requireFreeDelivery(context: Context, list: RunList, header: RunHeader): Promise<void> {
  const { target, delivery, flags } = header;
  if (delivery === undefined) return;
  const otherRun = flags.again ? undefined : findAtOtherTarget(list, header, delivery);
  if (otherRun)
    throw new UsageError(
      `delivery ${delivery}: its run ${otherRun.id} wrote to ${targetName(otherRun.header.target)}, and this command goes to ${targetName(target)}; nothing was sent`,
      'if both are the same service, use the binding and the tenant of that run; if they are two services, --again books the delivery here too',
      'other_profile',
    );
  const runs = runsOfDelivery(list, target, delivery);
  const contract = await context.contract();
  for (const run of runs) {
    requireSameService(run, context.settings, contract);
    requireReadableRuns(list, target, run);
  }
  for (const run of flags.again ? [] : runs) {
    const { shard } = run.header.flags;
    if (!areDisjointShards(shard, flags.shard))
      await requireFinished(context, list, run, `delivery ${delivery}: its`, 'unfinished_delivery');
    if (shard && shard.count !== flags.shard?.count && isPerhapsBooked(run))
      throw new UsageError(
        `delivery ${delivery}: its run ${run.id} was shard ${shardName(shard)}; nothing was sent`,
        `give --shard <i>/${shard.count}: other machines may have booked the other shards`,
        'unfinished_delivery',
      );
  }
}

/** Checks that no run of the same create is open: the records would be created twice. @throws UsageError `unfinished_run`. */
export async function requireNoOpenCreate(context: Context, list: RunList, header: RunHeader): Promise<void> {
  const isSame = ({ header: other }: Run) =>
    (['kind', 'noun', 'name', 'file'] as const).every((member) => other[member] === header[member]) &&
    !areDisjointShards(other.flags.shard, header.flags.shard);
  const runs = header.kind === 'create' ? runsOnTarget(list, header.target).filter(isSame) : [];
  const whose = `create --from ${header.name}: its`;
  for (const run of runs) await requireFinished(context, list, run, whose, 'unfinished_run');
}

/** @param whose how the message begins. @throws UsageError if a run, or the undo that has begun, is open. */
async function requireFinished(
  context: Context,
  list: RunList,
  run: Run,
  whose: string,
  code: OwnCode,
): Promise<void> {
  const latestRun = run.undo ?? run;
  if (!isOpen(latestRun)) return;
  const { log } = await readSessionRuns(list, latestRun);
  const { hint } = followUpOf(context, latestRun, log.rows) ?? {};
  throw new UsageError(`${whose} run ${latestRun.id} is not finished; nothing was sent`, hint, code);
}

/**
 * Finds the runs of a delivery on a target, the newest first. Undos have no delivery.
 *
 * @throws CliError `usage` if a journal cannot be read and may have booked the delivery.
 */
export function runsOfDelivery(list: RunList, target: Target, delivery: string): Run[] {
  for (const { problem, isDamaged, ...other } of unreadableOn(list, target))
    if (isDamaged || isSameDelivery(other.delivery, delivery)) throw problem;
  return runsOnTarget(list, target).filter(({ header }) => isSameDelivery(header.delivery, delivery));
}

/** Finds a run of the same delivery whose target is another but may be the same service. */
function findAtOtherTarget(
  { runs }: RunList,
  { target, profile }: RunHeader,
  delivery: string,
): Run | undefined {
  return runs.find(
    (run) =>
      !isSameTarget(run.header.target, target) &&
      mayBeSameService(run.header.target, target, run.header.profile === profile) &&
      isSameDelivery(run.header.delivery, delivery) &&
      isPerhapsBooked(run),
  );
}

/** Returns true if a run may have booked rows that no undo has taken back. */
function isPerhapsBooked(run: Run): boolean {
  return isOpen(run) || (run.perhapsWrittenCount > 0 && run.state !== 'undone');
}

/**
 * Returns true if two different targets may be one service. Either the base URL is the same, and two bindings add different base paths.
 * Or the address and the profile are the same, and only one target has a tenant.
 */
function mayBeSameService(a: Target, b: Target, isSameProfile: boolean): boolean {
  if (a.tenant === b.tenant) return a.unboundAddress === b.unboundAddress;
  return a.address === b.address && isSameProfile && (a.tenant === undefined || b.tenant === undefined);
}

/** Returns true if two delivery numbers differ only in form: NFKC, case, outer spaces, invisible characters, or the kind of dash. */
function isSameDelivery(a: string | undefined, b: string): boolean {
  return a !== undefined && comparableDelivery(a) === comparableDelivery(b);
}

function comparableDelivery(delivery: string): string {
  return delivery
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Dash}/gu, '-')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim();
}
