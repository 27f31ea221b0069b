import type { Io } from '../process/io.ts';
import type { OutputStream } from '../process/output-stream.ts';
import type { Secrets } from '../process/secrets.ts';
import { runnerCommands } from '../process/text.ts';
import { createLiveLine, type LiveLine } from './live-line.ts';

/**
 * Opens a live line, and makes stdout and stderr safe to write to: they erase the live line first, and break up text that
 * the runner of a CI job would obey. A runner does not read a stdout that is a file. stderr also masks the secrets; stdout
 * carries records, which are never masked. Mask a text with `mask` before you cut or wrap it, because half a secret is not
 * recognised.
 */
export function openStreams(io: Io, { mask }: Secrets): { readonly io: Io; readonly liveLine: LiveLine } {
  const { env } = io;
  const isCiJob = Boolean(env.GITHUB_ACTIONS || env.GITLAB_CI || env.TF_BUILD);
  const liveLine = createLiveLine({ ...io, mask });
  const toSafe = (
    output: OutputStream,
    maskText: (text: string) => string,
    isReadByRunner: boolean,
  ): OutputStream => {
    const breakCommands = isCiJob && isReadByRunner ? createCommandBreaker() : undefined;
    const write: OutputStream['write'] = (data, options) => {
      if (output.isTerminal) liveLine.clear();
      const toSafeText = (text: string) =>
        breakCommands && !options?.isRaw ? breakCommands(maskText(text)) : maskText(text);
      if (typeof data === 'string') return output.write(toSafeText(data));
      // Latin-1 keeps every byte, whatever the encoding.
      const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');
      const safeText = toSafeText(text);
      return output.write(safeText === text ? data : Buffer.from(safeText, 'latin1'));
    };
    // The other properties are read only when they are used, because asking a terminal takes time.
    return Object.create(output, { write: { value: write } });
  };
  return {
    io: {
      ...io,
      mask,
      stdout: toSafe(io.stdout, (text) => text, !io.stdout.isFile),
      stderr: toSafe(io.stderr, mask, true),
    },
    liveLine,
  };
}

/** The length of the longest command. So many characters before a piece decide whether the piece completes a command. */
const longestCommand = 'section_start:'.length;

/**
 * Returns a function that breaks up commands to a CI runner in text that comes in pieces: the last character of a command
 * becomes `\uXXXX`. In JSON the escape means the same character, and in YAML too, because the writer has put such text in
 * quotes. A CSV cell with such text is in quotes and so never begins a line. In other formats the escape is visible.
 */
function createCommandBreaker(): (piece: string) => string {
  let lineStart = '\n';
  return (piece) => {
    const text = lineStart + piece;
    const escapeLast = (command: string, at: number) => {
      const last = command.length - 1;
      const escaped = `\\u${command.charCodeAt(last).toString(16).padStart(4, '0')}`;
      return at + last < lineStart.length ? command : command.slice(0, last) + escaped;
    };
    const brokenUp = text.replace(runnerCommands, escapeLast).slice(lineStart.length);
    lineStart = endOfLine(text);
    return brokenUp;
  };
}

/**
 * Returns the end of a text that decides whether the next piece completes a command: the last line if it is short, else
 * the last characters of that line.
 */
function endOfLine(text: string): string {
  const line = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
  const start = line.trimStart();
  return start.length < longestCommand ? `\n${start}` : `…${line.slice(-longestCommand)}`;
}
