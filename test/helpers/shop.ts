import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answers, runTyping } from './person.ts';
import { type Run, type RunOptions, runCli } from './run-cli.ts';

/** An embedded store in a file of its own, kept from command to command. */
interface Shop extends Disposable {
  readonly file: string;
  run(argv: readonly string[], options?: RunOptions): Promise<Run>;
  /** What a command that must succeed prints as JSON. */
  json(...argv: string[]): Promise<unknown>;
  /** @see runTyping */
  typing(argv: readonly string[], answers: Answers): Promise<Run>;
}

export function openShop(): Shop {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-shop-'));
  const file = join(folder, 'store.json');
  const inStore = (options: RunOptions = {}) => ({
    ...options,
    env: { PETSTORE_OFFLINE_STORE: file, ...options.env },
  });
  return {
    file,
    run: (argv, options) => runCli(['--offline', ...argv], inStore(options)),
    async json(...argv) {
      const { code, stdout, stderr } = await runCli(['--offline', ...argv, '-o', 'json'], inStore());
      if (code !== 0) throw new Error(`${argv.join(' ')}: exit ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    typing: (argv, answers) => runTyping(['--offline', ...argv], answers, inStore()),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
