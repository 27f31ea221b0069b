import { UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { closest } from '../process/text.ts';
import {
  type Candidates,
  candidatesFor,
  candidatesOf,
  codeOf,
  isOfConfig,
  rankOf,
  type Setting,
  type SettingFlags,
  type SettingInputs,
  valuesOf,
} from './candidates.ts';
import { type ConfigFile, readConfigFile, type Section, unreadableConfig } from './file.ts';
import { isSettingKey, maskValue, type SettingKey, type SettingValues, settingKeys } from './keys.ts';
import { findToken, furtherOrigins, originOf, type TokenSource, unsetLine } from './token-source.ts';

// How the files of this folder fit together: `keys.ts` lists the settings, and `setting-values.ts` parses their values.
// `paths.ts` says where the config file is, `file.ts` reads it, and `edit.ts` changes it. `candidates.ts` collects what
// flags, variables, profile and config give for each setting, `token-source.ts` says which token they name and to which
// origins it belongs, and this file resolves all settings of a command. `token.ts` decides whether the token may go to the
// service, and `read-token.ts` reads it. `contract-file.ts` keeps the bindings of services beside the config file.

/** The built-in profile: the embedded store. */
export const offlineProfile = 'offline';

/** The name of a profile, and the flag, variable or file that gave it. */
type ProfileChoice = Omit<Setting<string>, 'text'>;

/** All settings of this run, resolved: flag, environment, profile, top level of the config, default. */
export interface Settings {
  /** The profile that a flag, a variable or the config names; `offline` is built in. */
  readonly active: ProfileChoice | undefined;
  /** The active profile if its settings are used: the config's profile is not if the address has another origin. */
  readonly profile: ProfileChoice | undefined;
  /**
   * What is wrong: an unknown profile, a wrong value, a file that cannot be read. None of it is used. Those of flags have
   * the code `invalid_flag` and stop every command; the others stop each command that calls a service.
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

/** The settings of this run. Never throws: what is wrong is in `problems`. */
export function resolveSettings(io: Io, flags: SettingFlags, file = readConfigFile(io)): Settings {
  const inputs = { io, flags, file };
  const { active, offline, problems } = chooseProfile(inputs);
  // A token belongs to its profile's origin whatever the address is, so all candidates name it.
  const all = candidatesOf(inputs, active?.value);
  const { token, problem: clash } = findToken(io, all, active?.value);
  const isElsewhere = active?.source === 'config' && isOtherOrigin(all);
  const profile = isElsewhere ? undefined : active;
  const candidates = isElsewhere ? candidatesOf(inputs, undefined) : all;
  const explain = <Key extends SettingKey>(key: Key) =>
    candidates.get(key)?.find(({ problem }) => !problem) as Setting<SettingValues[Key]>;
  return {
    active,
    profile,
    problems: [
      ...(file.problem === undefined ? [] : [unreadableConfig(file)]),
      ...problems,
      ...(clash && !offline ? [clash] : []),
      ...[...candidates.values()].flat().flatMap(({ problem }) => problem ?? []),
    ],
    warnings: [
      ...unknownKeys(file, undefined),
      ...(profile ? unknownKeys(file, profile.value) : []),
      ...beatenProfile(profile, all),
    ],
    offline,
    service: offline ? undefined : explain('base-url').value,
    token,
    get: (key) => explain(key).value,
    explain,
  };
}

/** Whether a flag or variable sets an origin that does not belong to the profile. */
function isOtherOrigin(candidates: Candidates): boolean {
  const [url, ...beaten] = valuesOf(candidates, 'base-url');
  const configured = beaten.find(isOfConfig);
  if (!url || !configured || isOfConfig(url)) return false;
  return ![originOf(configured), ...furtherOrigins(candidates)].includes(originOf(url));
}

/** The warning that PETSTORE_BASE_URL beats the base URL of a profile that is named by a flag. */
function beatenProfile(profile: ProfileChoice | undefined, candidates: Candidates): string[] {
  const [baseUrl, ...beaten] = valuesOf(candidates, 'base-url');
  const ofProfile = beaten.find(({ source }) => source === 'profile');
  const isUnexpected = profile?.source === 'flag' && baseUrl?.source === 'environment' && ofProfile;
  if (!isUnexpected || ofProfile.value === baseUrl.value) return [];
  return [`warning: ${baseUrl.givenBy} is set, and beats the base URL of profile ${profile.value}`];
}

/**
 * The profile of this command, and the choice of the embedded store. A base URL takes precedence over the embedded
 * store if it is named nearer to the command: by a flag, or in the environment if only the config file chose the
 * profile. An unknown profile is a problem, and so are both named equally near.
 */
function chooseProfile(inputs: SettingInputs): Pick<Settings, 'active' | 'offline' | 'problems'> {
  const selection = selectedProfile(inputs);
  const unknown = selection && unknownProfile(selection, inputs.file);
  const active = unknown ? undefined : selection;
  const offline: ProfileChoice | undefined = inputs.flags.offline
    ? { value: offlineProfile, source: 'flag', givenBy: '--offline' }
    : active?.value === offlineProfile
      ? active
      : undefined;
  const baseUrl = candidatesFor('base-url', inputs, undefined).find((candidate) => !isOfConfig(candidate));
  const problems = unknown ? [unknown] : [];
  if (!offline || !baseUrl || rankOf(offline) < rankOf(baseUrl)) return { active, offline, problems };
  if (offline.source === baseUrl.source) problems.push(contradiction(offline, baseUrl.givenBy));
  return { active: active === offline ? undefined : active, offline: undefined, problems };
}

function contradiction(offline: ProfileChoice, baseUrlGiver: string): UsageError {
  return new UsageError(
    `${offline.givenBy} and ${baseUrlGiver} contradict each other: one names the embedded store, the other a service`,
    'give one of them',
    codeOf(offline.source),
  );
}

function selectedProfile({ io, flags, file }: SettingInputs): ProfileChoice | undefined {
  const variable = io.env.PETSTORE_PROFILE;
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag', givenBy: '--profile' };
  if (variable) return { value: variable, source: 'environment', givenBy: 'PETSTORE_PROFILE' };
  return file.active === undefined ? undefined : { value: file.active, source: 'config', givenBy: file.path };
}

/** The error for a profile that does not exist. */
function unknownProfile({ value, givenBy, source }: ProfileChoice, file: ConfigFile): UsageError | undefined {
  if (value === offlineProfile || Object.hasOwn(file.profiles, value)) return undefined;
  const names = [...Object.keys(file.profiles), offlineProfile];
  const near = closest(value, names);
  const way =
    source === 'config'
      ? 'choose one with `petstore profile use <name>`, or none with `petstore config unset profile`'
      : 'create one with `petstore profile create <name> --base-url <url>`';
  return new UsageError(
    `${givenBy}: there is no profile '${value}'${file.problem ? `, because of ${file.path}: ${file.problem}` : ''}`,
    `${near ? `did you mean ${near}? ` : ''}the profiles are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}; ${way}`,
    codeOf(source),
  );
}

/** Warnings, no errors: a newer version of the program may know the key. */
function unknownKeys(file: ConfigFile, profile: string | undefined): string[] {
  const section: Section = profile === undefined ? file.defaults : (file.profiles[profile] ?? {});
  const unknown = Object.keys(section).filter((key) => !isSettingKey(key));
  return unknown.map((key) => {
    const near = closest(key, settingKeys);
    const place = profile === undefined ? file.path : `profile ${profile} in ${file.path}`;
    const remedy = `${near ? `did you mean ${near}? ` : ''}\`${unsetLine(key, profile)}\` removes it`;
    return `warning: ${place}: unknown key '${key}' is not used; ${remedy}`;
  });
}

/** A setting in the form that people write: a duration with its unit, an absolute path; null if it has no value. */
export function formatSetting(key: SettingKey, { value, text }: Setting<unknown>): JsonValue {
  if (value === undefined) return null;
  return key === 'timeout' ? text : maskValue(key, value as JsonValue);
}
