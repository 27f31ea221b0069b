import { dirname, join, resolve } from 'node:path';
import { InputError, type UsageCode, UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { closest, shellWord } from '../process/text.ts';
import { type ConfigFile, readConfigFile, type Section, unreadableConfig } from './file.ts';
import {
  flagKey,
  isSettingKey,
  type KeyFlags,
  keyRules,
  maskValue,
  parseSetting,
  type SettingKey,
  type SettingValues,
  settingKeys,
  variableName,
} from './keys.ts';
import { homeFolder } from './paths.ts';

// How the files of this folder fit together: `keys.ts` lists the settings, and `setting-values.ts` parses their values.
// `paths.ts` says where the config file is, `file.ts` reads it, and `edit.ts` changes it. This file resolves all settings
// of a command, and says which token they name; `token.ts` decides whether that token may go to the service, and
// `read-token.ts` reads it. `contract-file.ts` keeps the bindings of services beside the config file.

/** The built-in profile: the embedded store. */
export const offlineProfile = 'offline';

/** The settings given on the command line. */
export interface SettingFlags extends KeyFlags {
  readonly profile?: string | undefined;
  readonly offline?: boolean | undefined;
}

/** The source of a value; an earlier one takes precedence over a later one. */
const sources = ['flag', 'environment', 'profile', 'config', 'default'] as const;
export type SettingSource = (typeof sources)[number];

/** The rank of a source: that of an earlier one is lower. */
function rankOf({ source }: { readonly source: SettingSource }): number {
  return sources.indexOf(source);
}

interface Setting<Value> {
  readonly value: Value;
  /** The value as it was written; empty if there is none. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gave it; empty for a default. */
  readonly givenBy: string;
}

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
  /** The source of the token; undefined if there is none. */
  readonly token: TokenSource | undefined;
  get<Key extends SettingKey>(key: Key): SettingValues[Key];
  explain<Key extends SettingKey>(key: Key): Setting<SettingValues[Key]>;
}

/** The source of the token; no file is read yet, and no command run. */
export interface TokenSource {
  readonly kind: 'variable' | 'file' | 'command';
  /** The value of the variable, which is the secret itself; the path of a file; a command line. */
  readonly text: string;
  /** The source, for messages: `PETSTORE_TOKEN`, `token file /run/token`, `token-command`. */
  readonly label: string;
  readonly source: SettingSource;
  /** The variable, profile or file that names the file or command. */
  readonly givenBy: string;
  /** The origins that it belongs to and may be sent to; empty if no base URL is set. */
  readonly owners: readonly string[];
}

/** The values of a key, those of the nearest source first; those of an active profile that is not used count too. */
type SettingsByKey = <Key extends SettingKey>(
  key: Key,
) => readonly Setting<NonNullable<SettingValues[Key]>>[];

/** What settings are resolved from. */
interface SettingInputs {
  readonly io: Io;
  readonly flags: SettingFlags;
  readonly file: ConfigFile;
}

/** The settings of this run. Never throws: what is wrong is in `problems`. */
export function resolveSettings(io: Io, flags: SettingFlags, file = readConfigFile(io)): Settings {
  const inputs = { io, flags, file };
  const problems: UsageError[] = file.problem === undefined ? [] : [unreadableConfig(file)];
  const { choice, offline } = chooseProfile(inputs, problems);
  const checked = new Map(
    settingKeys.map((key) => [
      key,
      candidatesOf(inputs, key, choice?.value).map((candidate) => check(key, candidate, io)),
    ]),
  );
  const settingsOf = ((key) => checked.get(key)?.filter(({ problem }) => !problem) ?? []) as SettingsByKey;
  const isPassedOver = choice?.source === 'config' && isOtherOrigin(settingsOf);
  const profile = isPassedOver ? undefined : choice;
  const isUsed = ({ source }: Pick<CheckedSetting, 'source'>) => !isPassedOver || source !== 'profile';
  const clash = io.env.PETSTORE_TOKEN || offline ? undefined : tokenClash(settingsOf, choice);
  if (clash) problems.push(clash);
  for (const setting of [...checked.values()].flat())
    if (setting.problem && isUsed(setting)) problems.push(setting.problem);
  const explain = <Key extends SettingKey>(key: Key) =>
    settingsOf(key).find(isUsed) ?? (fallback(key) as Setting<SettingValues[Key]>);
  return {
    active: choice,
    profile,
    problems,
    warnings: [
      ...unknownKeys(file, undefined),
      ...(profile ? unknownKeys(file, profile.value) : []),
      ...warningsOf(profile, settingsOf('base-url')),
    ],
    offline,
    token: tokenOf(io, settingsOf),
    get: (key) => explain(key).value,
    explain,
  };
}

