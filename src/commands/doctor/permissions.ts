import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { resolvePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { shellWord } from '../../text.ts';
import { ok, type Verdict, warn } from './finding.ts';

/** Whether secrets are private, and config and state can be written. */
export function checkPermissions({ io }: Context, settings: Settings | undefined): Verdict {
  const { configFile, stateDir, offlineStore } = resolvePaths(io);
  const isPosix = io.platform !== 'win32';
  if (isPosix && isOpenToOthers(dirname(configFile), 0o022))
    return warn(
      'permissions',
      `others may write to ${dirname(configFile)}, and so choose where commands go`,
      `chmod go-w ${shellWord(dirname(configFile))}`,
    );
  const secret = [configFile, settings?.get('token-file'), settings?.get('client-key')].filter(
    (path) => path !== undefined,
  );
  // On Windows a mode says nothing of who may read a file.
  const open = isPosix ? secret.filter((path) => isOpenToOthers(path, 0o077)) : [];
  if (open.length > 0)
    return warn(
      'permissions',
      `others may read ${open.join(', ')}`,
      `chmod 600 ${open.map(shellWord).join(' ')}`,
    );
  const places = [
    dirname(configFile),
    stateDir,
    ...(offlineStore === ':memory:' ? [] : [dirname(offlineStore)]),
  ];
  const closed = [...new Set(places)].filter((place) => !canBeWritten(place));
  if (closed.length > 0)
    return warn(
      'permissions',
      `${closed.join(', ')} cannot be written to; reading works all the same`,
      'name other folders with PETSTORE_CONFIG_DIR and PETSTORE_STATE_DIR',
    );
  return ok('permissions', 'what is secret is private; config and state can be written');
}

/**
 * Whether the group or others have one of these rights to a file or folder; false for a pipe, and where there is none or
 * nothing can be seen of it.
 */
function isOpenToOthers(path: string, rights: number): boolean {
  try {
    const status = statSync(path);
    return !status.isFIFO() && (status.mode & rights) !== 0;
  } catch {
    return false;
  }
}

/** A folder that does not exist can be made where the nearest one above it can be written. */
function canBeWritten(folder: string): boolean {
  if (!existsSync(folder) && dirname(folder) !== folder) return canBeWritten(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
