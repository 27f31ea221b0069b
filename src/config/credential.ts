import type { ExecFileException } from 'node:child_process';
import { whyExposed } from '../api/http.ts';
import type { TokenHeader } from '../api/operations.ts';
import { withinLimits } from '../process/deadline.ts';
import { CliError, systemReason } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { createSecrets, type Secrets } from '../process/secrets.ts';
import { durationText, sanitize } from '../process/text.ts';
import { splitWords } from './keys.ts';
import type { Settings, TokenSetting } from './settings.ts';

interface TokenDestination {
  readonly baseUrl: string;
  /** The header that the service's description names. */
  readonly header: TokenHeader | undefined;
  /** True if the user asked to send the token to this origin, even if it belongs to another one. */
  readonly isNamed?: boolean | undefined;
}

/**
 * Whether the token is sent. It is withheld from every origin except its own. Over plain http the command fails, instead of going on
 * without the token.
 */
type TokenUse =
  | { readonly kind: 'sent'; readonly setting: TokenSetting; readonly header: TokenHeader }
  /** `why` is a clause. */
  | { readonly kind: 'withheld' | 'insecure'; readonly setting: TokenSetting; readonly why: string };

/**
 * Decides whether the token, if there is one, is sent to a base URL. The token is not read yet. It is sent only to the origin that it
 * belongs to.
 */
export function decideTokenUse(
  settings: Settings,
  { baseUrl, header, isNamed = false }: TokenDestination,
): TokenUse | undefined {
  const { token: setting } = settings;
  if (setting === undefined) return undefined;
  const { origin } = new URL(baseUrl);
  if (!isNamed && setting.origin !== undefined && setting.origin !== origin)
    return { kind: 'withheld', setting, why: `it is meant for ${setting.origin}` };
  const why = settings.get('allow-insecure-http') ? undefined : whyExposed(baseUrl);
  if (why !== undefined) return { kind: 'insecure', setting, why };
  return { kind: 'sent', setting, header: chooseTokenHeader(settings, header) };
}

/** Chooses the header of the token: the one in the settings, or else the one in the service's description. */
export function chooseTokenHeader(settings: Settings, described: TokenHeader | undefined): TokenHeader {
  const name = settings.explain('auth-header');
  const scheme = settings.explain('auth-scheme');
  const isConfigured = name.source !== 'default' || scheme.source !== 'default';
  return described === undefined || isConfigured ? { name: name.value, scheme: scheme.value } : described;
}

/** Describes the header of the token: `the header authorization as Basic`, `the header X-Key`. */
export function tokenHeaderText({ name, scheme }: TokenHeader): string {
  return scheme ? `the header ${name} as ${scheme}` : `the header ${name}`;
}

/** Makes the value of the token's header, and masks the token. @throws CliError `auth` if a header cannot carry it. */
export function tokenHeaderValue(
  { setting, header }: Extract<TokenUse, { kind: 'sent' }>,
  token: string,
  secrets: Secrets,
): string {
  requireSendable(token, setting.label);
  secrets.add(token);
  // The scheme Basic sends the token as base64, which must be masked too.
  secrets.add(toBasic(token));
  const value = sendableValue(header, token);
  secrets.add(value);
  return value;
}

function sendableValue({ scheme = '' }: TokenHeader, secret: string): string {
  if (/^basic$/i.test(scheme)) return `${scheme} ${toBasic(secret)}`;
  return scheme === '' ? secret : `${scheme} ${secret}`;
}

/** Encodes a name and a password as base64. A secret without a colon is base64 already. @see RFC 7617, 2 */
function toBasic(secret: string): string {
  return secret.includes(':') ? Buffer.from(secret).toString('base64') : secret;
}

/** Checks that a header can carry the token. @see RFC 9110, 5.5 @throws CliError `auth` if it cannot. */
function requireSendable(token: string, label: string): void {
  if (token.trim() === '') throw new CliError('auth', `${label}: the token is empty`);
  const at = token.search(/[^\t\x20-\x7e\x80-\xff]/);
  if (at !== -1)
    throw new CliError('auth', `${label}: the token's character ${at + 1} is not allowed in a header`);
}

const maxBytes = 64 * 1024;

/** How long reading a token may take, in milliseconds. */
const longestReadMs = 10_000;

/**
 * Reads the token. A newline at its end is dropped.
 *
 * @param signal ends a token-command.
 * @throws CliError `auth` if it cannot be read, or if that takes longer than a call may take, or than 10 s.
 */
export async function readToken(
  { kind, text }: Pick<TokenSetting, 'kind' | 'text'>,
  { io, signal, timeoutMs }: { readonly io: Io; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string> {
  const limitMs = Math.min(timeoutMs, longestReadMs);
  const read = {
    variable: () => text,
    file: () => readTokenFile(text, limitMs),
    command: () => runTokenCommand(text, { io, signal, limitMs }),
  };
  return (await read[kind]()).replace(/\r?\n$/, '');
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
  const { execFile } = await import('node:child_process');
  const { cwd, env } = io;
  const options = { cwd, env, signal, timeout: limitMs, maxBuffer: maxBytes, windowsHide: true };
  type CommandExit = readonly [error: ExecFileException | null, stdout: string, stderr: string];
  const [error, stdout, stderr] = await new Promise<CommandExit>((resolve) => {
    const end = (...exit: CommandExit) => resolve(exit);
    execFile(command, args, { ...options, killSignal: 'SIGKILL' }, end).stdin?.end();
    // Node throws at once if it may not start a command.
  }).catch((denied: Error): CommandExit => [denied, '', '']);
  signal.throwIfAborted();
  // Even a command that fails may print the token.
  const secrets = createSecrets();
  for (const text of stdout.split('\n')) secrets.add(text.trim());
  for (const text of secrets.mask(stderr).trimEnd().split(/\r?\n/))
    if (text !== '') await io.stderr.write(`${sanitize(text)}\n`).catch(() => {});
  if (error) throw new CliError('auth', `token-command ${command}: ${whyFailed(error, limitMs)}`);
  return stdout;
}

/** Returns a clause that says why a command failed. */
function whyFailed(error: ExecFileException, limitMs: number): string {
  const { code, killed, signal } = error;
  if (typeof code === 'number') return `exited with ${code}`;
  if (killed) return `took longer than ${durationText(limitMs)}`;
  return signal ? `was ended by ${signal}` : systemReason(error);
}

/**
 * Reads a token file, which may be a pipe: `PETSTORE_TOKEN_FILE=<(pass show petstore)`.
 *
 * @param limitMs the longest time that this may take.
 * @throws CliError `auth` if it cannot be read, is too long or takes too long.
 */
async function readTokenFile(path: string, limitMs: number): Promise<string> {
  const { readWhole } = await import('../process/files.ts');
  try {
    const createTimeoutError = () => new Error('nothing was written to it in time');
    return (await withinLimits({ limitMs, createTimeoutError }, () => readWhole(path, maxBytes))).toString();
  } catch (error) {
    throw new CliError('auth', `read token file ${path}: ${systemReason(error)}`, { cause: error });
  }
}
