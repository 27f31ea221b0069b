import { readFileSync } from 'node:fs';
import type { Io } from '../process/io.ts';
import { isMissing, systemReason } from '../process/system-error.ts';
import { resolvePaths } from './paths.ts';

/** The top level of a config file, or one profile; its values are unchecked. */
export type Section = Readonly<Record<string, unknown>>;

/** A parsed config file: its shape is checked, its values are not. */
export interface ConfigFile {
  readonly path: string;
  /** The name of the active profile. */
  readonly active: string | undefined;
  readonly profiles: Readonly<Record<string, Section>>;
  /** The top level without `profile` and `profiles`. */
  readonly defaults: Section;
  /** Why the file could not be read, a clause; the fields above are empty then. A missing file is not a problem. */
  readonly problem: string | undefined;
}

/** Reads the config file without conf, because loading conf takes many times as long as a small command. */
export function readConfigFile(io: Io): ConfigFile {
  const path = resolvePaths(io).configFile;
  try {
    const { profile, profiles = {}, ...defaults } = parseConfig(readFileSync(path, 'utf8'));
    if (profile !== undefined && typeof profile !== 'string') throw new Error('"profile" is not text');
    if (!isSection(profiles)) throw new Error('"profiles" is not an object');
    const wrong = Object.entries(profiles).find(([, section]) => !isSection(section));
    if (wrong) throw new Error(`profile ${wrong[0]} is not an object`);
    return {
      path,
      active: profile,
      profiles: profiles as Record<string, Section>,
      defaults,
      problem: undefined,
    };
  } catch (error) {
    const problem = isMissing(error) ? undefined : systemReason(error);
    return { path, active: undefined, profiles: {}, defaults: {}, problem };
  }
}

/** The content of a config file; an empty file is an empty config. @throws Error if the text is not a JSON object. */
export function parseConfig(text: string): Record<string, unknown> {
  const json = text.replace(/^\ufeff/, '').trim();
  if (json === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('it is not valid JSON');
  }
  if (!isSection(value)) throw new Error('it is not a JSON object');
  return value as Record<string, unknown>;
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A place in the config file: a key of the top level or of a profile. */
export interface Address {
  readonly profile: string | undefined;
  /** Unchecked: a file may hold an unknown key. */
  readonly key: string;
}

/** The place that `timeout` or `profiles.staging.timeout` names; `profile` is that of `--profile`. */
export function parseAddress(text: string, profile: string | undefined): Address {
  const [, name, key] = /^profiles\.(.+)\.([^.]+)$/.exec(text) ?? [];
  return name !== undefined && key !== undefined ? { profile: name, key } : { profile, key: text };
}

/** The text of an address; the inverse of `parseAddress`. */
export function formatAddress({ profile, key }: Address): string {
  return profile === undefined ? key : `profiles.${profile}.${key}`;
}
