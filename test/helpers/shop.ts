import { join } from 'node:path';
import { type Answers, runTyping } from './person.ts';
import { type Line, type Run, type RunOptions, runCli, wordsOf } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** An embedded store in a new file, which stays from command to command. */
interface Shop {
  readonly file: string;
  run(line: Line, options?: RunOptions): Promise<Run>;
  /** Runs a command that must succeed, and returns its JSON. */
  json(line: Line): Promise<unknown>;
  /** @see runTyping */
  typing(line: Line, answers: Answers): Promise<Run>;
}

export function openShop(): Shop {
  const folder = temporaryFolder();
  const file = join(folder, 'store.json');
  const inStore = (options: RunOptions = {}) => ({
    ...options,
    env: { PETSTORE_OFFLINE_STORE: file, PETSTORE_STATE_DIR: join(folder, 'state'), ...options.env },
  });
  return {
    file,
    run: (line, options) => runCli(['--offline', ...wordsOf(line)], inStore(options)),
    async json(line) {
      const argv = ['--offline', ...wordsOf(line), '-o', 'json'];
      const { code, stdout, stderr } = await runCli(argv, inStore());
      if (code !== 0) throw new Error(`${line}: exit ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    typing: (line, answers) => runTyping(['--offline', ...wordsOf(line)], answers, inStore()),
  };
}