/** Whether a flag or variable sets an origin that does not belong to the profile. */
function isOtherOrigin(settingsOf: SettingsByKey): boolean {
  const [url, ...others] = settingsOf('base-url');
  const configured = others.find(isOfConfig);
  if (!url || !configured || isOfConfig(url)) return false;
  const [further] = settingsOf('token-origins');
  return ![originOf(configured), ...(further?.value ?? [])].includes(originOf(url));
}

/** PETSTORE_TOKEN, else token-file or token-command, whichever has precedence. */
function tokenOf({ env }: Io, settingsOf: SettingsByKey): TokenSource | undefined {
  const [file] = settingsOf('token-file');
  const [command] = settingsOf('token-command');
  const isFile = file && (!command || rankOf(file) < rankOf(command));
  const variable = { source: 'environment', givenBy: 'PETSTORE_TOKEN' } as const;
  const token = env.PETSTORE_TOKEN
    ? ({ ...variable, kind: 'variable', text: env.PETSTORE_TOKEN, label: 'PETSTORE_TOKEN' } as const)
    : isFile
      ? ({ ...file, kind: 'file', text: file.value, label: `token file ${file.value}` } as const)
      : command && ({ ...command, kind: 'command', text: command.value, label: 'token-command' } as const);
  return token && { ...token, owners: ownersOf(token, settingsOf) };
}

/**
 * The origins that a token belongs to; empty if no base URL is set. A token of the environment belongs to PETSTORE_BASE_URL
 * if that is set; one of the config's top level to the base URL there; any other to the base URL of the active profile,
 * or of the top level. If none of these names a base URL, the token belongs to that of the command line.
 */
function ownersOf(
  { source }: { readonly source: SettingSource },
  settingsOf: SettingsByKey,
): readonly string[] {
  const urls = settingsOf('base-url');
  const ofVariable = urls.find((url) => url.source === 'environment');
  if (source === 'environment' && ofVariable) return [originOf(ofVariable)];
  const beside = source === 'config' ? urls.find((url) => url.source === 'config') : undefined;
  const owner = beside ?? urls.find(isOfConfig) ?? ofVariable;
  const [further] = settingsOf('token-origins');
  if (owner) return [originOf(owner), ...(further?.value ?? [])];
  return urls.slice(0, 1).map(originOf);
}

/** The error for token-file and token-command in one place; undefined if they are not. */
function tokenClash(settingsOf: SettingsByKey, active: ProfileChoice | undefined): UsageError | undefined {
  const [file] = settingsOf('token-file');
  const [command] = settingsOf('token-command');
  if (!file || file.source !== command?.source) return undefined;
  const name = file.source === 'profile' ? active?.value : undefined;
  return new InputError(
    `token-file and token-command are both set in ${file.givenBy}`,
    `keep one: \`${unsetLine('token-file', name)}\` or \`${unsetLine('token-command', name)}\``,
  );
}

/** Whether the config file gives a value, in the profile or at its top level. */
function isOfConfig({ source }: Pick<Setting<unknown>, 'source'>): boolean {
  return source === 'profile' || source === 'config';
}

/** The origin of a base URL. */
function originOf({ value }: Setting<string>): string {
  return new URL(value).origin;
}

function warningsOf(
  profile: ProfileChoice | undefined,
  [baseUrl, ...others]: readonly Setting<unknown>[],
): string[] {
  const ofProfile = others.find(({ source }) => source === 'profile');
  const isUnexpected = profile?.source === 'flag' && baseUrl?.source === 'environment' && ofProfile;
  if (!isUnexpected || ofProfile.value === baseUrl.value) return [];
  return [`warning: ${baseUrl.givenBy} is set, and beats the base URL of profile ${profile.value}`];
}

/**
 * The profile of this command, and the choice of the embedded store. A base URL takes precedence over the embedded
 * store if it is named nearer to the command: by a flag, or in the environment if only the config file chose the
 * profile.
 *
 * @param problems gets an unknown profile, and both named equally near.
 */
function chooseProfile(
  inputs: SettingInputs,
  problems: UsageError[],
): Pick<Settings, 'offline'> & { readonly choice: ProfileChoice | undefined } {
  const selection = selectedProfile(inputs);
  const unknown = selection && unknownProfile(selection, inputs.file);
  if (unknown) problems.push(unknown);
  const choice = unknown ? undefined : selection;
  const offline: ProfileChoice | undefined = inputs.flags.offline
    ? { value: offlineProfile, source: 'flag', givenBy: '--offline' }
    : choice?.value === offlineProfile
      ? choice
      : undefined;
  const baseUrl = candidatesOf(inputs, 'base-url', undefined).find((candidate) => !isOfConfig(candidate));
  if (!offline || !baseUrl) return { choice, offline };
  if (offline.source === baseUrl.source) {
    const both = new UsageError(
      `${offline.givenBy} and ${baseUrl.givenBy} contradict each other: one names the embedded store, the other a service`,
      'give one of them',
      codeOf(offline.source),
    );
    problems.push(both);
  }
  if (rankOf(offline) < rankOf(baseUrl)) return { choice, offline };
  return { choice: choice === offline ? undefined : choice, offline: undefined };
}

