import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Io } from '../process/io.ts';

/** The absolute paths of the program's files. */
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
  const store = PETSTORE_OFFLINE_STORE || join(stateDir, 'offline-store.json');
  return {
    configFile: join(configDir, 'config.json'),
    stateDir,
    offlineStore: store === ':memory:' || !PETSTORE_OFFLINE_STORE ? store : resolve(io.cwd, store),
  };
}

/** Returns the home folder of the user, or the root folder for a user without one, as in a container. */
export function homeFolder(io: Io): string {
  const { HOME } = io.env;
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // With a relative HOME the config would be in the current folder.
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
  const { XDG_CONFIG_HOME, XDG_STATE_HOME } = io.env;
  const folder = (variable: string | undefined, usual: string) =>
    join(variable && isAbsolute(variable) ? variable : join(home, usual), 'petstore');
  return { config: folder(XDG_CONFIG_HOME, '.config'), state: folder(XDG_STATE_HOME, '.local/state') };
}
