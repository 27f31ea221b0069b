import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, InterruptedError, messageOf, UsageError } from '../process/errors.ts';
import type { Io, Signal } from '../process/io.ts';
import type { Interrupts } from '../process/signals.ts';
import { fileError } from '../process/system-error.ts';
import { sanitizeExcept, shellWord } from '../process/text.ts';

/** A text in a file that only its owner may read, for a person to change in an editor. */
interface Draft {
  readonly path: string;
  /**
   * Writes the text, runs the editor until it ends, and returns the saved text without the comments at its top. The file
   * then has none either, so that a command takes it as it is.
   */
  edit(text: string): Promise<string>;
  /** Removes the file. If it is not called the file stays, and a message must name it. */
  discard(): Promise<void>;
}

/**
 * The command line of the editor: `$VISUAL`, `$EDITOR`, or `vi` at a terminal.
 *
 * @throws UsageError if neither variable is set and there is no terminal for vi.
 */
export function findEditor(
  { io, flags }: { readonly io: Io; readonly flags: { readonly noInput?: boolean | undefined } },
  what: string,
): string {
  const { env, stdin, stdout } = io;
  const command = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (command) return command;
  if (stdin.isTerminal && stdout.isTerminal && !env.CI && !flags.noInput) return 'vi';
  throw new UsageError(`${what}: no editor is set, and there is no terminal`, 'set VISUAL or EDITOR');
}

/**
 * @param editor as `findEditor` returns it.
 * @param name of the file; its extension tells the editor the format.
 */
export async function openDraft(
  { io, interrupts }: { readonly io: Io; readonly interrupts: Interrupts },
  editor: string,
  name: string,
): Promise<Draft> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-edit-')).catch((error) => {
    throw fileError('make a folder in', tmpdir(), error);
  });
  const path = join(folder, name);
  const write = (text: string) =>
    writeFile(path, text, { mode: 0o600 }).catch((error) => {
      throw fileError('write', path, error);
    });
  const read = () =>
    readFile(path, 'utf8').catch((error) => {
      throw fileError('read', path, error);
    });
  return {
    path,
    async edit(text) {
      await write(text);
      try {
        await runEditor(io, `${editor} ${quotePath(path, io.platform)}`, interrupts);
      } finally {
        await write(withoutComments(await read()));
      }
      return read();
    },
    discard: () => rm(dirname(path), { recursive: true, force: true }).catch(() => {}),
  };
}

interface Editing<Value> {
  /** What is edited, for errors: `edit pet 3`. */
  readonly what: string;
  /** Comment lines on top of the text. */
  readonly usage: string;
  readonly original: string;
  /** @throws an error that says what is wrong with the text. */
  parse(text: string): Promise<Value>;
}

/**
 * Opens the editor until the saved text is valid; undefined if it is saved unchanged or empty. After an error the editor
 * opens again with the reason on top.
 *
 * @throws UsageError if a text that is not valid is saved a second time without a change.
 */
export async function editUntilValid<Value>(
  draft: Draft,
  { what, usage, original, parse }: Editing<Value>,
): Promise<Value | undefined> {
  let text = original;
  let problem: string | undefined;
  for (;;) {
    const why = problem === undefined ? '' : problem.replace(/^/gm, '# error: ').concat('\n');
    const saved = await draft.edit(`${why}${usage}${text}`);
    if (saved.trim() === '' || saved.trimEnd() === original.trimEnd()) return undefined;
    if (problem !== undefined && saved.trimEnd() === text.trimEnd())
      throw new UsageError(`${what}: ${problem.split('\n')[0]?.replace(/:$/, '')}`);
    text = saved;
    try {
      return await parse(saved);
    } catch (error) {
      problem = sanitizeExcept(messageOf(error), '\n');
    }
  }
}

/** The text without the comments at its top, which hold the usage and the last error. */
function withoutComments(text: string): string {
  return text.replace(/^(?:#[^\n]*(?:\n|$))+/, '');
}

function quotePath(path: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? `"${path}"` : shellWord(path);
}

/** Runs it in a shell, because the variable may hold arguments: `code --wait`. */
async function runEditor(io: Io, line: string, interrupts: Interrupts): Promise<void> {
  const child = spawn(line, { shell: true, stdio: 'inherit', env: { ...io.env } });
  let endingSignal: Signal | undefined;
  // The terminal sends Ctrl-C to the editor too, for which it is an ordinary key.
  const release = interrupts.take((signal) => {
    if (signal === 'SIGINT') return;
    endingSignal = signal;
    child.kill(signal);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    if (endingSignal) throw new InterruptedError(endingSignal);
    if (code !== 0) throw new CliError('failed', `${line}: the editor ended with code ${code ?? 'none'}`);
  } finally {
    release();
  }
}

/** An error of this program with the path of the kept text; any other as it is. */
export function withDraft(error: unknown, { path }: Draft): unknown {
  if (!(error instanceof CliError)) return error;
  const place = `the text is kept in ${path}`;
  const { kind, message, details } = error;
  const addition = details.addition === undefined ? place : `${details.addition}; ${place}`;
  return new CliError(kind, message, { ...details, addition });
}
