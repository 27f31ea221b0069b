import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Runner, runnerWith } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A config file for one test, in a folder of its own. */
export interface ConfigFolder {
  readonly folder: string;
  readonly path: string;
  /** The environment of a command with this config. */
  readonly env: { readonly PETSTORE_CONFIG_DIR: string };
  /** Writes the file: a text as it is, any other value as JSON. */
  write(content: unknown, mode?: number): void;
  read(): unknown;
  /** Runs a command line with this config. */
  readonly run: Runner;
}

/** Opens a config with this content. Without content, neither the file nor its folder exists yet. */
export function openConfig(content?: unknown): ConfigFolder {
  const folder = join(temporaryFolder(), 'config');
  const path = join(folder, 'config.json');
  const env = { PETSTORE_CONFIG_DIR: folder };
  const config: ConfigFolder = {
    folder,
    path,
    env,
    write(content, mode = 0o600) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
    },
    read: () => JSON.parse(readFileSync(path, 'utf8')),
    run: runnerWith({ env }),
  };
  if (content !== undefined) config.write(content);
  return config;
}
