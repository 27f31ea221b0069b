import { spawn } from 'node:child_process';
import type { Io } from '../process/io.ts';
import type { Interrupts } from '../process/signals.ts';

/** The pager if `PAGER` is not set. -F ends it at once if the text fits, -R shows colours, -X leaves the text on the screen. */
const usualPager = 'less -FRX';

/** The part of a context that a pager needs. */
interface PagerContext {
  readonly io: Io;
  readonly interrupts: Interrupts;
}

/**
 * Prints a text on stdout: through a pager if stdout is a terminal that is lower than the text, as git does. Without a
 * pager, such as on a machine without less, the whole text is printed at once.
 */
export async function printLong({ io, interrupts }: PagerContext, text: string): Promise<void> {
  const pager = findPager(io);
  const lines = text.split('\n').length;
  if (pager !== undefined && lines > (io.stdout.height ?? 24)) {
    // Ctrl-C belongs to the pager.
    const release = interrupts.takeOver(() => {});
    try {
      if (await runPager(pager, text, io)) return;
    } finally {
      release();
    }
  }
  await io.stdout.write(text);
}

/** Returns the command line of the pager. Undefined if nobody can use one, or `PAGER` is empty or `cat`. */
function findPager({ stdin, stdout, env, platform }: Io): string | undefined {
  const { PAGER = platform === 'win32' ? '' : usualPager, TERM, CI } = env;
  const pager = PAGER.trim();
  const canPage = stdin.isTerminal && stdout.isTerminal && TERM !== 'dumb' && !CI;
  return !canPage || pager === '' || pager === 'cat' ? undefined : pager;
}

/** Runs a pager in a shell, because the variable may hold arguments. Returns false if there is no such program. */
function runPager(pager: string, text: string, { env }: Io): Promise<boolean> {
  return new Promise((resolve) => {
    // As git does: `PAGER=less` gets the options of the usual pager, unless the user has others.
    const pagerEnv = { LESS: 'FRX', LV: '-c', ...env };
    const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'ignore'], env: pagerEnv });
    child.on('error', () => resolve(false));
    // A shell ends with 126 or 127 if it finds no program.
    child.on('close', (code) => resolve(code !== 126 && code !== 127));
    // A person may leave the pager before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(text);
  });
}