function selectedProfile({ io, flags, file }: SettingInputs): ProfileChoice | undefined {
  const variable = io.env.PETSTORE_PROFILE;
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag', givenBy: '--profile' };
  if (variable) return { value: variable, source: 'environment', givenBy: 'PETSTORE_PROFILE' };
  return file.active === undefined ? undefined : { value: file.active, source: 'config', givenBy: file.path };
}

/** The code of an error in a value from this source. */
function codeOf(source: SettingSource): UsageCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
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

/** The command line that removes a key from a profile, or from the top level of the config. */
export function unsetLine(key: string, profile: string | undefined): string {
  const place = profile === undefined ? [] : ['--profile', profile];
  return ['petstore', 'config', 'unset', ...place, key].map(shellWord).join(' ');
}

/** A value as a flag, a variable or the config file gives it, unchecked. */
interface SettingCandidate extends Pick<Setting<unknown>, 'source' | 'givenBy'> {
  readonly raw: unknown;
  /** The name of the value in errors: `--timeout`, `PETSTORE_OUTPUT`, `timeout of profile staging in /…/config.json`. */
  readonly label: string;
  /** The folder to which a relative path is relative. */
  readonly folder: string;
}

/** The values that flags, environment and config give for a key, highest precedence first. */
function candidatesOf(
  { io, flags, file }: SettingInputs,
  key: SettingKey,
  profile: string | undefined,
): SettingCandidate[] {
  const { name = '', value } = variableOf(key, io) ?? {};
  const section = profile === undefined ? undefined : file.profiles[profile];
  const candidates = [
    { raw: flags[flagKey(key)], source: 'flag', givenBy: `--${key}` },
    { raw: value, source: 'environment', givenBy: name },
    { raw: section?.[key], source: 'profile', givenBy: `profile ${profile}` },
    { raw: file.defaults[key], source: 'config', givenBy: file.path },
  ] as const;
  return candidates.flatMap((candidate) => {
    if (candidate.raw === undefined) return [];
    if (!isOfConfig(candidate)) return [{ ...candidate, label: candidate.givenBy, folder: io.cwd }];
    const place = candidate.source === 'profile' ? ` of ${candidate.givenBy}` : '';
    return [{ ...candidate, label: `${key}${place} in ${file.path}`, folder: dirname(file.path) }];
  });
}

/** The variable that gives a key; an empty one counts as not set. */
function variableOf(
  key: SettingKey,
  { env }: Io,
): { readonly name: string; readonly value: string } | undefined {
  if (key === 'color' && !env.PETSTORE_COLOR) {
    // FORCE_COLOR beats NO_COLOR; `0` and `false` switch it off. See https://force-color.org and https://no-color.org.
    if (env.FORCE_COLOR)
      return { name: 'FORCE_COLOR', value: /^(0|false)$/i.test(env.FORCE_COLOR) ? 'never' : 'always' };
    return env.NO_COLOR ? { name: 'NO_COLOR', value: 'never' } : undefined;
  }
  const name = variableName(key);
  const value = env[name];
  return value ? { name, value } : undefined;
}

/** A candidate after the check; it has no value if there is a problem with it. */
interface CheckedSetting extends Setting<unknown> {
  readonly problem?: UsageError;
}

/** Checks a value even if another takes precedence over it. */
function check(
  key: SettingKey,
  { raw, source, givenBy, label, folder }: SettingCandidate,
  io: Io,
): CheckedSetting {
  const { isFile, separator } = keyRules[key];
  const isList = separator !== undefined && Array.isArray(raw);
  const text = isList ? raw.join(separator) : String(raw);
  const setting = { value: undefined, text, source, givenBy };
  try {
    if (typeof raw === 'object' && !isList)
      throw new InputError(`${label}: must be text, a number, true or false`);
    const parsed = parseSetting(key, text, label, codeOf(source));
    return { ...setting, value: isFile ? resolve(folder, expandHome(text, io)) : parsed };
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    return { ...setting, problem };
  }
}

function fallback(key: SettingKey): Setting<unknown> {
  const text = keyRules[key].fallback;
  const value = text === undefined ? undefined : keyRules[key].parse(text);
  return { value, text: text ?? '', source: 'default', givenBy: '' };
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}

/** A setting in the form that people write: a duration with its unit, an absolute path; null if it has no value. */
export function formatSetting(key: SettingKey, { value, text }: Setting<unknown>): JsonValue {
  if (value === undefined) return null;
  return key === 'timeout' ? text : maskValue(key, value as JsonValue);
}
