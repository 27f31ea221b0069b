import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Line, type Runner, type RunOptions, runnerWith, wordsOf } from './run-cli.ts';
import { type Counts, type StockServer, stockServer } from './stock-server.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A folder of files, in which commands run against one service. */
export interface Workspace {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  write(name: string, text: string): void;
  read(name: string): string;
  files(): string[];
  /** Returns the path of the journal of a run. @param run the id, as in a summary. */
  journal(run: unknown): string;
  readonly run: Runner;
  /** Runs `petstore <line> -o json`, and returns its summary and its error. */
  report(line: Line, options?: RunOptions): Promise<Report>;
  /** Returns the states of the rows of a run, by the id of their record. */
  states(run: string): Promise<Record<string, string>>;
}

interface Report extends Record<string, unknown> {
  readonly code: number;
  readonly stderr: string;
  readonly error:
    | {
        readonly code?: string;
        readonly message: string;
        readonly hint?: string;
        readonly retryable?: boolean;
      }
    | undefined;
}

export function openWorkspace(server: Pick<StockServer, 'url'>): Workspace {
  const folder = temporaryFolder();
  const env = { PETSTORE_STATE_DIR: join(folder, 'state'), PETSTORE_BASE_URL: server.url };
  const run = runnerWith({ cwd: folder, env });
  return {
    folder,
    env,
    run,
    async report(line, options) {
      const { code, stdout, stderr } = await run([...wordsOf(line), '-o', 'json'], options);
      const error = parseJson(stderr.trimEnd().split('\n').at(-1) ?? '')?.error as Report['error'];
      return { ...parseJson(stdout), code, stderr, error };
    },
    async states(id) {
      const rows = JSON.parse((await run(`runs show ${id} -o json`)).stdout) as Record<string, unknown>[];
      return Object.fromEntries(rows.map(({ id, petId, state }) => [id ?? petId, state]));
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    files: () => readdirSync(folder).sort(),
    journal: (run) => join(folder, 'state', 'runs', `${run}.jsonl`),
  };
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Starts a service with these counts, and opens a folder of these files for it. */
export async function stockShop(
  counts: Counts,
  files: Readonly<Record<string, string>> = {},
): Promise<StockServer & Workspace> {
  const server = await stockServer(counts);
  const shop = Object.assign(server, openWorkspace(server));
  for (const [name, text] of Object.entries(files)) shop.write(name, text);
  return shop;
}
