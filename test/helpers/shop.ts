import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { main } from '../../src/main.ts';
import { fakeIo, type Run, type RunOptions, runCli } from './run-cli.ts';

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

type Answers = readonly (readonly [shown: string, keys: string])[];

/** Runs the program for a person at a terminal, who types each answer when the text before it has been shown. */
export async function runTyping(
  argv: readonly string[],
  answers: Answers,
  options: RunOptions = {},
): Promise<Run> {
  const io = fakeIo({ ...options, terminals: ['stdin', 'stderr'] });
  const keyboard = new PassThrough();
  const seated = { ...io, stdin: { isTerminal: true, bytes: () => keyboard, stream: keyboard } };
  const ended = main(argv, seated);
  for (const [shown, keys] of answers) {
    await until(() => io.written('stderr').includes(shown), shown);
    await sleep(20);
    keyboard.write(keys);
  }
  return { code: await ended, stdout: io.written('stdout'), stderr: io.written('stderr') };
}

async function until(test: () => boolean, what: string): Promise<void> {
  for (let waited = 0; waited < 5000; waited += 10) {
    if (test()) return;
    await sleep(10);
  }
  throw new Error(`'${what}' was never shown`);
}
