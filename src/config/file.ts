import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import {
  CliError,
  InputError,
  isMissing,
  messageOf,
  type OwnCode,
  systemCode,
  systemReason,
  UsageError,
} from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../process/exact-json.ts';
import { type Io, osModule, userId } from '../process/io.ts';
import { shellWord } from '../process/text.ts';

/** The built-in profile: the embedded store. */
export const offlineProfile = 'offline';

/**
 * The variable that `serve` sets for its command, because the base URL is our own server: no binding applies, nor does the profile that
 * the config names.
 */
export const ownServerVariable = 'PETSTORE_BUILT_IN_CONTRACT';

/** The top level of a config file, or one profile; its values are unchecked. */
type Section = Readonly<JsonObject>;

/** A parsed config file. Its shape is checked, its values are not. */
export interface ConfigFile {
  readonly path: string;
  /** The whole content as it is stored. */
  readonly content: JsonObject;
  /** The name of the active profile. */
  readonly active: string | undefined;
  readonly profiles: Readonly<Record<string, Section>>;
  /** The top level without `profile` and `profiles`. */
  readonly defaults: Section;
  /** Why the file could not be read; then the members above are empty. A missing file is not a problem. */
  readonly problem: UsageError | undefined;
}

/** Reads the config file. It never throws; the error is in `problem`. */
export async function readConfigFile(io: Io): Promise<ConfigFile> {
  const empty = emptyConfigFile(io);
  const { path } = empty;
  try {
    return { ...empty, ...(await readContent(path)) };
  } catch (error) {
    if (isMissing(error)) return empty;
    const way = systemCode(error) === 'EACCES' ? 'let your user read it' : 'correct the file';
    const hint = `${way}, or name another folder with PETSTORE_CONFIG_DIR`;
    const problem = new InputError(`${path}: ${systemReason(error)}`, hint);
    return { ...empty, problem };
  }
}

/** Returns the config of a command that does not read the file. */
export function emptyConfigFile(io: Io): ConfigFile {
  const path = resolvePaths(io).configFile;
  return { path, content: {}, active: undefined, profiles: {}, defaults: {}, problem: undefined };
}

/** Reads and checks the content. @throws the error of the system; Error with a clause as its message. */
async function readContent(path: string): Promise<Partial<ConfigFile>> {
  // For a missing file this throws before conf would create its folder.
  withTrusted(path, () => {});
  const content = (await openConfig(path)).store;
  // conf opens the path again, and may have read another file.
  withTrusted(path, () => {});
  const { profile, profiles = {}, ...defaults } = content;
  if (profile !== undefined && typeof profile !== 'string') throw new Error('"profile" is not text');
  if (!isJsonObject(profiles)) throw new Error('"profiles" is not an object');
  const invalid = Object.entries(profiles).find(([, section]) => !isJsonObject(section));
  if (invalid) throw new Error(`profile ${invalid[0]} is not an object`);
  return { content, active: profile, profiles: profiles as Record<string, Section>, defaults };
}

/**
 * Opens a config file with conf. Each reading of `store` reads the whole file, and an assignment to it replaces the file. conf
 * creates the folder if it is missing. The caller checks who may write the file, and holds its lock while it writes.
 *
 * @throws the error of the system; Error with a clause as its message if the text is not a JSON object. So does `store`.
 */
export async function openConfig(path: string): Promise<{ store: JsonObject }> {
  const { default: Conf } = await import('conf');
  return new Conf<JsonObject>({
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    // The name of a profile may have a dot.
    accessPropertiesByDotNotation: false,
    deserialize: parseContent,
    serialize: (content) => `${printJson(content, 2)}\n`,
  });
}

/** Parses the text of a config file; an empty text is an empty config. */
function parseContent(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const content = parseJson(text);
    if (isJsonObject(content)) return content;
  } catch (error) {
    throw new Error(`it is not valid JSON: ${messageOf(error)}`);
  }
  throw new Error('it is not a JSON object');
}

/**
 * Reads a file that decides where requests go and which commands run. It reads synchronously, because loading `node:fs/promises`
 * takes longer.
 *
 * @throws the error of the system; Error with a clause as its message if the path is not a file, or if another user owns it or may
 *   write it.
 */
