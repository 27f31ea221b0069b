import type { JournalHeader } from '../../bulk/journal.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';

/** Where writes go, as a journal keeps it: the base URL, or the file of the embedded store. */
export async function targetOf(context: Context): Promise<string> {
  const settings = await context.settings();
  if (settings.offline) return `offline:${resolvePaths(context.io).offlineStore}`;
  return settings.get('base-url') ?? '';
}

/** A run is gone on with, or taken back, where it was. @throws UsageError anywhere else. */
export async function refuseOtherTarget(context: Context, { run, target }: JournalHeader): Promise<void> {
  const here = await targetOf(context);
  if (here === target) return;
  const goes = here === '' ? 'this command has no service to go to' : `this command goes to ${here}`;
  throw new UsageError(`run ${run} wrote to ${target}, and ${goes}`, placeHint(target));
}

function placeHint(target: string): string {
  return target.startsWith('offline:')
    ? 'give --offline; PETSTORE_OFFLINE_STORE names another store than the usual one'
    : `give --base-url ${target}, or --profile with the profile that it was`;
}
