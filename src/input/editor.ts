import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Notices } from '../output/notices.ts';
import { CliError, InterruptedError, messageOf, type Signal, UsageError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { Interrupts } from '../process/signals.ts';
import { fileError, systemCode } from '../process/system-error.ts';
import { sanitizeExcept, shellWord } from '../process/text.ts';

/**
 * Returns the command line of the editor: `$VISUAL`, `$EDITOR`, or `vi` at a terminal.
 *
 * @param task the command, for errors: `edit pet 3`.
 * @throws UsageError if neither variable is set and there is no terminal for vi.
 */
export function findEditor(
  { io, flags }: { readonly io: Io; readonly flags: { readonly noInput?: boolean | undefined } },
  task: string,
): string {
  const { env, stdin, stdout } = io;
  const command = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (command) return command;
  if (stdin.isTerminal && stdout.isTerminal && !env.CI && !flags.noInput) return 'vi';
  throw new UsageError(`${task}: no editor is set, and there is no terminal`, 'set VISUAL or EDITOR');
}

interface Editing<Value> {
  /** The command line of the editor. @see findEditor */
  readonly editor: string;
  /** The name of the file. Its extension tells the editor the format. */
  readonly fileName: string;
  /** The command, for errors: `edit pet 3`. */
  readonly task: string;
  /** The comment lines above the text. */
  readonly usage: string;
  readonly originalText: string;
  /** The message that is printed if nothing is to be sent. */
  readonly unchangedMessage: string;
  /**
   * Returns the value of a text; undefined if nothing is to be sent.
   *
   * @throws an error that says why the text is not valid.
   */
  parse(text: string): Promise<Value | undefined>;
  send(value: Value): Promise<void>;
}

/** The part of a context that an editor needs. */
interface EditorContext extends Pick<Notices, 'print' | 'warn'> {
  readonly io: Io;
  readonly interrupts: Interrupts;
  readonly flags: { readonly dryRun?: boolean | undefined };
}

/**
 * Lets a person change a text in an editor, and sends its value. The text is in a file that only its owner may read. If
 * the value was not sent, the file stays, and a message names it.
 *
 * @throws UsageError if a text that is not valid is saved a second time without a change, or the last of ten texts is not
 *   valid; and the errors of `send`.
 */
export async function editAndSend<Value>(context: EditorContext, editing: Editing<Value>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-edit-')).catch((error) => {
    throw fileError('make a folder in', tmpdir(), error, 'TMPDIR names another folder for temporary files');
  });
  const path = join(folder, editing.fileName);
  const fileNote = `the text is kept in ${path}`;
  try {
    const value = await editUntilValid(context, path, editing);
    if (value === undefined) await context.print(editing.unchangedMessage);
    else {
      await editing.send(value);
      if (context.flags.dryRun) return await context.warn(`note: nothing was sent; ${fileNote}`);
    }
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { addition } = error.details;
    if (!existsSync(path)) throw error;
    throw error.with({ addition: addition === undefined ? fileNote : `${addition}; ${fileNote}` });
  }
}

/** How often the editor opens. An editor that is a program may make another invalid text each time. */
const maxOpenings = 10;

/**
 * Opens the editor until the saved text is valid, and returns its value. Undefined if the text is saved unchanged or
 * empty. After an error the editor opens again with the reason on top.
 */
async function editUntilValid<Value>(
  context: EditorContext,
  path: string,
  { editor, task, usage, originalText, parse }: Editing<Value>,
): Promise<Value | undefined> {
  let text = originalText;
  let problem: string | undefined;
  for (let openings = 1; ; openings += 1) {
    const reason = problem === undefined ? '' : problem.replace(/^/gm, '# error: ').concat('\n');
    const savedText = await edit(context, { editor, path, task, header: `${reason}${usage}`, text });
    if (savedText.trim() === '' || savedText.trimEnd() === originalText.trimEnd()) return undefined;
    if (problem !== undefined && savedText.trimEnd() === text.trimEnd()) throw invalidError(task, problem);
    text = savedText;
    try {
      return await parse(savedText);
    } catch (error) {
      problem = sanitizeExcept(messageOf(error), '\n');
      if (openings === maxOpenings) throw invalidError(task, problem);
    }
  }
}

function invalidError(task: string, problem: string): UsageError {
  const [firstLine = ''] = problem.split('\n');
  return new UsageError(`${task}: ${firstLine.replace(/:$/, '')}`, undefined, 'invalid_input');
}

/** A text in the file of an editor. */
interface Draft extends Pick<Editing<unknown>, 'editor' | 'task'> {
  readonly path: string;
  /** The comment lines above the text. */
  readonly header: string;
  readonly text: string;
}

/**
 * Writes a text into the file, runs the editor until it ends, and returns the saved text without the header. The header is
 * removed from the file too, so that `--from` can read it. If the editor removes the file, the file gets the text again.
 *
 * @throws CliError `failed` if the editor fails, or removes the file.
 */
async function edit(
  { io, interrupts }: EditorContext,
  { editor, path, task, header, text }: Draft,
): Promise<string> {
  const fail = (verb: string) => (error: Error) => {
    throw fileError(verb, path, error);
  };
  const write = (content: string) => writeFile(path, content, { mode: 0o600 }).catch(fail('write'));
  await write(header + text);
  let savedText: string | undefined;
  try {
    await runEditor(io, `${editor} ${quotePath(path, io.platform)}`, interrupts);
  } finally {
    savedText = await readFile(path, 'utf8').then(
      (content) => withoutHeader(content, header),
      (error) => (systemCode(error) === 'ENOENT' ? undefined : fail('read')(error)),
    );
    if (savedText === undefined) await mkdir(dirname(path), { recursive: true }).catch(fail('write'));
    await write(savedText ?? text);
  }
  if (savedText === undefined)
    throw new CliError('failed', `${task}: the editor removed the file, so nothing was sent`);
  return savedText;
}

/** Removes the header from a text. If the header was changed, all comments at the top go. */
function withoutHeader(text: string, header: string): string {
  return text.startsWith(header) ? text.slice(header.length) : text.replace(/^(?:#[^\n]*(?:\n|$))+/, '');
}

function quotePath(path: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? `"${path}"` : shellWord(path);
}

/** Runs a command line in a shell, because the variable may hold arguments: `code --wait`. */
async function runEditor(io: Io, line: string, interrupts: Interrupts): Promise<void> {
  const child = spawn(line, { shell: true, stdio: 'inherit', env: { ...io.env } });
  let endingSignal: Signal | undefined;
  // The terminal sends Ctrl-C to the editor too, for which it is an ordinary key.
  const release = interrupts.takeOver((signal) => {
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
