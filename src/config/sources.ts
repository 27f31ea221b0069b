import { dirname, join, resolve } from 'node:path';
import { colorVariable } from '../output/style.ts';
import { InputError, type UsageCode, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { type ConfigFile, homeFolder } from './file.ts';
import {
  type KeyFlags,
  keyRules,
  parseSetting,
  type SettingKey,
  type SettingValues,
  settingKeys,
  variableName,
} from './keys.ts';

/** The settings of the command line. */
export interface SettingFlags extends KeyFlags {
  readonly profile?: string | undefined;
  readonly offline?: boolean | undefined;
}

/** The inputs from which settings are resolved. */
export interface SettingInputs {
  readonly io: Io;
  readonly flags: SettingFlags;
  readonly file: ConfigFile;
}

/** The sources of values, in the order of their precedence. `config` is the top level of the config file. */
const sources = ['flag', 'environment', 'profile', 'config', 'default'] as const;
export type SettingSource = (typeof sources)[number];

/** Returns the rank of a source. The lowest takes precedence: a flag has 0. */
export function rankOf({ source }: { readonly source: SettingSource }): number {
  return sources.indexOf(source);
}

/** Returns the code of an error in a value from this source. */
export function usageCodeOf(source: SettingSource): UsageCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
}

/** A value of a source, checked. */
export interface Setting<Value> {
  readonly value: Value;
  /** The value as the user wrote it; empty if there is no value. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
  /** The error of a wrong value. The setting then has no value. */
  readonly problem?: UsageError;
}

/** The values that the sources give for each key, in the order of their precedence, without the default. */
export type Candidates = ReadonlyMap<SettingKey, readonly Setting<unknown>[]>;

/**
 * Reads the values of all sources. Each is checked, even if another one takes precedence.
 *
 * @param profile the profile to read; undefined for none.
 */
export function readSources(inputs: SettingInputs, profile: string | undefined): Candidates {
  return new Map(settingKeys.map((key) => [key, candidatesFor(key, inputs, profile)]));
}

function candidatesFor(
  key: SettingKey,
  { io, flags, file }: SettingInputs,
  profile = '',
): readonly Setting<unknown>[] {
  const variable = findVariable(key, io);
  const { isFile } = keyRules[key];
  const read = (source: SettingSource, raw: unknown, givenBy: string): readonly Setting<unknown>[] => {
    if (raw === undefined) return [];
    const isTyped = source === 'flag' || source === 'environment';
    const label = isTyped ? givenBy : `${key} in ${givenBy}`;
    const setting = { value: undefined, text: String(raw), source, givenBy };
    try {
      if (typeof raw === 'object') throw new InputError(`${label}: must be text, a number, true or false`);
      const value = parseSetting(key, setting.text, label, usageCodeOf(source));
      const folder = isTyped ? io.cwd : dirname(file.path);
      return [{ ...setting, value: isFile ? resolve(folder, expandHome(setting.text, io)) : value }];
    } catch (problem) {
      if (!(problem instanceof UsageError)) throw problem;
      return [{ ...setting, problem }];
    }
  };
  return [
    ...read('flag', flags[key], `--${key}`),
    ...read('environment', variable.raw, variable.name),
    ...read('profile', file.profiles[profile]?.[key], `profile ${profile}`),
    ...read('config', file.defaults[key], file.path),
  ];
}

/** Finds the variable that sets a key. An empty variable counts as not set. */
function findVariable(key: SettingKey, { env }: Io): { readonly name: string; readonly raw?: string } {
  const name = variableName(key);
  if (env[name]) return { name, raw: env[name] };
  const color = key === 'color' ? colorVariable(env) : undefined;
  return color ? { name: color.name, raw: color.value } : { name };
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}

/** Returns the settings of a key that have a value, in the order of their precedence. */
export function validSettings<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const settings = candidates.get(key)?.filter(({ value }) => value !== undefined) ?? [];
  return settings as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

/** Returns the setting that takes precedence, else the default. */
export function firstValid<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const first = candidates.get(key)?.find(({ problem }) => !problem);
  const { defaultText: text, parse } = keyRules[key];
  const value = first || text === undefined ? undefined : parse(text);
  const setting = first ?? { value, text: text ?? '', source: 'default', givenBy: '' };
  return setting as Setting<SettingValues[Key]>;
}
