import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { withDeadline } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { readWhole } from '../process/read-file.ts';
import { createSecrets } from '../process/secrets.ts';
import { systemReason } from '../process/system-error.ts';
import { sanitize } from '../process/text.ts';
import { splitWords } from './values.ts';

const maxBytes = 64 * 1024;

/**
 * The text that a command prints on stdout. It runs without a shell and with an empty stdin. Its stderr is shown after
 * it has ended, because only then is the token known, which must be masked in it.
 *
 * @param limitMs the command is killed after this time.
 * @throws CliError `auth` if it cannot be started, fails, prints too much or takes too long. The error names only its
 *   first word, because the arguments may be secret.
 */
export async function runTokenCommand(
  line: string,
  { io, signal }: { readonly io: Io; readonly signal: AbortSignal },
  limitMs = 10_000,
): Promise<string> {
  const [command, ...words] = splitWords(line);
  const options = {
    cwd: io.cwd,
    env: io.env,
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: maxBytes,
    signal,
    windowsHide: true,
  } as const;
  const running = promisify(execFile)(command, words, options);
  running.child.stdin?.end();
  const { error, stdout, stderr } = await running.then(
    (printed) => ({ ...printed, error: undefined }),
    (error: ExecFileException) => ({ error, stdout: error.stdout ?? '', stderr: error.stderr ?? '' }),
  );
  // The output may hold the token even if the command failed.
  const printed = createSecrets();
  for (const text of stdout.split('\n')) printed.add(text.trim());
  for (const text of printed.mask(stderr).trimEnd().split(/\r?\n/))
    if (text !== '') await io.stderr.write(`${sanitize(text)}\n`).catch(() => {});
  if (error) throw new CliError('auth', `token-command ${command}: ${reasonOf(error, limitMs)}`);
  return stdout;
}

function reasonOf(error: ExecFileException, limitMs: number): string {
  const code: unknown = error.code;
  if (code === 'ENOENT') return `there is ${systemReason(error, 'command')}`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than 64 KiB';
  if (typeof code === 'number') return `exited with ${code}`;
  if (error.killed) return `took longer than ${limitMs / 1000} s`;
  return error.signal ? `was ended by ${error.signal}` : systemReason(error, 'command');
}

/**
 * The text of a token file, which may be a pipe: `PETSTORE_TOKEN_FILE=<(pass show petstore)`.
 *
 * @param limitMs how long it may take.
 * @throws CliError `auth` if it cannot be read, is too long or takes too long.
 */
export async function readTokenFile(path: string, limitMs = 10_000): Promise<string> {
  try {
    const bytes = await withDeadline(readWhole(path, maxBytes), limitMs, () => {
      throw new Error('nothing was written to it in time');
    });
    return bytes.toString();
  } catch (error) {
    throw new CliError('auth', `read token file ${path}: ${systemReason(error)}`, { cause: error });
  }
}
