import { dirname } from 'node:path';
import { CliError, UsageError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import { ensurePrivateFolder } from '../files.ts';
import type { Io } from '../io.ts';
import { withLock } from '../lock.ts';
import { parseConfig, readConfigFile } from './config-file.ts';
import { resolvePaths } from './paths.ts';

/** The config file's content, to be changed in place. */
export interface ConfigDraft {
  profile?: string;
  profiles?: Record<string, Record<string, unknown>>;
  [key: string]: unknown;
}

/**
 * Changes the config file: what `edit` leaves is stored, unless it throws. conf alone would let two processes overwrite
 * each other's changes and let everybody read the file: so it works under a lock, with modes of ours.
 *
 * @throws UsageError where the file cannot be read as a config: it stays as it is; CliError `failed` where it cannot be
 *   written.
 */
export async function editConfig<Value>(io: Io, edit: (config: ConfigDraft) => Value): Promise<Value> {
  const path = resolvePaths(io).configFile;
  const { default: Conf } = await import('conf');
  await ensurePrivateFolder(dirname(path));
  return withLock(path, async () => {
    refuseUnreadable(path);
    try {
      const conf = new Conf({
        cwd: dirname(path),
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
        deserialize: parseConfig,
      });
      const draft = structuredClone({ ...conf.store }) as ConfigDraft;
      const value = edit(draft);
      conf.store = draft;
      return value;
    } catch (error) {
      throw error instanceof CliError ? error : fileError('write', path, error);
    }
  });
}

function refuseUnreadable(path: string): void {
  const { problem } = readConfigFile(path);
  if (problem === undefined) return;
  throw new UsageError(
    `${path} cannot be read: ${problem}; it stays as it is`,
    'mend the file, or move it away to start again',
  );
}
