import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Notices } from '../output/notices.ts';
import { CliError, InterruptedError, messageOf, UsageError } from '../process/errors.ts';
import type { Io, Signal } from '../process/io.ts';
import type { Interrupts } from '../process/signals.ts';
import { fileError } from '../process/system-error.ts';
import { sanitizeExcept, shellWord } from '../process/text.ts';

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

interface Editing<Value> {
  /** As `findEditor` returns it. */
  readonly editor: string;
  /** The name of the file; its extension tells the editor the format. */
  readonly fileName: string;
  /** What is edited, for errors: `edit pet 3`. */
  readonly what: string;
  /** Comment lines on top of the text. */
  readonly usage: string;
  readonly original: string;
  /** What is printed if nothing is to be sent. */
  readonly unchanged: string;
  /** The value of a text; undefined if nothing is to be sent. @throws an error that says what is wrong with the text. */
  parse(text: string): Promise<Value | undefined>;
  send(value: Value): Promise<void>;
}

/** What an editor needs of a command. */
interface EditorContext extends Pick<Notices, 'print' | 'warn'> {
  readonly io: Io;
  readonly interrupts: Interrupts;
  readonly flags: { readonly dryRun?: boolean | undefined };
}

/**
 * Lets a person change a text in an editor, and sends its value. The text is in a file that only its owner may read. The
 * file stays if something was not sent, and a message names it.
 *
 * @throws UsageError if a text that is not valid is saved a second time without a change; and what `send` throws.
 */
export async function editAndSend<Value>(context: EditorContext, editing: Editing<Value>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-edit-')).catch((error) => {
    throw fileError('make a folder in', tmpdir(), error);
  });
  const path = join(folder, editing.fileName);
  const kept = `the text is kept in ${path}`;
  try {
    const value = await editUntilValid(context, path, editing);
    if (value === undefined) await context.print(editing.unchanged);
    else {
      await editing.send(value);
      if (context.flags.dryRun) return await context.warn(`note: nothing was sent; ${kept}`);
    }
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { addition } = error.details;
    throw error.with({ addition: addition === undefined ? kept : `${addition}; ${kept}` });
  }
}

/**
 * Opens the editor until the saved text is valid; undefined if it is saved unchanged or empty. After an error the editor
 * opens again with the reason on top.
 */
async function editUntilValid<Value>(
  context: EditorContext,
  path: string,
  { editor, what, usage, original, parse }: Editing<Value>,
): Promise<Value | undefined> {
  let text = original;
  let problem: string | undefined;
  for (;;) {
    const why = problem === undefined ? '' : problem.replace(/^/gm, '# error: ').concat('\n');
    const saved = await edit(context, editor, path, `${why}${usage}${text}`);
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

/**
 * Writes a text into the file, runs the editor until it ends, and returns the saved text without the comments at its top.
 * The file then has none either, so that a command takes it as it is.
 */
async function edit(
  { io, interrupts }: EditorContext,
  editor: string,
  path: string,
  text: string,
): Promise<string> {
  const fail = (verb: string) => (error: Error) => {
    throw fileError(verb, path, error);
  };
  await writeFile(path, text, { mode: 0o600 }).catch(fail('write'));
  let saved = '';
  try {
    await runEditor(io, `${editor} ${quotePath(path, io.platform)}`, interrupts);
  } finally {
    saved = withoutComments(await readFile(path, 'utf8').catch(fail('read')));
    await writeFile(path, saved).catch(fail('write'));
  }
  return saved;
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
