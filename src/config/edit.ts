import { dirname, resolve } from 'node:path';
import { fileError, parseAt, UsageError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { offlineProfile, openConfig, readConfigFile, resolvePaths, unknownProfileError } from './file.ts';
import { keyRules, parseName, parseSetting, type SettingKey } from './keys.ts';

/** The content of the config file while it is changed. */
interface ConfigDraft {
  profile?: string;
  profiles?: Record<string, JsonObject>;
  [key: string]: JsonValue | undefined;
}

type StoredValue = string | number | boolean;

/**
 * Reads the config, lets `edit` change it, and writes it. If `edit` throws, the file stays unchanged. A lock keeps other processes
 * from overwriting the change.
 *
 * @throws UsageError if the file cannot be read as a config; it stays unchanged. CliError `failed` if it cannot be written.
 */
export async function editConfig<Value>(io: Io, edit: (config: ConfigDraft) => Value): Promise<Value> {
  const { configFile } = resolvePaths(io);
  // Commands that only read settings do not load these files.
  const { ensureFolder, realFile } = await import('../process/files.ts');
  const { withLock } = await import('../process/lock.ts');
  ensureFolder(dirname(realFile(configFile)), 'PETSTORE_CONFIG_DIR names another folder');
  return withLock(configFile, async () => {
    const file = await readConfigFile(io);
    if (file.problem) throw file.problem;
    const draft = file.content as ConfigDraft;
    const value = edit(draft);
    try {
      // conf would replace a symbolic link by a file.
      (await openConfig(realFile(configFile))).store = draft as JsonObject;
    } catch (error) {
      throw fileError('write', configFile, error);
    }
    return value;
  });
}

/** Returns the section of a profile, or the top level, to change it in place. @throws UsageError for an unknown profile. */
export function sectionOf(config: ConfigDraft, profile: string | undefined): ConfigDraft {
  return profile === undefined ? config : requireProfile(config, profile);
}

/** Removes a value. Returns whether it was set. @throws UsageError for an unknown profile, and for all profiles at once. */
export function unsetValue(config: ConfigDraft, profile: string | undefined, key: string): boolean {
  const section = sectionOf(config, profile);
  if (section === config && key === 'profiles')
    throw new UsageError(
      'profiles: a profile is deleted by its name',
      'use `petstore profile delete <name>`',
    );
  const wasSet = Object.hasOwn(section, key);
  delete section[key];
  return wasSet;
}

/** Adds a profile. @throws UsageError if it exists, or if the name is not valid. */
export function addProfile(
  config: ConfigDraft,
  name: string,
  section: Readonly<Record<string, StoredValue>>,
): void {
  if (name === offlineProfile)
    throw new UsageError(`profile '${name}': that name is the built-in profile of the embedded store`);
  parseAt('profile', name, () => parseName(name));
  if (Object.hasOwn(config.profiles ?? {}, name))
    throw new UsageError(
      `profile '${name}': it already exists`,
      `change it with \`petstore config set --profile ${name} <key> <value>\``,
    );
  config.profiles = { ...config.profiles, [name]: { ...section } };
}

/** Makes a profile the active one. @throws UsageError for an unknown profile. */
export function activate(config: ConfigDraft, name: string): void {
  if (name !== offlineProfile) requireProfile(config, name);
  config.profile = name;
}

/** Deletes a profile; returns whether it was the active one. @throws UsageError for an unknown profile. */
export function dropProfile(config: ConfigDraft, name: string): boolean {
  requireProfile(config, name);
  delete config.profiles?.[name];
  const wasActive = config.profile === name;
  if (wasActive) delete config.profile;
  return wasActive;
}

/** Returns the section of a profile. @throws UsageError if the config does not have it. */
export function requireProfile<Section>(
  { profiles = {} }: { readonly profiles?: Readonly<Record<string, Section>> },
  name: string,
): Section {
  if (name === offlineProfile)
    throw new UsageError(`profile '${name}': it is built in and has no settings of its own`);
  const section = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!section) throw unknownProfileError(name);
  return section;
}

/**
 * Checks a value and converts it to a number, a boolean or a text for the config file. A relative path becomes absolute.
 *
 * @param label the name of the value in an error.
 * @param cwd the folder to which a relative path is relative.
 * @throws UsageError if the value is not valid for the key.
 */
export function toStoredValue(key: SettingKey, text: string, label: string, cwd: string): StoredValue {
  const value = parseSetting(key, text, label);
  if (keyRules[key].isFile) return text.startsWith('~/') ? text : resolve(cwd, text);
  return key === 'timeout' ? text : ((value as StoredValue | undefined) ?? text);
}
