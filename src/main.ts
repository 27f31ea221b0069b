import { builtInContract, type Contract } from './api/contract.ts';
import { emptyConfigFile, readConfigFile } from './config/file.ts';
import { resolveSettings, type Settings, type TokenSetting } from './config/settings.ts';
import type { ClientPurpose, Context } from './context.ts';
import { formats } from './output/formats.ts';
import { createNotices, errorJson, errorText, type Notices } from './output/messages.ts';
import { createPrinter } from './output/printer.ts';
import { openStreams } from './output/streams.ts';
import { createStyle } from './output/style.ts';
import { withinLimits } from './process/deadline.ts';
import { CliError, exitCodes, isInterruption, messageOf, OutputClosedError } from './process/errors.ts';
import type { Io } from './process/io.ts';
import { createSecrets } from './process/secrets.ts';
import { Stop } from './process/signals.ts';
import { sanitize } from './process/text.ts';

/** Runs one command line and returns its exit code. It prints the error that a command throws. @param argv the words after `petstore`. */
export async function main(argv: readonly string[], processIo: Io): Promise<number> {
  // First, because any error may quote the token, which the streams mask.
  const secrets = createSecrets(processIo.env);
  const { io, liveLine } = openStreams(processIo, secrets);
  const stop = new Stop();
  const ignoreSignals = io.onSignal(stop.onSignal);
  const [{ readCommandLine }, { program }] = await Promise.all([
    import('./cli/command-line.ts'),
    import('./commands/index.ts'),
  ]);
  // The line, the config and the settings keep their errors for the command: nothing before the `try` could report them.
  const commandLine = await readCommandLine(argv, program, io.packageDir);
  const { flags, isCompletion, usesConfig } = commandLine;
  const file = usesConfig ? await readConfigFile(io) : emptyConfigFile(io);
  const settings = resolveSettings(io, flags, file);
  const { hasJsonErrors = false } = formats[settings.get('output')];
  const notices = createNotices({
    io,
    isQuiet: settings.get('quiet'),
    isSilent: isCompletion,
  });
  const context = createContext({ io, secrets, liveLine, stop, flags, settings }, notices);
  try {
    const exitCode = await withinLimits({ signals: [stop.ended] }, () => commandLine.run(context));
    if (exitCode === exitCodes.done && stop.endError) throw stop.endError;
    return exitCode;
  } catch (thrown) {
    // An interrupted call says more than the signal, and any other error may only be a result of the signal.
    const error = isInterruption(thrown) ? thrown : (stop.endError ?? thrown);
    // A reader that leaves early is not a failure.
    if (error instanceof OutputClosedError) return exitCodes.done;
    return await printError(error, context, hasJsonErrors);
  } finally {
    ignoreSignals();
    liveLine.close();
  }
}

type ContextParts = Pick<Context, 'io' | 'secrets' | 'liveLine' | 'stop' | 'flags' | 'settings'>;

function createContext(parts: ContextParts, notices: Notices): Context {
  const { io, flags, settings } = parts;
  const clientFor = memoize(async (purpose: ClientPurpose) => {
    const { connect } = await import('./connect.ts');
    return connect(context, purpose);
  });
  const printerOptions = {
    format: settings.get('output'),
    fields: flags.fields,
    sort: flags.sort,
    hasHeader: !flags.noHeader,
    color: settings.get('color'),
  };
  const context: Context = {
    ...parts,
    ...notices,
    isQuiet: settings.get('quiet'),
    contract: memoize(() => readContract(io, settings)),
    readToken: memoize((setting) => readTokenOf(parts, setting)),
    client: (purpose = 'records') => clientFor(purpose),
    style: memoize((stream) => createStyle(io[stream], io.env, settings.get('color'))),
    printer: createPrinter(io, notices, printerOptions),
  };
  return context;
}

/** Reads the contract that is bound to the profile or the origin. Without one, and for the embedded store, returns the built-in one. */
async function readContract(io: Io, settings: Settings): Promise<Contract> {
  const { baseUrl } = settings;
  if (baseUrl === undefined) return builtInContract;
  const { readBoundContract } = await import('./config/contract-file.ts');
  return readBoundContract(io, new URL(baseUrl).origin, settings) ?? builtInContract;
}

async function readTokenOf({ io, stop, settings }: ContextParts, setting: TokenSetting) {
  const { readToken } = await import('./config/credential.ts');
  return readToken(setting, { io, signal: stop.abandoned, timeoutMs: settings.get('timeout') });
}

/** Wraps a function so that it runs once for each argument; later calls return the same result. Objects are compared by identity. */
function memoize<Args extends readonly [unknown?], Value>(
  make: (...args: Args) => Value,
): (...args: Args) => Value {
  const results = new Map<unknown, Value>();
  return (...args) => {
    if (!results.has(args[0])) results.set(args[0], make(...args));
    return results.get(args[0]) as Value;
  };
}

/** Prints an error, and returns its exit code. */
async function printError(thrown: unknown, context: Context, isJson: boolean): Promise<number> {
  const { io, remarks } = context;
  const error =
    thrown instanceof CliError ? thrown : new CliError('failed', `internal: ${messageOf(thrown)}`);
  const text = isJson ? errorJson(error, remarks) : errorText(error, await context.style('stderr'));
  const stack = io.env.PETSTORE_DEBUG === '1' ? stackOf(thrown) : '';
  // Not awaited, because a stalled reader would keep an interrupted command alive. The end of the process flushes it.
  void io.stderr.write(text + stack).catch(() => {});
  return error.exitCode;
}

function stackOf(thrown: unknown): string {
  const lines = thrown instanceof Error ? (thrown.stack ?? '').split('\n') : [];
  return lines.map((line) => `${sanitize(line)}\n`).join('');
}
