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

/** The sources of values. An earlier source takes precedence over a later one. */
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

export interface Setting<Value> {
  readonly value: Value;
  /** The value as the user wrote it; empty if there is no value. */
  readonly text: string;
  readonly source: SettingSource;
  /** The flag, variable, profile or file that gives the value; empty for a default. */
  readonly givenBy: string;
}

/** A value that a source gives for a key. A candidate with a problem has no value and is not used. */
interface Candidate extends Setting<unknown> {
  readonly problem?: UsageError;
}

/** The candidates for each key in the order of their precedence; the default is last. */
export type Candidates = ReadonlyMap<SettingKey, readonly Candidate[]>;

/** Collects the candidates for every key. @param profile the profile whose values count; undefined for none. */
export function collectCandidates(inputs: SettingInputs, profile: string | undefined): Candidates {
  return new Map(settingKeys.map((key) => [key, collectForKey(key, inputs, profile)]));
}

/** Returns the candidates for a key that have a value, in the order of their precedence. */
export function validSettings<Key extends SettingKey>(candidates: Candidates, key: Key) {
  const settings = candidates.get(key)?.filter(({ value }) => value !== undefined) ?? [];
  return settings as readonly Setting<NonNullable<SettingValues[Key]>>[];
}

/**
 * Collects the candidates for one key: the values that flags, environment and config give, and the default. Each value is
 * checked, even if another value takes precedence.
 */
export function collectForKey(
  key: SettingKey,
  { io, flags, file }: SettingInputs,
  profile: string | undefined,
): readonly Candidate[] {
  const variable = variableOf(key, io);
  const ofProfile = profile === undefined ? undefined : file.profiles[profile]?.[key];
  const candidate = (source: SettingSource, raw: unknown, givenBy: string, label = givenBy): Candidate[] =>
    raw === undefined ? [] : [toCandidate(key, raw, { source, givenBy, label, file, io })];
  return [
    ...candidate('flag', flags[flagKey(key)], `--${key}`),
    ...candidate('environment', variable?.value, variable?.name ?? ''),
    ...candidate('profile', ofProfile, `profile ${profile}`, `${key} of profile ${profile} in ${file.path}`),
    ...candidate('config', file.defaults[key], file.path, `${key} in ${file.path}`),
    defaultCandidate(key),
  ];
}

/** Finds the variable that sets a key. An empty variable counts as not set. */
function variableOf(
  key: SettingKey,
  { env }: Io,
): { readonly name: string; readonly value: string } | undefined {
  const name = variableName(key);
  const value = env[name];
  if (value) return { name, value };
  return key === 'color' ? colorVariable(env) : undefined;
}

/** Says which source gives a raw value, and how messages call it. */
interface Provenance
  extends Pick<Setting<unknown>, 'source' | 'givenBy'>,
    Pick<SettingInputs, 'io' | 'file'> {
  /** The name of the value in errors, such as `--timeout` or `timeout of profile staging in /…/config.json`. */
  readonly label: string;
}

/**
 * Parses a raw value. A path in the config file is relative to the folder of that file; another path is relative to the
 * current folder.
 */
function toCandidate(
  key: SettingKey,
  raw: unknown,
  { source, givenBy, label, file, io }: Provenance,
): Candidate {
  const { isFile, separator } = keyRules[key];
  const isList = separator !== undefined && Array.isArray(raw);
  const text = isList ? raw.join(separator) : String(raw);
  const setting = { value: undefined, text, source, givenBy };
  try {
    if (typeof raw === 'object' && !isList)
      throw new InputError(`${label}: must be text, a number, true or false`);
    const parsed = parseSetting(key, text, label, usageCodeOf(source));
    const folder = isInConfig({ source }) ? dirname(file.path) : io.cwd;
    return { ...setting, value: isFile ? resolve(folder, expandHome(text, io)) : parsed };
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    return { ...setting, problem };
  }
}

function defaultCandidate(key: SettingKey): Candidate {
  const { defaultText: text, parse } = keyRules[key];
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
