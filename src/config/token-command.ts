import { spawn } from 'node:child_process';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { sanitize } from '../text.ts';
import { splitWords } from './values.ts';

const maxBytes = 64 * 1024;

/**
 * What a command prints. No shell runs it; it has nothing to read, and its stderr is shown line by line.
 *
 * @param limitMs when it is killed.
 * @throws CliError `auth` where it cannot be started, fails, prints too much or takes too long; only its first word is
 *   named, for the others may be secret.
 */
export async function runTokenCommand(line: string, io: Io, limitMs = 10_000): Promise<string> {
  const [command, ...args] = splitWords(line);
  const fail = (why: string) => new CliError('auth', `token-command ${command}: ${why}`);
  const child = spawn(command, args, {
    cwd: io.cwd,
    env: io.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const printed = collect(child.stdout, () => stop(fail('printed more than 64 KiB')));
  const shown = showLines(child.stderr, io);
  let stop: (reason: CliError) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = reject;
  });
  const release = io.onSignal(() => child.kill('SIGKILL'));
  const timer = setTimeout(() => stop(fail(`took longer than ${limitMs / 1000} s`)), limitMs);
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => reject(fail(startProblem(error))));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(printed());
      else reject(fail(signal ? `was ended by ${signal}` : `exited with ${code}`));
    });
  });
  try {
    const text = await Promise.race([ended, stopped]);
    await shown();
    return text;
  } finally {
    clearTimeout(timer);
    release();
    child.kill('SIGKILL');
    // A process that it left behind may hold the pipes: they must not hold this one.
    child.stdout.destroy();
    child.stderr.destroy();
    await shown();
  }
}

function collect(stream: NodeJS.ReadableStream, tooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) tooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Passes lines on to stderr as they come; the function that it gives waits until all are out. */
function showLines(stream: NodeJS.ReadableStream, io: Io): () => Promise<void> {
  let rest = '';
  let written = Promise.resolve();
  const show = (line: string) => {
    written = written.then(() => io.stderr.write(`${sanitize(line)}\n`)).catch(() => {});
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(show);
  });
  return () => {
    if (rest !== '') show(rest);
    rest = '';
    return written;
  };
}

function startProblem({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such command';
  return code === 'EACCES' ? 'it may not be run' : message;
}
