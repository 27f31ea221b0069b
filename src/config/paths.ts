import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Io } from '../process/io.ts';

/** The locations of the program's files; absolute paths. */
interface Paths {
  readonly configFile: string;
  readonly stateDir: string;
  /** `:memory:`, or the file that holds the embedded store. */
  readonly offlineStore: string;
}

/**
 * Computes the paths; opens and creates nothing.
 *
 * @see XDG Base Directory Specification: a relative path in its variables is ignored.
 */
export function resolvePaths(io: Io): Paths {
  const { PETSTORE_CONFIG_DIR, PETSTORE_STATE_DIR, PETSTORE_OFFLINE_STORE } = io.env;
  const stateDir = PETSTORE_STATE_DIR ? resolve(io.cwd, PETSTORE_STATE_DIR) : platformFolders(io).state;
  const configDir = PETSTORE_CONFIG_DIR ? resolve(io.cwd, PETSTORE_CONFIG_DIR) : platformFolders(io).config;
  return {
    configFile: join(configDir, 'config.json'),
    stateDir,
    offlineStore: offlineStore(PETSTORE_OFFLINE_STORE, io.cwd) ?? join(stateDir, 'offline-store.json'),
  };
}

/** The home of the user; the root folder if there is none, as in a container of an unknown user. */
export function homeFolder(io: Io): string {
  const { HOME } = io.env;
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // A relative path would turn a file of the current folder into the config.
    return HOME === undefined ? homedir() : userInfo().homedir;
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
  return {
    config: join(userFolder(io, 'XDG_CONFIG_HOME'), 'petstore'),
    state: join(userFolder(io, 'XDG_STATE_HOME'), 'petstore'),
  };
}

const xdgDefaults = {
  XDG_CONFIG_HOME: '.config',
  XDG_STATE_HOME: '.local/state',
} as const;

/** A folder of the user that all programs share, whether it exists or not. */
function userFolder(io: Io, variable: keyof typeof xdgDefaults): string {
  const named = io.env[variable];
  return named && isAbsolute(named) ? named : join(homeFolder(io), xdgDefaults[variable]);
}

function offlineStore(variable: string | undefined, cwd: string): string | undefined {
  if (!variable) return undefined;
  return variable === ':memory:' ? variable : resolve(cwd, variable);
}
