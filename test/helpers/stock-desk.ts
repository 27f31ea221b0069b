import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Run, type RunOptions, runCli } from './run-cli.ts';
import { type Counts, type StockServer, stockServer } from './stock-server.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A person with a folder of files, at work on one service. */
export interface StockDesk {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  write(name: string, text: string): void;
  read(name: string): string;
  files(): string[];
  /** The path of the journal of a run, whose id is as a summary has it. */
  journal(run: unknown): string;
  /** `petstore inventory <words>`; `runs`, `resume` and `undo` are commands of their own. */
  inventory(words: readonly string[], options?: RunOptions): Promise<Run>;
  /** The same, with the summary that it prints as JSON. */
  summary(words: readonly string[], options?: RunOptions): Promise<Summary>;
}

interface Summary extends Record<string, unknown> {
  readonly code: number;
  readonly stderr: string;
}

/** The commands of runs, which are no verbs of `inventory`. */
const runVerbs = new Set(['runs', 'resume', 'undo']);

export function stockDesk(server: Pick<StockServer, 'url'>): StockDesk {
  const folder = temporaryFolder();
  const env = { PETSTORE_STATE_DIR: join(folder, 'state'), PETSTORE_BASE_URL: server.url };
  const inventory = (words: readonly string[], options: RunOptions = {}) =>
    runCli(runVerbs.has(words[0] ?? '') ? words : ['inventory', ...words], {
      cwd: folder,
      ...options,
      env: { ...env, ...options.env },
    });
  return {
    folder,
    env,
    write: (name, text) => writeFileSync(join(folder, name), text),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    files: () => readdirSync(folder).sort(),
    journal: (run) => join(folder, 'state', 'runs', `${run}.jsonl`),
    inventory,
    async summary(words, options) {
      const { code, stdout, stderr } = await inventory([...words, '-o', 'json'], options);
      return { ...(stdout === '' ? {} : JSON.parse(stdout)), code, stderr };
    },
  };
}

/** A service with these counts, and a person with these files at work on it. */
export async function stockShop(
  counts: Counts,
  files: Readonly<Record<string, string>> = {},
): Promise<StockServer & StockDesk> {
  const server = await stockServer(counts);
  const shop = Object.assign(server, stockDesk(server));
  for (const [name, text] of Object.entries(files)) shop.write(name, text);
  return shop;
}
