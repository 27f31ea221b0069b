import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Io } from '../io.ts';

/** Where the program keeps things on this machine; absolute paths. */
interface Paths {
  readonly configFile: string;
  readonly stateDir: string;
  /** `:memory:`, or the file that holds the embedded store. */
  readonly offlineStore: string;
}

/**
 * Names only: nothing is opened or made.
 *
 * @see XDG Base Directory Specification, which wants a relative path in its variables ignored.
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

/** The home of the person who runs this; the root folder where there is none, as in a container of an unknown user. */
export function homeFolder(io: Io): string {
  const { HOME } = io.env;
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // What is no absolute path would make a config of whatever lies in the folder that one is in.
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
    config: join(absolute(io.env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'petstore'),
    state: join(absolute(io.env.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'petstore'),
  };
}

function offlineStore(variable: string | undefined, cwd: string): string | undefined {
  if (!variable) return undefined;
  return variable === ':memory:' ? variable : resolve(cwd, variable);
}

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}
