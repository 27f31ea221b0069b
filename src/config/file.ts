import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { InputError, type UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Io, userId } from '../process/io.ts';
import { isMissing, systemReason } from '../process/system-error.ts';
import { resolvePaths } from './paths.ts';

/** The top level of a config file, or one profile; its values are unchecked. */
export type Section = Readonly<JsonObject>;

/** A parsed config file: its shape is checked, its values are not. */
export interface ConfigFile {
  readonly path: string;
  /** The whole content as it is stored. */
  readonly content: JsonObject;
  /** The name of the active profile. */
  readonly active: string | undefined;
  readonly profiles: Readonly<Record<string, Section>>;
  /** The top level without `profile` and `profiles`. */
  readonly defaults: Section;
  /** The reason why the file could not be read, as a clause. The members above are empty then. A missing file is not a problem. */
  readonly problem: string | undefined;
}

/** Reads the config file. It never throws; the reason for a failure is in `problem`. */
export function readConfigFile(io: Io): ConfigFile {
  const path = resolvePaths(io).configFile;
  try {
    const content = parseConfig(readTrusted(path));
    const { profile, profiles = {}, ...defaults } = content;
    if (profile !== undefined && typeof profile !== 'string') throw new Error('"profile" is not text');
    if (!isSection(profiles)) throw new Error('"profiles" is not an object');
    const invalid = Object.entries(profiles).find(([, section]) => !isSection(section));
    if (invalid) throw new Error(`profile ${invalid[0]} is not an object`);
    return {
      path,
      content,
      active: profile,
      profiles: profiles as Record<string, Section>,
      defaults,
      problem: undefined,
    };
  } catch (error) {
    const problem = isMissing(error) ? undefined : systemReason(error);
    return { ...emptyConfigFile(io), problem };
  }
}

/** Returns an empty config. Commands that do not read the file use it. */
export function emptyConfigFile(io: Io): ConfigFile {
  const path = resolvePaths(io).configFile;
  return { path, content: {}, active: undefined, profiles: {}, defaults: {}, problem: undefined };
}

/** Makes the error about a config file with a problem. @param outcome a clause about the file, such as `; it stays as it is`. */
export function unreadableConfigError({ path, problem }: ConfigFile, outcome = ''): UsageError {
  return new InputError(
    `${path}: ${problem}${outcome}`,
    'repair the file, its owner and its mode (0600), or move it away to start again',
  );
}

/**
 * Reads a file that says where requests go and which commands run. It reads synchronously, because loading
 * `node:fs/promises` takes longer.
 *
 * @throws the error of the system; Error with a clause as its message if another user owns the file or may write it.
 */
export function readTrusted(path: string): string {
  // Without O_NONBLOCK, opening a pipe that has no writer would block the process.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    checkTrusted(fstatSync(file));
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * Checks that this user or root owns the file, and that nobody else may write it, as ssh does for its config. Windows has
 * no owners.
 */
function checkTrusted(stats: Stats): void {
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? 'is a folder' : 'is not a regular file');
  const user = userId();
  if (user === undefined) return;
  const access = `owner ${stats.uid}, mode ${(stats.mode & 0o777).toString(8).padStart(4, '0')}`;
  if (stats.uid !== user && stats.uid !== 0)
    throw new Error(`belongs to another user (${access}), so none of it is used`);
  if ((stats.mode & 0o022) !== 0) throw new Error(`others may write it (${access}), so none of it is used`);
}

/** Parses a config file; an empty file is an empty config. @throws Error if the text is not a JSON object. */
function parseConfig(text: string): JsonObject {
  const json = text.replace(/^\ufeff/, '').trim();
  if (json === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('it is not valid JSON');
  }
  if (!isSection(value)) throw new Error('it is not a JSON object');
  return value;
}

function isSection(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of a key in the config file: of the top level, or of a profile. */
export interface KeyPath {
  readonly profile: string | undefined;
  /** Unchecked: a file may hold an unknown key. */
  readonly key: string;
}

/** Parses a path such as `timeout` or `profiles.staging.timeout`. @param profile the value of `--profile`. */
export function parseKeyPath(text: string, profile: string | undefined): KeyPath {
  const [, name, key] = /^profiles\.(.+)\.([^.]+)$/.exec(text) ?? [];
  return name !== undefined && key !== undefined ? { profile: name, key } : { profile, key: text };
}

/** Writes the path of a key as text. This is the inverse of `parseKeyPath`. */
export function formatKeyPath({ profile, key }: KeyPath): string {
  return profile === undefined ? key : `profiles.${profile}.${key}`;
}
