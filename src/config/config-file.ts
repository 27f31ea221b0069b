import { readFileSync } from 'node:fs';
import { fileErrorReason } from '../file-error.ts';

/** The content of a config file or of one profile: values as they stand in the file, unchecked. */
export type Section = Readonly<Record<string, unknown>>;

/** The config file as it was read: unchecked, but of the right shape. */
export interface ConfigFile {
  readonly path: string;
  /** The name of the active profile. */
  readonly active: string | undefined;
  readonly profiles: Readonly<Record<string, Section>>;
  /** The top level without `profile` and `profiles`. */
  readonly defaults: Section;
  /** Why the file could not be read, a clause; then all of the above is empty. A file that does not exist is no problem. */
  readonly problem: string | undefined;
}

/** Reads the config file without conf, which takes many times as long to load as all else that a small command does. */
export function readConfigFile(path: string): ConfigFile {
  try {
    const { profile, profiles = {}, ...defaults } = parseConfig(readFileSync(path, 'utf8'));
    if (profile !== undefined && typeof profile !== 'string') throw new Error('"profile" is no text');
    if (!isSection(profiles)) throw new Error('"profiles" is no object');
    const wrong = Object.entries(profiles).find(([, section]) => !isSection(section));
    if (wrong) throw new Error(`profile ${wrong[0]} is no object`);
    return {
      path,
      active: profile,
      profiles: profiles as Record<string, Section>,
      defaults,
      problem: undefined,
    };
  } catch (error) {
    const isAbsent = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    return {
      path,
      active: undefined,
      profiles: {},
      defaults: {},
      problem: isAbsent ? undefined : fileErrorReason(error),
    };
  }
}

/** @throws Error for a text that is no JSON object. */
export function parseConfig(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new Error('it is no valid JSON');
  }
  if (!isSection(value)) throw new Error('it is no JSON object');
  return value as Record<string, unknown>;
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
