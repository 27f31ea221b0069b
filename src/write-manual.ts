import { writeFile } from 'node:fs/promises';
import { version } from '../package.json';
import { toManual } from './cli/manual.ts';
import { program } from './commands/index.ts';

/** Writes the manual page to a file; the build bundles this, runs it and removes it. */
export async function writeManual(file: string): Promise<void> {
  await writeFile(file, await toManual(program, version));
}
