import { dirname, join, resolve } from 'node:path';
import { InputError, type UsageCode, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { ConfigFile } from './file.ts';
import {
  type KeyFlags,
  keyRules,
  parseSetting,
  type SettingKey,
  type SettingValues,
  settingKeys,
  variableName,
} from './keys.ts';
import { homeFolder } from './paths.ts';
import { colorVariable } from './setting-values.ts';

/** The settings given on the command line. */
export interface SettingFlags extends KeyFlags {
  readonly profile?: string | undefined;
  readonly offline?: boolean | undefined;
}

/** What settings are resolved from. */
export interface SettingInputs {
  readonly io: Io;
  readonly flags: SettingFlags;
  readonly file: ConfigFile;
}

/** The sources of values, in the order of their precedence. `config` is the top level of the config file. */
const sources = ['flag', 'environment', 'profile', 'config', 'default'] as const;
export type SettingSource = (typeof sources)[number];

/** Returns the rank of a source. A lower rank takes precedence: a flag has 0. */
export function rankOf({ source }: { readonly source: SettingSource }): number {
  return sources.indexOf(source);
}

/** Returns the code of an error in a value from this source. */
export function usageCodeOf(source: SettingSource): UsageCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
}

/** A value as a source gives it. */
interface RawValue {
  readonly source: SettingSource;
  /** Undefined if the source does not set the key. */
  readonly raw: unknown;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
  /** The name of the value in errors. */
  readonly label: string;
}

/** A value of a source, checked. */
export interface Setting<Value> {
  readonly value: Value;
  /** The value as the user wrote it; empty if there is no value. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
  /** The error of a wrong value. Its setting has no value and is not used. */
  readonly problem?: UsageError;
}

/** The values that the sources give for each key, in the order of their precedence. The last one has no problem. */
export type Candidates = ReadonlyMap<SettingKey, readonly Setting<unknown>[]>;

/**
 * Reads the values of all sources. Each value is checked, even if another value takes precedence.
 *
 * @param profile the profile whose values count; undefined for none.
 */
export function readLayers(inputs: SettingInputs, profile: string | undefined): Candidates {
  return new Map(settingKeys.map((key) => [key, candidatesFor(key, inputs, profile)]));
}

function candidatesFor(
  key: SettingKey,
  { io, flags, file }: SettingInputs,
  profile = '',
): readonly Setting<unknown>[] {
  const variable = variableOf(key, io);
  const ofProfile = file.profiles[profile]?.[key];
  const given: readonly RawValue[] = [
    { source: 'flag', raw: flags[key], givenBy: `--${key}`, label: `--${key}` },
    { source: 'environment', raw: variable.raw, givenBy: variable.name, label: variable.name },
    {
      source: 'profile',
      raw: ofProfile,
      givenBy: `profile ${profile}`,
      label: `${key} of profile ${profile} in ${file.path}`,
    },
    { source: 'config', raw: file.defaults[key], givenBy: file.path, label: `${key} in ${file.path}` },
    { source: 'default', raw: keyRules[key].defaultText, givenBy: '', label: key },
  ];
  const settings = given.filter(({ raw }) => raw !== undefined).map((each) => toSetting(key, each, io, file));
  return settings.at(-1)?.source === 'default' ? settings : [...settings, noSetting];
}

const noSetting: Setting<undefined> = { value: undefined, text: '', source: 'default', givenBy: '' };

/** Finds the variable that sets a key. An empty variable counts as not set. */
function variableOf(key: SettingKey, { env }: Io): { readonly name: string; readonly raw?: string } {
  const name = variableName(key);
  if (env[name]) return { name, raw: env[name] };
  const color = key === 'color' ? colorVariable(env) : undefined;
  return color ? { name: color.name, raw: color.value } : { name };
}

/** Parses a value. */
function toSetting(
  key: SettingKey,
  { source, raw, givenBy, label }: RawValue,
  io: Io,
  file: ConfigFile,
): Setting<unknown> {
  const text = String(raw);
  const setting = { value: undefined, text, source, givenBy };
  try {
    if (typeof raw === 'object') throw new InputError(`${label}: must be text, a number, true or false`);
    const value = parseSetting(key, text, label, usageCodeOf(source));
    const folder = source === 'flag' || source === 'environment' ? io.cwd : dirname(file.path);
    return { ...setting, value: keyRules[key].isFile ? resolve(folder, expandHome(text, io)) : value };
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    return { ...setting, problem };
  }
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}

/** Returns the settings of a key that have a value, in the order of their precedence. */
export function validSettings<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const settings = candidates.get(key)?.filter(({ value }) => value !== undefined) ?? [];
  return settings as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

/** Returns the setting that takes precedence. */
export function firstValid<Key extends SettingKey>(candidates: Candidates, key: Key) {
  return candidates.get(key)?.find(({ problem }) => !problem) as Setting<SettingValues[Key]>;
}
