import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../package.json';
import { completionFiles } from './commands/completion/scripts.ts';
import { readTree } from './commands/completion/tree.ts';
import { toManual } from './commands/help/manual.ts';
import { topicNames } from './commands/help/topic-names.ts';
import { createWholeProgram } from './commands/program.ts';
import { createContext } from './context.ts';
import { processIo } from './io.ts';

/** Writes the manual page to `file`. */
export async function writeManual(file: string): Promise<void> {
  await writeFile(file, toManual(await wholeProgram(), version));
}

/** Writes the completion script of each shell into `folder`. */
export async function writeCompletions(folder: string): Promise<void> {
  const files = completionFiles(readTree(await wholeProgram(), topicNames));
  await Promise.all([...files].map(([name, text]) => writeFile(join(folder, name), text)));
}

function wholeProgram() {
  return createWholeProgram(createContext(processIo()));
}
