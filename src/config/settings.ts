import { join, resolve } from 'node:path';
import type { GlobalFlags } from '../context.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Active, findActive } from './active-profile.ts';
import { closest } from './closest.ts';
import { type ConfigFile, readConfigFile, type Section } from './config-file.ts';
import { isSettingKey, keyRules, type SettingKey, type SettingValues, settingKeys } from './keys.ts';
import { type Layer, layersOf, type SettingSource } from './layers.ts';
import { homeFolder, resolvePaths } from './paths.ts';
import { ValueError } from './values.ts';

export interface Setting<Value> {
  readonly value: Value;
  /** The value as it was written; empty where there is none. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gave it; empty for a default. */
  readonly origin: string;
}

/** All settings of this run, resolved: flag, environment, profile, top level of the config, default. */
export interface Settings {
  /** The active profile; `offline` is built in. */
  readonly profile: Active['profile'];
  /** What is wrong with the config file, a clause, where it was passed over. */
  readonly problem: string | undefined;
  /** What a person should know before a command acts, a line each. */
  readonly warnings: readonly string[];
  /** Whether commands go to the server in this process. */
  readonly offline: boolean;
  /** What sent them there. */
  readonly offlineBy: Active['offline'];
  /** The base URL of the profile, or of the top level where the profile has none: what a token belongs to. */
  readonly profileBaseUrl: string | undefined;
  get<Key extends SettingKey>(key: Key): SettingValues[Key];
  explain<Key extends SettingKey>(key: Key): Setting<SettingValues[Key]>;
}

/**
 * The settings of this run. A config file that cannot be read counts as empty: `problem` says why.
 *
 * @throws UsageError for an unknown profile, key or value, naming the flag, variable or file that holds it.
 */
export async function resolveSettings(io: Io, flags: GlobalFlags): Promise<Settings> {
  return settingsFrom(io, flags, readConfigFile(resolvePaths(io).configFile));
}

/** The settings that a config file, read before, leads to. @throws UsageError as `resolveSettings` does. */
export function settingsFrom(io: Io, flags: GlobalFlags, file: ConfigFile): Settings {
  const { profile, offline } = findActive(io, flags, file);
  refuseUnknownKeys(file, undefined);
  if (profile) refuseUnknownKeys(file, profile.value);
  const layers = layersOf({ io, flags }, file, profile?.value);
  const found = new Map(settingKeys.map((key) => [key, given(key, layers, io)]));
  const explain = <Key extends SettingKey>(key: Key) =>
    (found.get(key)?.[0] ?? fallback(key)) as Setting<SettingValues[Key]>;
  return {
    profile,
    problem: file.problem,
    warnings: warningsOf(file, profile, found.get('base-url') ?? []),
    offline: offline !== undefined,
    offlineBy: offline,
    profileBaseUrl: found.get('base-url')?.find(({ source }) => source === 'profile' || source === 'config')
      ?.value as string | undefined,
    get: (key) => explain(key).value,
    explain,
  };
}

function warningsOf(
  file: ConfigFile,
  profile: Active['profile'],
  [baseUrl, ...beaten]: readonly Setting<unknown>[],
): string[] {
  const own = beaten.find(({ source }) => source === 'profile');
  const isSurprising = profile?.source === 'flag' && baseUrl?.source === 'environment' && own;
  return [
    ...(file.problem === undefined ? [] : [`warning: ${file.path} is ignored: ${file.problem}`]),
    ...(isSurprising && own.value !== baseUrl.value
      ? [`warning: ${baseUrl.origin} is set, and beats the base URL of profile ${profile.value}`]
      : []),
  ];
}

/**
 * A value given for a key from elsewhere than the settings: `--concurrency` of a bulk command.
 *
 * @param label how an error speaks of it: `--concurrency`.
 * @throws UsageError
 */
export function parseSetting<Key extends SettingKey>(
  key: Key,
  text: string,
  label: string,
): SettingValues[Key] {
  try {
    return keyRules[key].parse(text) as SettingValues[Key];
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    // What looks like a URL with a user name or a query in it may hold a secret.
    throw new UsageError(`${label}${/[@?]/.test(text) ? '' : ` '${text}'`}: ${error.message}`);
  }
}

/** All that is given for a key, the winner first. What loses is checked all the same: no wrong value is passed over. */
function given(key: SettingKey, layers: readonly Layer[], io: Io): Setting<unknown>[] {
  return layers.flatMap((layer) => {
    const raw = layer.read(key);
    if (raw === undefined) return [];
    if (!['string', 'number', 'boolean'].includes(typeof raw))
      throw new UsageError(`${layer.label(key)}: must be text, a number, true or false`);
    const text = String(raw);
    const parsed = parseSetting(key, text, layer.label(key));
    const value = keyRules[key].isFile ? resolve(layer.folder, expandHome(text, io)) : parsed;
    return [{ value, text, source: layer.source, origin: layer.origin(key) }];
  });
}

function fallback(key: SettingKey): Setting<unknown> {
  const text = keyRules[key].fallback;
  return {
    value: text === undefined ? undefined : keyRules[key].parse(text),
    text: text ?? '',
    source: 'default',
    origin: '',
  };
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}

function refuseUnknownKeys(file: ConfigFile, profile: string | undefined): void {
  const section: Section = profile === undefined ? file.defaults : (file.profiles[profile] ?? {});
  const unknown = Object.keys(section).find((key) => !isSettingKey(key));
  if (unknown === undefined) return;
  const near = closest(unknown, settingKeys);
  throw new UsageError(
    `${profile === undefined ? '' : `profile ${profile} in `}${file.path}: unknown key '${unknown}'`,
    `${near ? `did you mean ${near}? ` : ''}\`petstore config unset ${profile === undefined ? '' : `--profile ${profile} `}${unknown}\` takes it out`,
  );
}
