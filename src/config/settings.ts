import { UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { closestWord } from '../process/text.ts';
import { type ConfigFile, type Section, unreadableConfigError } from './file.ts';
import { isSettingKey, maskValue, type SettingKey, type SettingValues, settingKeys } from './keys.ts';
import {
  type Candidates,
  firstValid,
  isInConfig,
  rankOf,
  readLayers,
  type Setting,
  type SettingFlags,
  type SettingInputs,
  usageCodeOf,
  validSettings,
} from './layers.ts';
import { findToken, originOf, type TokenSource, unsetLine } from './token-source.ts';

// The files of this folder:
// - values: `keys.ts` lists the settings; `setting-values.ts` and `column-map.ts` parse their values.
// - the config file: `paths.ts` says where it is, `trusted-file.ts` who may write it. `config-store.ts` opens it with conf, `file.ts`
//   reads it, `edit.ts` changes it. `contract-file.ts` keeps the bindings of services beside it.
// - precedence: `layers.ts` is the chain of flags, variables, profile, config and defaults. This file resolves all settings
//   of a command.
// - the token: `token-source.ts` says which token the settings name, and to which origins it belongs. `credential.ts`
//   decides whether the token goes to the service, and in which place of a request. `read-token.ts` reads it.

/** The built-in profile: the embedded store. */
export const offlineProfile = 'offline';

/** The name of a profile, and the flag, variable or file that gave it. */
type ProfileChoice = Omit<Setting<string>, 'text'>;

/** The resolved settings of a command. Flags take precedence, then environment, profile, top level of the config, default. */
export interface Settings {
  /** The profile that a flag, a variable or the config names; `offline` is built in. */
  readonly active: ProfileChoice | undefined;
  /**
   * The active profile if its settings are used. They are not used if the config chose the profile and a flag or a variable
   * sets a base URL of another origin.
   */
  readonly profile: ProfileChoice | undefined;
  /** The names of all profiles of the config. */
  readonly profileNames: readonly string[];
  /**
   * The problems: an unknown profile, a wrong value, a file that cannot be read. Such values are not used. A wrong flag has
   * the code `invalid_flag` and stops every command. The others stop only the commands that call a service.
   */
  readonly problems: readonly UsageError[];
  /** Warnings to show before a command acts, one line each. */
  readonly warnings: readonly string[];
  /** The choice of the embedded store: commands use the server in this process. Undefined if they use a service. */
  readonly offline: ProfileChoice | undefined;
  /** The base URL of the service; undefined if none is set, or if the embedded store is chosen. */
  readonly service: string | undefined;
  /** The source of the token; undefined if there is none. */
  readonly token: TokenSource | undefined;
  get<Key extends SettingKey>(key: Key): SettingValues[Key];
  explain<Key extends SettingKey>(key: Key): Setting<SettingValues[Key]>;
}

/** Resolves the settings of a command. It never throws; errors are in `problems`. */
export function resolveSettings(io: Io, flags: SettingFlags, file: ConfigFile): Settings {
  const inputs = { io, flags, file };
  const selection = selectedProfile(inputs);
  const unknown = selection && unknownProfileError(selection, file);
  // A token belongs to its profile's origin whatever the address is, so all layers name it.
  const all = readLayers(
    inputs,
    unknown || selection?.value === offlineProfile ? undefined : selection?.value,
  );
  const { active, offline, contradiction } = chooseTarget(flags, unknown ? undefined : selection, all);
  const hasOtherOrigin = active?.source === 'config' && isOtherOrigin(all);
  const profile = hasOtherOrigin ? undefined : active;
  const candidates = hasOtherOrigin ? readLayers(inputs, undefined) : all;
  const explain = <Key extends SettingKey>(key: Key) => firstValid(candidates, key);
  return {
    active,
    profile,
    profileNames: Object.keys(file.profiles),
    problems: [
      ...(file.problem === undefined ? [] : [unreadableConfigError(file)]),
      ...[unknown, contradiction].filter((problem) => problem !== undefined),
      ...[...candidates.values()].flat().flatMap(({ problem }) => problem ?? []),
    ],
    warnings: [
      ...unknownKeyWarnings(file, undefined),
      ...(profile ? unknownKeyWarnings(file, profile.value) : []),
    ],
    offline,
    service: offline ? undefined : explain('base-url').value,
    token: findToken(io, all),
    get: (key) => explain(key).value,
    explain,
  };
}

/** Whether a flag or variable sets an origin that does not belong to the profile. */
function isOtherOrigin(candidates: Candidates): boolean {
  const [url, ...beaten] = validSettings(candidates, 'base-url');
  const configured = beaten.find(isInConfig);
  if (!url || !configured || isInConfig(url)) return false;
  return originOf(configured) !== originOf(url);
}

/**
 * Chooses the profile of this command, or the embedded store. If a base URL and the embedded store are both named, the
 * source with the higher precedence wins: `--base-url` beats PETSTORE_PROFILE=offline. If one source names both, that is a
 * contradiction.
 */
function chooseTarget(
  flags: SettingFlags,
  active: ProfileChoice | undefined,
  candidates: Candidates,
): Pick<Settings, 'active' | 'offline'> & { readonly contradiction?: UsageError } {
  const offline: ProfileChoice | undefined = flags.offline
    ? { value: offlineProfile, source: 'flag', givenBy: '--offline' }
    : active?.value === offlineProfile
      ? active
      : undefined;
  const baseUrl = candidates.get('base-url')?.find((setting) => !isInConfig(setting));
  if (!offline || !baseUrl || rankOf(offline) < rankOf(baseUrl)) return { active, offline };
  const service = { active: active === offline ? undefined : active, offline: undefined };
  if (offline.source !== baseUrl.source) return service;
  return { ...service, contradiction: contradictionError(offline, baseUrl.givenBy) };
}

function contradictionError(offline: ProfileChoice, baseUrlGiver: string): UsageError {
  return new UsageError(
    `${offline.givenBy} and ${baseUrlGiver} contradict each other: one names the embedded store, the other a service`,
    'give one of them',
    usageCodeOf(offline.source),
  );
}

function selectedProfile({ io, flags, file }: SettingInputs): ProfileChoice | undefined {
  const variable = io.env.PETSTORE_PROFILE;
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag', givenBy: '--profile' };
  if (variable) return { value: variable, source: 'environment', givenBy: 'PETSTORE_PROFILE' };
  return file.active === undefined ? undefined : { value: file.active, source: 'config', givenBy: file.path };
}

/** Makes the error for a profile that does not exist; undefined if it exists. */
function unknownProfileError(
  { value, givenBy, source }: ProfileChoice,
  file: ConfigFile,
): UsageError | undefined {
  if (value === offlineProfile || Object.hasOwn(file.profiles, value)) return undefined;
  const names = [...Object.keys(file.profiles), offlineProfile];
  const near = closestWord(value, names);
  const way =
    source === 'config'
      ? 'choose one with `petstore profile use <name>`, or none with `petstore config unset profile`'
      : 'create one with `petstore profile create <name> --base-url <url>`';
  return new UsageError(
    `${givenBy}: there is no profile '${value}'${file.problem ? `, because of ${file.path}: ${file.problem}` : ''}`,
    `${near ? `did you mean ${near}? ` : ''}the profiles are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}; ${way}`,
    usageCodeOf(source),
  );
}

/** Warns of unknown keys in the config file. They are not errors, because a newer version of the program may know them. */
function unknownKeyWarnings(file: ConfigFile, profile: string | undefined): string[] {
  const section: Section = profile === undefined ? file.defaults : (file.profiles[profile] ?? {});
  const unknown = Object.keys(section).filter((key) => !isSettingKey(key));
  return unknown.map((key) => {
    const near = closestWord(key, settingKeys);
    const place = profile === undefined ? file.path : `profile ${profile} in ${file.path}`;
    const remedy = `${near ? `did you mean ${near}? ` : ''}\`${unsetLine(key, profile)}\` removes it`;
    return `${place}: unknown key '${key}' is not used; ${remedy}`;
  });
}

/** Writes a setting as people do: a duration with its unit, an absolute path; null if it has no value. */
export function formatSetting(key: SettingKey, { value, text }: Setting<unknown>): JsonValue {
  if (value === undefined) return null;
  return key === 'timeout' ? text : maskValue(key, value as JsonValue);
}
