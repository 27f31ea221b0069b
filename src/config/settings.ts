import { dirname, join, resolve } from 'node:path';
import { colorVariable } from '../output/style.ts';
import { InputError, type OwnCode, UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { shellWord } from '../process/text.ts';
import {
  type ConfigFile,
  homeFolder,
  offlineProfile,
  ownServerVariable,
  unknownProfileError,
} from './file.ts';
import {
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

interface SettingFlags extends KeyFlags {
  readonly profile?: string | undefined;
  readonly offline?: boolean | undefined;
}

/** The sources of values, in the order of their precedence. `config` is the top level of the config file. */
const sources = ['flag', 'environment', 'profile', 'config', 'default'] as const;
type SettingSource = (typeof sources)[number];

/** A value, and where it comes from. */
interface Setting<Value> {
  readonly value: Value;
  /** The value as the user wrote it; empty if there is no value. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
}

/** The value that a source gives for a key. A wrong value is undefined, and has an error. */
interface SourceValue extends Setting<unknown> {
  readonly key: SettingKey;
  readonly problem?: UsageError;
}

/** The name of a profile, and the flag, variable or file that gave it. */
type ProfileChoice = Omit<Setting<string>, 'text'>;

/** Where the token comes from. Its file is not read yet, and its command has not run. */
export interface TokenSetting {
  readonly kind: 'variable' | 'file' | 'command';
  /** The value of the variable, which is the token itself; the path of the file; or the command line. */
  readonly text: string;
  /** Its name in messages: `PETSTORE_TOKEN`, `token file /run/token`, `token-command`. */
  readonly label: string;
  readonly source: SettingSource;
  /** The variable, profile or file that names the file or command. */
  readonly givenBy: string;
  /** The origin that the token belongs to. Without a base URL there is none. */
  readonly origin: string | undefined;
}

/** The resolved settings of a command. Flags take precedence, then environment, profile, top level of the config, default. */
export interface Settings {
  /**
   * The profile that a flag, a variable or the config names; `offline` is built in. A profile that the config names does not apply if
   * a flag or a variable sets a base URL of another origin.
   */
  readonly profile: ProfileChoice | undefined;
  readonly profileNames: readonly string[];
  /**
   * An unknown profile, wrong values, a file that cannot be read. Wrong values are not used. A wrong flag has the code `invalid_flag`
   * and stops every command. The others stop a command unless it has `wrongSettings`.
   */
  readonly problems: readonly UsageError[];
  /** Warnings to show before a command acts, one line each. */
  readonly warnings: readonly string[];
  /** What chose the embedded store, unless commands use a service. */
  readonly offline: ProfileChoice | undefined;
  /** The base URL of the service. The embedded store has none. */
  readonly baseUrl: string | undefined;
  /** Where the token comes from, if there is one. */
  readonly token: TokenSetting | undefined;
  get<Key extends SettingKey>(key: Key): SettingValues[Key];
  explain<Key extends SettingKey>(key: Key): Setting<SettingValues[Key]>;
}

/** Resolves the settings of a command. It never throws; errors are in `problems`. */
export function resolveSettings(io: Io, flags: SettingFlags, file: ConfigFile): Settings {
  const selection = selectedProfile(io, flags, file);
  const isKnown =
    !selection || selection.value === offlineProfile || Object.hasOwn(file.profiles, selection.value);
  // A token belongs to the origin of its profile, even if the command goes to another address. @see originOfToken
  const all = readSources(io, flags, file, selection?.value);
  const { profile, offline, contradiction } = chooseProfile(flags, isKnown ? selection : undefined, all);
  const used = profile ? all : all.filter(({ source }) => source !== 'profile');
  const explain = <Key extends SettingKey>(key: Key) =>
    (validSettings(used, key)[0] ?? defaultSetting(key)) as Setting<SettingValues[Key]>;
  const problems = [
    file.problem,
    isKnown || file.problem
      ? undefined
      : unknownProfileError(selection.value, { ...selection, code: usageCodeOf(selection) }),
    contradiction,
    ...used.map(({ problem }) => problem),
  ];
  return {
    profile,
    profileNames: Object.keys(file.profiles),
    problems: problems.filter((problem) => problem !== undefined),
    warnings: [
      ...unknownKeyWarnings(file, undefined),
      ...(profile ? unknownKeyWarnings(file, profile.value) : []),
    ],
    offline,
    baseUrl: offline ? undefined : explain('base-url').value,
    token: findToken(io, all),
    get: (key) => explain(key).value,
    explain,
  };
}

function selectedProfile({ env }: Io, flags: SettingFlags, file: ConfigFile): ProfileChoice | undefined {
  const variable = env.PETSTORE_PROFILE;
  if (flags.profile !== undefined) return { value: flags.profile, source: 'flag', givenBy: '--profile' };
  if (variable) return { value: variable, source: 'environment', givenBy: 'PETSTORE_PROFILE' };
  if (file.active === undefined || env[ownServerVariable]) return undefined;
  return { value: file.active, source: 'config', givenBy: file.path };
}

/**
 * Reads the values of all sources. The values of one key are in the order of their precedence. Each value is checked, even if another
 * one takes precedence.
 *
 * @param profile the profile to read; empty for none.
 */
function readSources(io: Io, flags: SettingFlags, file: ConfigFile, profile = ''): readonly SourceValue[] {
  return settingKeys.flatMap((key) => {
    const variable = variableOf(key, io);
    const values: readonly (readonly [source: SettingSource, raw: unknown, givenBy: string])[] = [
      ['flag', flags[key], `--${key}`],
      ['environment', variable.raw, variable.name],
      ['profile', file.profiles[profile]?.[key], `profile ${profile}`],
      ['config', file.defaults[key], file.path],
    ];
    return values
      .filter(([, raw]) => raw !== undefined)
      .map(([source, raw, givenBy]): SourceValue => {
        const isTyped = source === 'flag' || source === 'environment';
        const label = isTyped ? givenBy : `${key} in ${givenBy}`;
        const text = String(raw);
        const setting = { key, value: undefined, text, source, givenBy };
        try {
          if (typeof raw === 'object')
            throw new InputError(`${label}: must be text, a number, true or false`);
          const value = parseSetting(key, text, label, usageCodeOf(setting));
          if (!keyRules[key].isFile) return { ...setting, value };
          const path = text.startsWith('~/') ? join(homeFolder(io), text.slice(2)) : text;
          return { ...setting, value: resolve(isTyped ? io.cwd : dirname(file.path), path) };
        } catch (problem) {
          if (!(problem instanceof UsageError)) throw problem;
          return { ...setting, problem };
        }
      });
  });
}

/** Returns the variable that sets a key, by its name. An empty variable counts as not set. */
function variableOf(key: SettingKey, { env }: Io): { readonly name: string; readonly raw?: string } {
  const name = variableName(key);
  if (env[name]) return { name, raw: env[name] };
  const color = key === 'color' ? colorVariable(env) : undefined;
  return color ? { name: color.name, raw: color.value } : { name };
}

/** Returns the settings of a key that have a value, in the order of their precedence. */
function validSettings<Key extends SettingKey>(values: readonly SourceValue[], key: Key) {
  const settings = values.filter((setting) => setting.key === key && setting.value !== undefined);
  return settings as readonly Setting<unknown>[] as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

function defaultSetting(key: SettingKey): Setting<unknown> {
  const { defaultText: text = '', parse } = keyRules[key];
  return { value: text === '' ? undefined : parse(text), text, source: 'default', givenBy: '' };
}

/** Returns the rank of a source. The lowest takes precedence: a flag has 0. */
function rankOf({ source }: { readonly source: SettingSource }): number {
  return sources.indexOf(source);
}

function usageCodeOf({ source }: { readonly source: SettingSource }): OwnCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
}

/** Returns true if the config file gives the value, in a profile or at its top level. */
function isInConfig({ source }: { readonly source: SettingSource }): boolean {
  return source === 'profile' || source === 'config';
}

/**
 * Chooses the profile of this command, or the embedded store. If both a base URL and the embedded store are named, the source of
 * higher precedence wins: `--base-url` beats PETSTORE_PROFILE=offline. If one source names both, that is an error, because the
 * target of a write would be a guess. `--offline` with `--profile` of a service is an error for the same reason. A profile that the
 * config names does not apply to a base URL of another origin.
 */
function chooseProfile(
  flags: SettingFlags,
  selection: ProfileChoice | undefined,
  values: readonly SourceValue[],
): Pick<Settings, 'profile' | 'offline'> & { readonly contradiction?: UsageError | undefined } {
  const isOffline = selection?.value === offlineProfile;
  const offlineFlag = { value: offlineProfile, source: 'flag', givenBy: '--offline' } as const;
  const offline = flags.offline ? offlineFlag : isOffline ? selection : undefined;
  const [url, ...otherUrls] = validSettings(values, 'base-url');
  if (!url || isInConfig(url)) {
    const service = url?.source === 'profile' ? selection : undefined;
    return { profile: selection, offline, contradiction: contradictionOf(offline, service) };
  }
  const configuredUrl = otherUrls.find(isInConfig);
  const isElsewhere = configuredUrl && originOf(configuredUrl) !== originOf(url);
  const profile = selection?.source === 'config' && isElsewhere ? undefined : selection;
  if (!offline || rankOf(offline) < rankOf(url)) return { profile, offline };
  const contradiction = contradictionOf(offline, url);
  return { profile: isOffline ? undefined : profile, offline: undefined, contradiction };
}

/** Returns the error if one source names both the embedded store and a service. */
function contradictionOf(
  offline: ProfileChoice | undefined,
  service: Pick<Setting<string>, 'source' | 'givenBy'> | undefined,
): UsageError | undefined {
  if (!offline || offline.source !== service?.source) return undefined;
  return new UsageError(
    `${offline.givenBy} and ${service.givenBy} contradict each other: one names the embedded store, the other a service`,
    'give one of them',
    usageCodeOf(offline),
  );
}

/**
 * Warns about unknown keys in a profile, or at the top level. They are not errors, because another version of the program may know
 * them.
 */
function unknownKeyWarnings({ path, profiles, defaults }: ConfigFile, profile: string | undefined): string[] {
  const section = profile === undefined ? defaults : (profiles[profile] ?? {});
  const [place, flag] =
    profile === undefined ? [path, ''] : [`profile ${profile} in ${path}`, ` --profile ${profile}`];
  const unknown = Object.keys(section).filter((key) => !isSettingKey(key));
  return unknown.map(
    (key) =>
      `${place}: unknown key '${key}' is not used; \`petstore config unset${flag} ${shellWord(key)}\` removes it`,
  );
}

/** Finds the token: PETSTORE_TOKEN, else token-file or token-command, whichever takes precedence. */
function findToken({ env }: Io, values: readonly SourceValue[]): TokenSetting | undefined {
  const originFor = (source: SettingSource) => originOfToken(source, validSettings(values, 'base-url'));
  if (env.PETSTORE_TOKEN) {
    const name = 'PETSTORE_TOKEN';
    const details = { source: 'environment', givenBy: name, origin: originFor('environment') } as const;
    return { kind: 'variable', text: env.PETSTORE_TOKEN, label: name, ...details };
  }
  const [file] = validSettings(values, 'token-file');
  const [command] = validSettings(values, 'token-command');
  const isFile = file && (!command || rankOf(file) <= rankOf(command));
  const setting = isFile ? file : command;
  if (!setting) return undefined;
  const { value: text, source, givenBy } = setting;
  const details = { text, source, givenBy, origin: originFor(source) };
  return isFile
    ? { kind: 'file', label: `token file ${text}`, ...details }
    : { kind: 'command', label: 'token-command', ...details };
}

/**
 * Returns the origin that a token belongs to:
 * - a token from the environment: PETSTORE_BASE_URL, if it is set.
 * - a token at the top level of the config: the base URL at the top level.
 * - any other token: the base URL of the active profile, or else of the top level.
 * - if none of these is set: the base URL of the environment or of the command line.
 *
 * @param source the source of the token.
 * @param baseUrls the base URLs of all sources, in the order of their precedence.
 */
function originOfToken(
  source: SettingSource,
  baseUrls: readonly Pick<Setting<string>, 'value' | 'source'>[],
): string | undefined {
  const from = (...places: SettingSource[]) => baseUrls.find((url) => places.includes(url.source));
  const beside = source === 'environment' || source === 'config' ? from(source) : undefined;
  const owner = beside ?? from('profile', 'config') ?? from('environment') ?? baseUrls[0];
  return owner && originOf(owner);
}

function originOf({ value }: { readonly value: string }): string {
  return new URL(value).origin;
}

/** Returns a setting for people: a duration with its unit, an absolute path; null if it has no value. */
export function shownSetting(key: SettingKey, { value, text }: Setting<unknown>): JsonValue {
  if (value === undefined) return null;
  return key === 'timeout' ? text : maskValue(key, value as JsonValue);
}
