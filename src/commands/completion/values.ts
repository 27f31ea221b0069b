import { readConfigFile } from '../../config/file.ts';
import { resolvePaths } from '../../config/paths.ts';
import { offlineProfile } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { ValueKind } from './shells.ts';

/** What a shell may offer for a place; nothing where it cannot be had in time, for a Tab must never complain. */
export async function completionValues(context: Context, kind: ValueKind): Promise<readonly string[]> {
  try {
    if (kind === 'profiles') return profileNames(context);
    return await (await import('./category-names.ts')).categoryNames(context);
  } catch {
    return [];
  }
}

function profileNames({ io }: Context): string[] {
  return [...Object.keys(readConfigFile(resolvePaths(io).configFile).profiles), offlineProfile];
}
