import { storedProfile } from '../../config/contract-file.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';

/**
 * The profile that a contract is stored with; undefined for the top level of the config.
 *
 * @throws UsageError for the embedded store, whose contract is always its own.
 */
export async function boundProfile(context: Context, what: string): Promise<string | undefined> {
  const settings = await context.settings();
  if (settings.offline)
    throw new UsageError(
      `${what}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
  return storedProfile(settings);
}

export function nameOfTarget(profile: string | undefined): string {
  return profile === undefined ? 'the top level of the config' : `profile ${profile}`;
}
