import { spawn } from 'node:child_process';
import { withinLimits } from '../process/deadline.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { endGroup, type Io } from '../process/io.ts';
import { readWhole } from '../process/read-file.ts';
import { createSecrets } from '../process/secrets.ts';
import { systemCode, systemReason } from '../process/system-error.ts';
import { formatBytes, sanitize, secondsText } from '../process/text.ts';
import { splitWords } from './setting-values.ts';

const maxBytes = 64 * 1024;

/**
 * The longest time between the end of a command and the end of its output, in milliseconds. A child process of the command
 * can keep the output open.
 */
const outputMs = 100;

/**
 * Runs a command and returns its stdout. The command runs without a shell and with an empty stdin. Its stderr is shown after
 * it has ended: the token must be masked there, and it is not known earlier.
 *
 * @param limitMs the command is killed after this time.
 * @throws CliError `auth` if the command cannot be started, fails, prints too much or takes too long. The error names only
 *   the first word of the command, because the arguments may be secret.
 */
export async function runTokenCommand(
  line: string,
  { io, signal, limitMs }: { readonly io: Io; readonly signal: AbortSignal; readonly limitMs: number },
): Promise<string> {
  const [command, ...words] = splitWords(line);
  // A process group, so that all processes which the command has started end with it.
  const child = startCommand(command, words, io);
  const output = { stdout: '', stderr: '' };
  const end = new Promise<string | undefined>((resolve) => {
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
        if (output[name].length > maxBytes) resolve(`printed more than ${formatBytes(maxBytes)}`);
      });
    child.on('error', (error) => {
      const reason = systemReason(error, 'command');
      resolve(systemCode(error) === 'ENOENT' ? `there is ${reason}` : reason);
    });
    child.on('exit', (code, killer) => {
      const problem =
        code === 0 ? undefined : code === null ? `was ended by ${killer}` : `exited with ${code}`;
      child.on('close', () => resolve(problem));
      setTimeout(() => resolve(problem), outputMs);
    });
    signal.addEventListener('abort', () => resolve('was interrupted'));
  });
  const timedOut = () => new Error(`took longer than ${secondsText(limitMs)}`);
  const problem = await withinLimits({ limitMs, timedOut }, () => end).catch(messageOf);
  child.kill('SIGKILL');
  endGroup(child.pid);
  signal.throwIfAborted();
  // The output may hold the token even if the command failed.
  const secrets = createSecrets();
  for (const text of output.stdout.split('\n')) secrets.add(text.trim());
  for (const text of secrets.mask(output.stderr).trimEnd().split(/\r?\n/))
    if (text !== '') await io.stderr.write(`${sanitize(text)}\n`).catch(() => {});
  if (problem !== undefined) throw new CliError('auth', `token-command ${command}: ${problem}`);
  return output.stdout;
}

/** @throws CliError `auth` if this Node may not start commands. */
function startCommand(command: string, words: readonly string[], { cwd, env }: Io) {
  try {
    return spawn(command, words, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new CliError('auth', `token-command ${command}: ${systemReason(error, 'command')}`, {
      cause: error,
    });
  }
}

/**
 * Reads a token file, which may be a pipe: `PETSTORE_TOKEN_FILE=<(pass show petstore)`.
 *
 * @param limitMs the longest time that this may take.
 * @throws CliError `auth` if it cannot be read, is too long or takes too long.
 */
export async function readTokenFile(path: string, limitMs: number): Promise<string> {
  try {
    const timedOut = () => new Error('nothing was written to it in time');
    return (await withinLimits({ limitMs, timedOut }, () => readWhole(path, maxBytes))).toString();
  } catch (error) {
    throw new CliError('auth', `read token file ${path}: ${systemReason(error)}`, { cause: error });
  }
}
