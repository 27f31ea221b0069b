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

/** The source of a value; an earlier one takes precedence over a later one. */
const sources = ['flag', 'environment', 'profile', 'config', 'default'] as const;
export type SettingSource = (typeof sources)[number];

/** The rank of a source: that of an earlier one is lower. */
export function rankOf({ source }: { readonly source: SettingSource }): number {
  return sources.indexOf(source);
}

/** Whether the config file gives a value, in the profile or at its top level. */
export function isOfConfig({ source }: { readonly source: SettingSource }): boolean {
  return source === 'profile' || source === 'config';
}

/** The code of an error in a value from this source. */
export function codeOf(source: SettingSource): UsageCode {
  return source === 'flag' ? 'invalid_flag' : 'invalid_input';
}

export interface Setting<Value> {
  readonly value: Value;
  /** The value as it was written; empty if there is none. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gave it; empty for a default. */
  readonly givenBy: string;
}

/** A value that a source gives for a key. One with a problem has no value, and is not used. */
interface Candidate extends Setting<unknown> {
  readonly problem?: UsageError;
}

/** The candidates for each key, that of the highest precedence first, and the default last. */
export type Candidates = ReadonlyMap<SettingKey, readonly Candidate[]>;

/** @param profile the profile whose values count; undefined for none. */
export function candidatesOf(inputs: SettingInputs, profile: string | undefined): Candidates {
  return new Map(settingKeys.map((key) => [key, candidatesFor(key, inputs, profile)]));
}

/** The values of a key, that of the highest precedence first. */
export function valuesOf<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const settings = candidates.get(key)?.filter(({ value }) => value !== undefined) ?? [];
  return settings as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

/**
 * The candidates for a key: each value that flags, environment and config give, checked even if another takes precedence,
 * and the default.
 */
export function candidatesFor(
  key: SettingKey,
  { io, flags, file }: SettingInputs,
  profile: string | undefined,
): readonly Candidate[] {
  const variable = variableOf(key, io);
  const ofProfile = profile === undefined ? undefined : file.profiles[profile]?.[key];
  const candidate = (source: SettingSource, raw: unknown, givenBy: string, label = givenBy): Candidate[] =>
    raw === undefined ? [] : [check(key, raw, { source, givenBy, label, file, io })];
  return [
    ...candidate('flag', flags[flagKey(key)], `--${key}`),
    ...candidate('environment', variable?.value, variable?.name ?? ''),
    ...candidate('profile', ofProfile, `profile ${profile}`, `${key} of profile ${profile} in ${file.path}`),
    ...candidate('config', file.defaults[key], file.path, `${key} in ${file.path}`),
    fallback(key),
  ];
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

/** Where a raw value stands. */
interface Origin extends Pick<Setting<unknown>, 'source' | 'givenBy'>, Pick<SettingInputs, 'io' | 'file'> {
  /** The name of the value in errors: `--timeout`, `PETSTORE_OUTPUT`, `timeout of profile staging in /…/config.json`. */
  readonly label: string;
}

/** A path is relative to the folder of the config file that gives it, else to the current folder. */
function check(key: SettingKey, raw: unknown, { source, givenBy, label, file, io }: Origin): Candidate {
  const { isFile, separator } = keyRules[key];
  const isList = separator !== undefined && Array.isArray(raw);
  const text = isList ? raw.join(separator) : String(raw);
  const setting = { value: undefined, text, source, givenBy };
  try {
    if (typeof raw === 'object' && !isList)
      throw new InputError(`${label}: must be text, a number, true or false`);
    const parsed = parseSetting(key, text, label, codeOf(source));
    const folder = isOfConfig({ source }) ? dirname(file.path) : io.cwd;
    return { ...setting, value: isFile ? resolve(folder, expandHome(text, io)) : parsed };
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    return { ...setting, problem };
  }
}

function fallback(key: SettingKey): Candidate {
  const { fallback: text, parse } = keyRules[key];
  return {
    value: text === undefined ? undefined : parse(text),
    text: text ?? '',
    source: 'default',
    givenBy: '',
  };
}

function expandHome(path: string, io: Io): string {
  return path.startsWith('~/') ? join(homeFolder(io), path.slice(2)) : path;
}
