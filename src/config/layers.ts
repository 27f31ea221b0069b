import { dirname, join, resolve } from 'node:path';
import { InputError, type UsageCode, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { ConfigFile } from './file.ts';
import {
  flagKey,
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

/** Whether the config file gives the value, in a profile or at its top level. */
export function isInConfig({ source }: { readonly source: SettingSource }): boolean {
  return source === 'profile' || source === 'config';
}

/** Returns the code of an error in a value from this source. */
export function usageCodeOf(source: SettingSource): UsageCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
}

/** The values that one source gives. */
interface Layer {
  readonly source: SettingSource;
  /** The folder to which its relative paths are relative. */
  readonly folder: string;
  find(key: SettingKey): RawValue | undefined;
}

/** A value as a source gives it. */
interface RawValue {
  /** Undefined if the source does not set the key. */
  readonly raw: unknown;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
  /** The name of the value in errors, if that is longer: `timeout of profile staging in /…/config.json`. */
  readonly label?: string;
}

/** Returns the chain of layers; an earlier one takes precedence. @param profile the profile whose values count, if any. */
function layersOf({ io, flags, file }: SettingInputs, profile: string | undefined): readonly Layer[] {
  const section = profile === undefined ? {} : (file.profiles[profile] ?? {});
  const label = (key: string, place = '') => `${key}${place} in ${file.path}`;
  const folder = dirname(file.path);
  return [
    {
      source: 'flag',
      folder: io.cwd,
      find: (key) => ({ raw: flags[flagKey(key)], givenBy: `--${key}` }),
    },
    {
      source: 'environment',
      folder: io.cwd,
      find: (key) => variableOf(key, io),
    },
    {
      source: 'profile',
      folder,
      find: (key) => ({
        raw: section[key],
        givenBy: `profile ${profile}`,
        label: label(key, ` of profile ${profile}`),
      }),
    },
    {
      source: 'config',
      folder,
      find: (key) => ({ raw: file.defaults[key], givenBy: file.path, label: label(key) }),
    },
    {
      source: 'default',
      folder,
      find: (key) => ({ raw: keyRules[key].defaultText, givenBy: '' }),
    },
  ];
}

/** Finds the variable that sets a key. An empty variable counts as not set. */
function variableOf(key: SettingKey, { env }: Io): RawValue | undefined {
  const name = variableName(key);
  if (env[name]) return { raw: env[name], givenBy: name };
  const color = key === 'color' ? colorVariable(env) : undefined;
  return color && { raw: color.value, givenBy: color.name };
}

/** A value of a layer, checked. */
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

/** The values that the layers give for each key, in the order of their precedence. The last one has no problem. */
export type Candidates = ReadonlyMap<SettingKey, readonly Setting<unknown>[]>;

/**
 * Reads all layers. Each value is checked, even if another value takes precedence.
 *
 * @param profile the profile whose values count; undefined for none.
 */
export function readLayers(inputs: SettingInputs, profile: string | undefined): Candidates {
  const layers = layersOf(inputs, profile);
  return new Map(settingKeys.map((key) => [key, candidatesFor(key, layers, inputs.io)]));
}

function candidatesFor(key: SettingKey, layers: readonly Layer[], io: Io): readonly Setting<unknown>[] {
  const candidates = layers.flatMap((layer) => {
    const value = layer.find(key);
    return value?.raw === undefined ? [] : [toSetting(key, value, layer, io)];
  });
  return candidates.at(-1)?.source === 'default' ? candidates : [...candidates, noSetting];
}

const noSetting: Setting<undefined> = { value: undefined, text: '', source: 'default', givenBy: '' };

/** Returns the settings of a key that have a value, in the order of their precedence. */
export function validSettings<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const settings = candidates.get(key)?.filter(({ value }) => value !== undefined) ?? [];
  return settings as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

/** Returns the setting that takes precedence. */
export function firstValid<Key extends SettingKey>(candidates: Candidates, key: Key) {
  return candidates.get(key)?.find(({ problem }) => !problem) as Setting<SettingValues[Key]>;
}

/** Parses a value of a layer. */
function toSetting(
  key: SettingKey,
  { raw, givenBy, label = givenBy }: RawValue,
  { source, folder }: Layer,
  io: Io,
): Setting<unknown> {
  const text = String(raw);
  const setting = { value: undefined, text, source, givenBy };
  try {
    if (typeof raw === 'object') throw new InputError(`${label}: must be text, a number, true or false`);
    const value = parseSetting(key, text, label, usageCodeOf(source));
    return { ...setting, value: keyRules[key].isFile ? resolve(folder, expandHome(text, io)) : value };
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    return { ...setting, problem };
  }
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}
