import type { GlobalFlags } from '../context.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { closest } from './closest.ts';
import type { ConfigFile } from './config-file.ts';

/** The profile that is built in: the embedded store. */
export const offlineProfile = 'offline';

/** The profile of this run, and whether commands go to the embedded store. */
export interface Active {
  /** Undefined too where it is `offline` and a base URL beat it. */
  readonly profile:
    | {
        readonly value: string;
        readonly source: 'flag' | 'environment' | 'config';
        /** The flag, variable or file that names it. */
        readonly origin: string;
      }
    | undefined;
  /** What sent commands to the embedded store; undefined where they go to a service. */
  readonly offline: Active['profile'];
}

/**
 * A base URL beats the embedded store where it is named nearer to the command: as a flag, or in the environment where
 * only the config file chose the profile. Named equally near, they contradict each other.
 *
 * @throws UsageError for an unknown profile, or a contradiction.
 */
export function findActive(io: Io, flags: GlobalFlags, file: ConfigFile): Active {
  const profile = namedProfile(io, flags, file);
  if (profile) refuseUnknown(profile, file);
  const offline = flags.offline
    ? ({ value: offlineProfile, source: 'flag', origin: '--offline' } as const)
    : profile?.value === offlineProfile
      ? profile
      : undefined;
  const baseUrl = nearestBaseUrl(io, flags);
  if (!offline || !baseUrl) return { profile, offline };
  if (offline.source === baseUrl.source) throw contradiction(offline.origin, baseUrl.origin);
  const isNearer =
    offline.source === 'flag' || (offline.source === 'environment' && baseUrl.source !== 'flag');
  if (isNearer) return { profile, offline };
  return { profile: profile === offline ? undefined : profile, offline: undefined };
}

function namedProfile(io: Io, flags: GlobalFlags, file: ConfigFile): Active['profile'] {
  const variable = io.env.PETSTORE_PROFILE;
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag', origin: '--profile' };
  if (variable) return { value: variable, source: 'environment', origin: 'PETSTORE_PROFILE' };
  return file.active === undefined ? undefined : { value: file.active, source: 'config', origin: file.path };
}

function nearestBaseUrl(io: Io, flags: GlobalFlags) {
  if (flags.baseUrl !== undefined) return { source: 'flag', origin: '--base-url' };
  return io.env.PETSTORE_BASE_URL ? { source: 'environment', origin: 'PETSTORE_BASE_URL' } : undefined;
}

function refuseUnknown({ value, origin, source }: NonNullable<Active['profile']>, file: ConfigFile): void {
  if (value === offlineProfile || Object.hasOwn(file.profiles, value)) return;
  const names = [...Object.keys(file.profiles), offlineProfile];
  const near = closest(value, names);
  const way =
    source === 'config'
      ? 'choose one with `petstore profile use <name>`, or none with `petstore config unset profile`'
      : 'make one with `petstore profile create <name> --base-url <url>`';
  throw new UsageError(
    `${origin}: there is no profile '${value}'${file.problem ? `, for ${file.path} could not be read: ${file.problem}` : ''}`,
    `${near ? `did you mean ${near}? ` : ''}profiles are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}; ${way}`,
  );
}

function contradiction(offline: string, baseUrl: string): UsageError {
  return new UsageError(
    `${offline} and ${baseUrl} contradict each other: one names the embedded store, the other a service`,
    'give one of them',
  );
}
