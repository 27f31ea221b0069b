import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Notices } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import {
  CliError,
  endSignals,
  fileError,
  InputError,
  interruption,
  messageOf,
  signalCodes,
  UsageError,
} from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import type { Stop } from '../process/signals.ts';
import { sanitize, shellWord } from '../process/text.ts';

/**
 * Returns the command line of the editor: `$VISUAL`, `$EDITOR`, or `vi` at a terminal.
 *
 * @param task the command, for errors: `edit pet 3`.
 * @param whyNotAsked says in a clause why the user cannot be asked; undefined if they can.
 * @throws UsageError if neither variable is set and vi cannot be used.
 */
export function requireEditor({ env, stdout }: Io, task: string, whyNotAsked: string | undefined): string {
  const command = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (command) return command;
  const why = stdout.isTerminal ? whyNotAsked : 'there is no terminal';
  if (why === undefined) return 'vi';
  throw new UsageError(`${task}: no editor is set, and ${why}`, 'set VISUAL or EDITOR');
}

interface Editing<Value> {
  /** The command line of the editor. @see requireEditor */
  readonly editor: string;
  readonly fileName: string;
  /** The command, for errors: `edit pet 3`. */
  readonly task: string;
  /** Lines that begin with `#`, above the text. */
  readonly comments: string;
  readonly originalText: string;
  /** Returns the hint for a text that is kept, if a command takes it. An error that has a hint keeps its own. */
  keptHint?(path: string): string;
  /** Parses a text. Returns undefined if it changes nothing. @throws an error that says why the text is not valid. */
  parse(text: string): Promise<Value | undefined>;
  send(value: Value): Promise<Output>;
}

interface EditorContext extends Pick<Notices, 'notice'> {
  readonly io: Io;
  readonly stop: Stop;
  readonly flags: { readonly dryRun?: boolean | undefined };
}

/**
 * Lets the user change a text in an editor, and sends its value. The text is in a file that only its owner may read. If a
 * changed text is not sent, the file stays, and a message names it.
 *
 * @returns the output of `send`, or a line that says that there was nothing to send.
 * @throws InputError if the text is not valid when it is saved for the second time; and the errors of `send`.
 */
export async function editAndSend<Value>(context: EditorContext, editing: Editing<Value>): Promise<Output> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-edit-')).catch((error) => {
    throw fileError('make a folder in', tmpdir(), error, 'TMPDIR names another folder for temporary files');
  });
  const path = join(folder, editing.fileName);
  const fileNote = `the text is kept in ${path}`;
  const withFile = <Thrown>(error: Thrown) =>
    error instanceof CliError && existsSync(path)
      ? error.with(
          { serviceMessage: undefined, hint: error.details.hint ?? editing.keptHint?.(path) },
          `${error.message}; ${fileNote}`,
        )
      : error;
  let value: Value | undefined;
  let output: Output = {
    kind: 'nothing',
    notices: [['status', `${editing.task}: nothing was changed, and nothing was sent`]],
  };
  try {
    value = await editAndParse(context, path, editing);
    if (value !== undefined) output = await editing.send(value);
  } catch (error) {
    throw withFile(error);
  }
  if (output.error) return { ...output, error: withFile(output.error) };
  if (value !== undefined && context.flags.dryRun)
    await context.notice('note', `nothing was sent; ${fileNote}`);
  else await rm(folder, { recursive: true, force: true }).catch(() => {});
  return output;
}

/**
 * Opens the editor, and once more if the text is not valid, with the reason on top. Returns the value of the text, or undefined if
 * it was saved unchanged or empty.
 */
async function editAndParse<Value>(
  context: EditorContext,
  path: string,
  { editor, task, comments, originalText, parse }: Omit<Editing<Value>, 'send'>,
): Promise<Value | undefined> {
  const isUnchanged = (saved: string) => saved.trim() === '' || saved.trimEnd() === originalText.trimEnd();
  const pathWord = context.io.platform === 'win32' ? `"${path}"` : shellWord(path);
  let text = originalText;
  let problemNote = '';
  for (;;) {
    await writeText(path, problemNote + comments + text);
    try {
      await runEditor(context, `${editor} ${pathWord}`);
    } finally {
      const saved = await readFile(path, 'utf8').catch((error) => {
        throw fileError('read', path, error);
      });
      text = saved.replace(/^(?:#[^\n]*(?:\n|$))+/, '');
      // The file that may be kept must be valid input, without the comments on top. Nobody needs an unchanged one.
      if (isUnchanged(text)) await rm(dirname(path), { recursive: true, force: true });
      else await writeText(path, text);
    }
    if (isUnchanged(text)) return undefined;
    try {
      return await parse(text);
    } catch (error) {
      const problem = sanitize(messageOf(error), '\n');
      const [firstLine = ''] = problem.split('\n');
      if (problemNote !== '') throw new InputError(`${task}: ${firstLine.replace(/:$/, '')}`);
      // The place that a parser names is another one below these comments.
      const note = problem.replace(/^edit:\d+: | at line \d+, column \d+(?::\n.*)?$/gs, '');
      problemNote = `${note.replace(/^/gm, '# error: ')}\n`;
    }
  }
}

async function writeText(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 }).catch((error) => {
    throw fileError('write', path, error);
  });
}

/** Runs a command line in a shell, because the variable may hold arguments: `code --wait`. */
async function runEditor({ io, stop }: EditorContext, line: string): Promise<void> {
  const child = spawn(line, { shell: true, stdio: 'inherit', env: { ...io.env } });
  // The editor gets Ctrl-C from the terminal too, and may use it as an ordinary key.
  const release = stop.takeOver((signal) => {
    if (signal !== 'SIGINT') child.kill(signal);
  });
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.on('error', reject).on('close', (...end) => resolve(end));
    });
    // A shell reports a signal as 128 and its number.
    const endSignal = endSignals.find((each) => signal === each || code === signalCodes[each]);
    if (endSignal) throw interruption(endSignal);
    if (code !== 0)
      throw new CliError('failed', `${line}: the editor ended with ${signal ?? `code ${code}`}`);
  } finally {
    release();
  }
}
