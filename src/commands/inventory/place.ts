import type { JournalHeader } from '../../bulk/journal.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';

/** The target of writes for the journal: the base URL, or the file of the embedded store. */
export async function targetOf(context: Context): Promise<string> {
  const settings = await context.settings();
  if (settings.offline) return `offline:${resolvePaths(context.io).offlineStore}`;
  return settings.get('base-url') ?? '';
}

/** A run can only be resumed or undone on its own target. @throws UsageError on any other. */
export async function refuseOtherTarget(context: Context, { run, target }: JournalHeader): Promise<void> {
  const here = await targetOf(context);
  if (here === target) return;
  const goes = here === '' ? 'this command has no service to go to' : `this command goes to ${here}`;
  throw new UsageError(`run ${run} wrote to ${target}, and ${goes}`, placeHint(target));
}

function placeHint(target: string): string {
  return target.startsWith('offline:')
    ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
    : `give --base-url ${target}, or --profile with the profile of that run`;
}