export function readTrusted(path: string): string {
  return withTrusted(path, (file) => readFileSync(file, 'utf8'));
}

function withTrusted<Value>(path: string, use: (file: number) => Value): Value {
  // Without O_NONBLOCK, opening a pipe without a writer would block the process.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    requireTrusted(path, fstatSync(file));
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** Checks that this user or root owns the file, and that nobody else may write it. Windows has no owners. */
function requireTrusted(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new Error('is not a regular file');
  const { uid, mode } = stats;
  const user = userId();
  if (user === undefined) return;
  const refuse = (why: string, command: string) => {
    const way = `check what it holds, then \`${command} ${shellWord(path)}\``;
    throw new Error(`${why}, so none of it is used; ${way}`);
  };
  if (uid !== user && uid !== 0)
    refuse(`it belongs to user ${uid}, and you are user ${user}`, `chown ${user}`);
  const access = `owner ${uid}, mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if ((mode & 0o022) !== 0) refuse(`others can write to it (${access})`, 'chmod 600');
}

/** Returns the error for an unknown profile. @param givenBy the flag, variable or file that names it. */
export function unknownProfileError(
  name: string,
  { givenBy, code }: { readonly givenBy?: string; readonly code?: OwnCode } = {},
): UsageError {
  return new UsageError(
    `${givenBy === undefined ? '' : `${givenBy}: `}there is no profile '${name}'`,
    'see `petstore profile list`; `petstore profile create <name> --base-url <url>` creates one',
    code,
  );
}

/** The absolute paths of the program's files. */
interface Paths {
  readonly configFile: string;
  readonly stateDir: string;
  /** `:memory:`, or the file that holds the embedded store. */
  readonly offlineStore: string;
}

/** Computes the paths; opens and creates nothing. @see XDG Base Directory Specification: a relative path in its variables is ignored. */
export function resolvePaths(io: Io): Paths {
  const { PETSTORE_CONFIG_DIR, PETSTORE_STATE_DIR, PETSTORE_OFFLINE_STORE } = io.env;
  const stateDir = PETSTORE_STATE_DIR ? resolve(io.cwd, PETSTORE_STATE_DIR) : platformFolders(io).state;
  const configDir = PETSTORE_CONFIG_DIR ? resolve(io.cwd, PETSTORE_CONFIG_DIR) : platformFolders(io).config;
  const store = PETSTORE_OFFLINE_STORE || join(stateDir, 'offline-store.json');
  return {
    configFile: join(configDir, 'config.json'),
    stateDir,
    offlineStore: store === ':memory:' || !PETSTORE_OFFLINE_STORE ? store : resolve(io.cwd, store),
  };
}

/** Throws an error of the state folder again, such as that of a full disk, with a hint, and that nothing was sent. */
export function rethrowAsUnsent(error: unknown): never {
  if (!(error instanceof CliError)) throw error;
  const hint = error.details.hint ?? 'PETSTORE_STATE_DIR names another folder for the journals of new runs';
  throw error.with({ hint }, `${error.message}; nothing was sent`);
}

/** Returns the home folder of the user, or the root folder for a user without one, as in a container. */
export function homeFolder(io: Io): string {
  const { HOME } = io.env;
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // With a relative HOME the config would be in whatever folder is current.
    return osModule().userInfo().homedir;
  } catch {
    return resolve('/');
  }
}

function platformFolders(io: Io): { readonly config: string; readonly state: string } {
  const home = homeFolder(io);
  if (io.platform === 'win32')
    return {
      config: join(io.env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'petstore', 'Config'),
      state: join(io.env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'petstore', 'State'),
    };
  if (io.platform === 'darwin')
    return {
      config: join(home, 'Library', 'Preferences', 'petstore'),
      state: join(home, 'Library', 'Application Support', 'petstore'),
    };
  const { XDG_CONFIG_HOME, XDG_STATE_HOME } = io.env;
  const folder = (variable: string | undefined, usual: string) =>
    join(variable && isAbsolute(variable) ? variable : join(home, usual), 'petstore');
  return { config: folder(XDG_CONFIG_HOME, '.config'), state: folder(XDG_STATE_HOME, '.local/state') };
}
