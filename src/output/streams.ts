import type { Io } from '../process/io.ts';
import type { OutputStream } from '../process/output-stream.ts';
import type { Secrets } from '../process/secrets.ts';
import { runnerCommands } from '../process/text.ts';
import { createLiveLine, type LiveLine } from './live-line.ts';

/**
 * The same process, with a live line, and with a stdout and a stderr that are safe to write to: they break up text that
 * the runner of a CI job would obey, and erase the live line first. A stdout that is a file is not read by a runner.
 * stderr also masks the secrets; stdout carries records, which are never masked. Mask a text with `mask` before you cut
 * or wrap it, because half a secret is not recognised.
 */
export function openStreams(io: Io, { mask }: Secrets): { readonly io: Io; readonly liveLine: LiveLine } {
  const { env } = io;
  const isCiJob = Boolean(env.GITHUB_ACTIONS || env.GITLAB_CI || env.TF_BUILD);
  const liveLine = createLiveLine({ ...io, mask });
  const safe = (output: OutputStream, toShown: (text: string) => string, isRead: boolean): OutputStream => {
    const breakCommands = isCiJob && isRead ? createCommandBreaker() : undefined;
    const write: OutputStream['write'] = (data, options) => {
      if (output.isTerminal) liveLine.clear();
      const toWritten = (text: string) =>
        breakCommands && !options?.isRaw ? breakCommands(toShown(text)) : toShown(text);
      if (typeof data === 'string') return output.write(toWritten(data));
      // Latin-1 keeps every byte, whatever the encoding.
      const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');
      const shownText = toWritten(text);
      return output.write(shownText === text ? data : Buffer.from(shownText, 'latin1'));
    };
    // The other properties are read only when they are used, because asking a terminal takes time.
    return Object.create(output, { write: { value: write } });
  };
  return {
    io: {
      ...io,
      mask,
      stdout: safe(io.stdout, (text) => text, !io.stdout.isFile),
      stderr: safe(io.stderr, mask, true),
    },
    liveLine,
  };
}

/** How many characters decide whether the following text completes a command. */
const longestCommand = 'section_start:'.length;

/**
 * Returns a function that breaks up commands to a CI runner in text that comes in pieces: the last character of the
 * command becomes `\uXXXX`. In JSON that escape means the same character. YAML and CSV put such text in quotes before it
 * comes here: in YAML the escape means the same then, and in CSV a cell does not begin a line. Elsewhere it is visible.
 */
function createCommandBreaker(): (piece: string) => string {
  let before = '\n';
  return (piece) => {
    const text = before + piece;
    const escapeLast = (command: string, at: number) => {
      const last = command.length - 1;
      const escaped = `\\u${command.charCodeAt(last).toString(16).padStart(4, '0')}`;
      return at + last < before.length ? command : command.slice(0, last) + escaped;
    };
    const brokenUp = text.replace(runnerCommands, escapeLast).slice(before.length);
    before = endOfLine(text);
    return brokenUp;
  };
}

/**
 * The end of a text that decides whether the next piece completes a command: of a short line all, else its last
 * characters.
 */
function endOfLine(text: string): string {
  const line = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
  const start = line.trimStart();
  return start.length < longestCommand ? `\n${start}` : `…${line.slice(-longestCommand)}`;
}
