import { UsageError } from '../errors.ts';
import { offlineProfile } from './active-profile.ts';

/** @throws UsageError for a name that no profile may have. */
export function refuseProfileName(name: string): void {
  const why = profileNameProblem(name);
  if (why !== undefined) throw new UsageError(`profile '${name}': ${why}`);
}

/** Why no profile may have a name, a clause; undefined where it may. */
export function profileNameProblem(name: string): string | undefined {
  if (name === offlineProfile) return 'that name is the built-in profile of the embedded store';
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(name)) return undefined;
  return 'a name is 1 to 64 letters, digits, dots, dashes, @ and underscores, and begins with a letter or digit';
}
