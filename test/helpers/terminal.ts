import { spawn } from 'node:child_process';
import { vi } from 'vitest';
import { cliPath, nodeBinary } from './spawn-cli.ts';

/** The built program in a real terminal, and a person at its keyboard. */
interface Terminal {
  /** Returns the output so far, with its escape sequences. */
  drawn(): string;
  /** Waits until a text appears after the text of the previous wait. */
  until(text: string): Promise<void>;
  press(keys: string): void;
  readonly ended: Promise<{ readonly code: number | null; readonly drawn: string }>;
}

interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns: number;
  /** A file that a pipe gives to the program as its stdin. */
  readonly stdin?: string;
}

export const ctrlC = '\x03';

/** Starts the program in a pseudo-terminal, which `script` of util-linux, or of BSD, opens. */
export function startInTerminal(
  argv: readonly string[],
  { env, cwd, columns, stdin }: TerminalOptions,
): Terminal {
  const program = [nodeBinary, cliPath, ...argv].map((word) => `'${word}'`).join(' ');
  const shell = `stty cols ${columns} rows 40; ${stdin === undefined ? `exec ${program}` : `cat '${stdin}' | ${program}`}`;
  const words =
    process.platform === 'linux'
      ? ['-qefc', shell, '/dev/null']
      : ['-q', '/dev/null', '/bin/sh', '-c', shell];
  const child = spawn('script', words, {
    cwd,
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm-256color', ...env },
  });
  let drawn = '';
  let searchFrom = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    drawn += text;
  });
  const ended = new Promise<{ code: number | null; drawn: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, drawn }));
  });
  return {
    drawn: () => drawn,
    ended,
    press: (keys) => void child.stdin.write(keys),
    async until(text) {
      const isDrawn = () => drawn.includes(text, searchFrom);
      await vi.waitUntil(isDrawn, { timeout: 10_000, interval: 5 }).catch(() => {
        child.kill();
        throw new Error(`'${text}' was never drawn; this was:\n${drawn}`);
      });
      searchFrom = drawn.indexOf(text, searchFrom) + text.length;
    },
  };
}

/** Removes the escape sequences from the output of a terminal. */
export function plainText(drawn: string): string {
  return drawn.replace(/\x1b\[[\d;?]*[a-zA-Z]/g, '').replaceAll('\r\n', '\n');
}
