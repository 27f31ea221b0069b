import { UsageError } from '../errors.ts';
import { offlineProfile } from './active-profile.ts';
import type { Address } from './addresses.ts';
import { refuseProfileName } from './profile-name.ts';
import type { ConfigDraft } from './profiles.ts';
import type { Stored } from './stored-values.ts';

/** Puts a value at its place; a profile that is missing is made. */
export function setValue(config: ConfigDraft, { profile, key }: Address, value: Stored): void {
  if (profile === undefined) {
    config[key] = value;
    return;
  }
  if (!hasProfile(config, profile)) addProfile(config, profile, {});
  (config.profiles?.[profile] ?? {})[key] = value;
}

/** Whether there was a value to take away. */
export function unsetValue(config: ConfigDraft, { profile, key }: Address): boolean {
  const section: Record<string, unknown> | undefined =
    profile === undefined ? config : config.profiles?.[profile];
  if (!section || !Object.hasOwn(section, key)) return false;
  delete section[key];
  return true;
}

/** @throws UsageError for a name that is taken, or that no profile may have. */
export function addProfile(
  config: ConfigDraft,
  name: string,
  section: Readonly<Record<string, Stored>>,
): void {
  refuseProfileName(name);
  if (hasProfile(config, name))
    throw new UsageError(
      `profile '${name}': there is one already`,
      `change it with \`petstore config set --profile ${name} <key> <value>\``,
    );
  config.profiles = { ...config.profiles, [name]: { ...section } };
}

/** Makes a profile the active one. @throws UsageError for an unknown profile. */
export function activate(config: ConfigDraft, name: string): void {
  if (name !== offlineProfile) requireProfile(config, name);
  config.profile = name;
}

/** Takes a profile away; whether it was the active one: then none is. @throws UsageError for an unknown profile. */
export function dropProfile(config: ConfigDraft, name: string): boolean {
  requireProfile(config, name);
  delete config.profiles?.[name];
  const wasActive = config.profile === name;
  if (wasActive) delete config.profile;
  return wasActive;
}

/** @throws UsageError where the config holds no such profile. */
export function requireProfile(config: Pick<ConfigDraft, 'profiles'>, name: string): void {
  if (name === offlineProfile)
    throw new UsageError(`profile '${name}': it is built in, and has no settings of its own to change`);
  if (hasProfile(config, name)) return;
  throw new UsageError(
    `there is no profile '${name}'`,
    `see \`petstore profile list\`, or make it with \`petstore profile create ${name} --base-url <url>\``,
  );
}

function hasProfile(config: Pick<ConfigDraft, 'profiles'>, name: string): boolean {
  return config.profiles !== undefined && Object.hasOwn(config.profiles, name);
}
