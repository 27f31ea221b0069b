import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { cliPath, nodeBinary } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testWith } from '../helpers/tools.ts';

const test = testWith('script');

/** Starts the program in a terminal of its own, closes that once the text is drawn, and returns the exit code. */
async function codeWhenClosed(argv: readonly string[], text: string) {
  const folder = temporaryFolder();
  const result = join(folder, 'code');
  const program = [nodeBinary, cliPath, ...argv].map((word) => `'${word}'`).join(' ');
  const start = `sh -c 'echo $$ > ${folder}/pid; exec "$@"' sh ${program}`;
  const line = `trap '' HUP; ${start}; echo "code $?" > '${result}'`;
  const shell = { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm' };
  const env = { ...shell, PETSTORE_STATE_DIR: folder, PETSTORE_CONFIG_DIR: folder };
  const child = spawn('script', ['-qefc', line, '/dev/null'], { env });
  let drawn = '';
  child.stdout.on('data', (piece) => {
    drawn += piece;
  });
  while (!drawn.includes(text)) {
    if (child.exitCode !== null) throw new Error(drawn);
    await sleep(10);
  }
  // Without its other end the terminal is gone, and a shell hangs up its jobs.
  child.kill('SIGKILL');
  process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGHUP');
  while (!existsSync(result) || !readFileSync(result, 'utf8').endsWith('\n')) await sleep(10);
  return readFileSync(result, 'utf8').trim();
}

test.each([
  ['a list that is watched', ['pets', 'list', '--offline', '--watch'], 'Luna'],
  ['a question', ['pets', 'create', '--offline'], 'Name'],
])('a terminal that is closed ends %s with 129, and not with a native stack', async (_, argv, text) => {
  expect(await codeWhenClosed(argv, text)).toBe('code 129');
});
