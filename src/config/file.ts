import { InputError, type UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { isMissing, systemCode, systemReason } from '../process/system-error.ts';
import { resolvePaths } from './paths.ts';
import { checkTrusted, UntrustedFileError } from './trusted-file.ts';

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
  /** What the user can do about the problem; empty without one. */
  readonly remedy: string;
}

/** Reads the config file. It never throws; the reason for a failure is in `problem`. */
export async function readConfigFile(io: Io): Promise<ConfigFile> {
  const empty = emptyConfigFile(io);
  try {
    return { ...empty, ...(await readContent(empty.path)) };
  } catch (error) {
    if (isMissing(error)) return empty;
    const remedy =
      error instanceof UntrustedFileError
        ? error.remedy
        : systemCode(error) === 'EACCES'
          ? 'let your user read it, or name another folder with PETSTORE_CONFIG_DIR'
          : 'correct the file, or move it away to start again';
    return { ...empty, problem: systemReason(error), remedy };
  }
}

/** Reads and checks the content. @throws the error of the system; Error with a clause as its message. */
async function readContent(path: string): Promise<Partial<ConfigFile>> {
  checkTrusted(path);
  // Without a file, conf would make the folder, and nothing needs to load it.
  const { openStore } = await import('./config-store.ts');
  const content = openStore(path).store;
  // conf opens the path anew, so it may have read another file.
  checkTrusted(path);
  const { profile, profiles = {}, ...defaults } = content;
  if (profile !== undefined && typeof profile !== 'string') throw new Error('"profile" is not text');
  if (!isJsonObject(profiles)) throw new Error('"profiles" is not an object');
  const invalid = Object.entries(profiles).find(([, section]) => !isJsonObject(section));
  if (invalid) throw new Error(`profile ${invalid[0]} is not an object`);
  return { content, active: profile, profiles: profiles as Record<string, Section>, defaults };
}

/** Returns an empty config. Commands that do not read the file use it. */
export function emptyConfigFile(io: Io): ConfigFile {
  const path = resolvePaths(io).configFile;
  return { path, content: {}, active: undefined, profiles: {}, defaults: {}, problem: undefined, remedy: '' };
}

/** Makes the error about a config file with a problem. @param outcome a clause about the file, such as `; it stays as it is`. */
export function unreadableConfigError({ path, problem, remedy }: ConfigFile, outcome = ''): UsageError {
  return new InputError(`${path}: ${problem}${outcome}`, remedy);
}
