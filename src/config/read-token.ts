import { type ExecFileException, execFile } from 'node:child_process';
import { withinLimits } from '../process/deadline.ts';
import { CliError, systemReason } from '../process/errors.ts';
import { readWhole } from '../process/files.ts';
import type { Io } from '../process/io.ts';
import { createSecrets } from '../process/secrets.ts';
import { bytesText, sanitize, secondsText } from '../process/text.ts';
import { splitWords } from './keys.ts';
import type { TokenSetting } from './settings.ts';

const maxBytes = 64 * 1024;

/** How long reading a token may take, in milliseconds. */
const longestReadMs = 10_000;

/**
 * Reads the token. A newline at the end of a file or of a command's output is dropped.
 *
 * @param signal ends a token-command.
 * @throws CliError `auth` if it cannot be read, or if that takes longer than a call may take, or than 10 s.
 */
export async function readToken(
  { kind, text }: Pick<TokenSetting, 'kind' | 'text'>,
  { io, signal, timeoutMs }: { readonly io: Io; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string> {
  if (kind === 'variable') return text;
  const limitMs = Math.min(timeoutMs, longestReadMs);
  const output =
    kind === 'file'
      ? await readTokenFile(text, limitMs)
      : await runTokenCommand(text, { io, signal, limitMs });
  return output.replace(/\r?\n$/, '');
}

/**
 * Runs a command and returns its stdout. The command runs without a shell and with an empty stdin. Its stderr is shown after it has
 * ended, because the token must be masked in it.
 *
 * @param limitMs the command is killed after this time.
 * @throws CliError `auth` if the command cannot be started, fails, prints too much or takes too long. The error names only
 *   the first word of the command, because the arguments may be secret.
 */
async function runTokenCommand(
  line: string,
  { io, signal, limitMs }: { readonly io: Io; readonly signal: AbortSignal; readonly limitMs: number },
): Promise<string> {
  const [command, ...args] = splitWords(line);
  const { cwd, env } = io;
  const options = { cwd, env, signal, timeout: limitMs, maxBuffer: maxBytes, windowsHide: true };
  type Ending = readonly [error: ExecFileException | null, stdout: string, stderr: string];
  const [error, stdout, stderr] = await new Promise<Ending>((resolve) => {
    const end = (problem: ExecFileException | null, output = '', notes = '') =>
      resolve([problem, output, notes]);
    try {
      execFile(command, args, { ...options, killSignal: 'SIGKILL' }, end).stdin?.end();
    } catch (thrown) {
      // Such as for a word that contains NUL.
      end(thrown as ExecFileException);
    }
  });
  signal.throwIfAborted();
  // Even a command that fails may print the token.
  const secrets = createSecrets();
  for (const text of stdout.split('\n')) secrets.add(text.trim());
  for (const text of secrets.mask(stderr).trimEnd().split(/\r?\n/))
    if (text !== '') await io.stderr.write(`${sanitize(text)}\n`).catch(() => {});
  if (error) throw new CliError('auth', `token-command ${command}: ${problemOf(error, limitMs)}`);
  return stdout;
}

/** Returns a clause that says why a command failed. */
function problemOf(error: ExecFileException, limitMs: number): string {
  const { code, killed, signal } = error;
  if (typeof code === 'number') return `exited with ${code}`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${bytesText(maxBytes)}`;
  if (code === 'ENOENT') return `there is ${systemReason(error, 'command')}`;
  if (killed) return `took longer than ${secondsText(limitMs)}`;
  return signal ? `was ended by ${signal}` : systemReason(error, 'command');
}

/**
 * Reads a token file, which may be a pipe: `PETSTORE_TOKEN_FILE=<(pass show petstore)`.
 *
 * @param limitMs the longest time that this may take.
 * @throws CliError `auth` if it cannot be read, is too long or takes too long.
 */
async function readTokenFile(path: string, limitMs: number): Promise<string> {
  try {
    const timedOut = () => new Error('nothing was written to it in time');
    return (await withinLimits({ limitMs, timedOut }, () => readWhole(path, maxBytes))).toString();
  } catch (error) {
    throw new CliError('auth', `read token file ${path}: ${systemReason(error)}`, { cause: error });
  }
}
