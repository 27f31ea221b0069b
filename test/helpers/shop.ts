import { join } from 'node:path';
import { type Answers, runTyping } from './person.ts';
import { type Line, type Run, type Runner, runnerWith, wordsOf } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** An embedded store in a new file, which stays from command to command. */
interface Shop {
  readonly file: string;
  readonly run: Runner;
  /** Runs a command that must succeed, and returns its JSON. */
  json(line: Line): Promise<unknown>;
  typing(line: Line, answers: Answers): Promise<Run>;
}

export function openShop(): Shop {
  const folder = temporaryFolder();
  const file = join(folder, 'store.json');
  const env = { PETSTORE_OFFLINE_STORE: file, PETSTORE_STATE_DIR: join(folder, 'state') };
  const runInStore = runnerWith({ env });
  const run: Runner = (line, options) => runInStore(['--offline', ...wordsOf(line)], options);
  return {
    file,
    run,
    async json(line) {
      const { code, stdout, stderr } = await run([...wordsOf(line), '-o', 'json']);
      if (code !== 0) throw new Error(`${line}: exit ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    typing: (line, answers) => runTyping(['--offline', ...wordsOf(line)], answers, { env }),
  };
}
