import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Run, type RunOptions, runCli } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A config file for one test, in a folder that does not exist yet. */
export interface ConfigFolder {
  readonly path: string;
  /** Writes the file: a text as it is, any other value as JSON. */
  write(content: unknown, mode?: number): void;
  /** Reads the file as JSON. */
  read(): unknown;
  /** Runs a command line with this config. */
  run(line: string, env?: Readonly<Record<string, string>>, options?: RunOptions): Promise<Run>;
}

export function openConfig(): ConfigFolder {
  const path = join(temporaryFolder(), 'config', 'config.json');
  return {
    path,
    write(content, mode = 0o600) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
    },
    read: () => JSON.parse(readFileSync(path, 'utf8')),
    run: (line, env = {}, options = {}) =>
      runCli(line.split(' '), { ...options, env: { PETSTORE_CONFIG_DIR: dirname(path), ...env } }),
  };
}
