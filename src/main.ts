import { emptyConfigFile, readConfigFile } from './config/file.ts';
import { resolveSettings } from './config/settings.ts';
import type { Context } from './context.ts';
import { openContext, openRuntime } from './open-context.ts';
import { createNotices, errorJson, errorText, type Notices } from './output/messages.ts';
import { formats } from './output/printer.ts';
import { eraseLine } from './output/streams.ts';
import { withinLimits } from './process/deadline.ts';
import { CliError, exitCodes, messageOf, OutputClosedError } from './process/errors.ts';
import type { Io } from './process/io.ts';
import { sanitize } from './process/text.ts';

/**
 * Runs one command line and returns its exit code. It prints the error that a command throws.
 *
 * @param argv the words after `petstore`.
 */
export async function main(argv: readonly string[], processIo: Io): Promise<number> {
  const runtime = openRuntime(processIo);
  const [{ readCommandLine }, { program }] = await Promise.all([
    import('./cli/dispatch.ts'),
    import('./commands/index.ts'),
  ]);
  const commandLine = await readCommandLine(argv, program);
  const { flags, name, usesConfig } = commandLine;
  const file = usesConfig ? await readConfigFile(runtime.io) : emptyConfigFile(runtime.io);
  const settings = resolveSettings(runtime.io, flags, file);
  const { interrupts, io } = runtime;
  const { hasJsonErrors } = formats[settings.get('output')];
  const notices = createNotices({
    io,
    isQuiet: settings.get('quiet'),
    isSilent: name === '',
    hasJsonErrors,
    showsRemarks: (flags.verbose ?? 0) > 0 || (io.stderr.isTerminal && !io.env.CI),
  });
  const context = openContext(runtime, { flags, settings, notices });
  const running = commandLine.run(context);
  try {
    const exitCode = await withinLimits({ signals: [interrupts.signal] }, () => running);
    for (const line of notices.take()) await notices.printSummary(line);
    return exitCode;
  } catch (thrown) {
    const error = interrupts.signal.aborted ? await errorOfInterrupted(thrown, running) : thrown;
    // A reader that leaves early is not a failure.
    if (error instanceof OutputClosedError) return exitCodes.done;
    return await report(error, context, { notices, hasJsonErrors });
  } finally {
    interrupts.release();
    runtime.liveLine.close();
  }
}

/** How long the work of an interrupted command may take to end, in milliseconds. */
const endMs = 200;

/** Returns the error of an interrupted command. The error of its work has more details than the error of the signal. */
async function errorOfInterrupted(signalError: unknown, running: Promise<unknown>): Promise<unknown> {
  const workError = await withinLimits({ limitMs: endMs }, () => running).catch((error: unknown) => error);
  const isSame =
    workError instanceof CliError && signalError instanceof CliError && workError.kind === signalError.kind;
  return isSame ? workError : signalError;
}

/** Prints an error, and returns its exit code. */
async function report(
  thrown: unknown,
  context: Context,
  { notices, hasJsonErrors }: { readonly notices: Notices; readonly hasJsonErrors: boolean },
): Promise<number> {
  const { io, interrupts } = context;
  const error = thrown instanceof CliError ? thrown : new CliError('failed', await describeThrown(thrown));
  const text = hasJsonErrors
    ? errorJson(error, notices.take())
    : errorText(error, await context.style('stderr'));
  const stack = io.env.PETSTORE_DEBUG === '1' ? stackOf(thrown) : '';
  // Erases the `^C` that the terminal shows after Ctrl-C.
  const echo = interrupts.signal.aborted && io.stderr.isTerminal && io.env.TERM !== 'dumb' ? eraseLine : '';
  await io.stderr.write(echo + text + stack).catch(() => {});
  return error.exitCode;
}

/** Describes an error that is not a CliError: a defect, or a step that the permissions of Node forbid. */
async function describeThrown(thrown: unknown): Promise<string> {
  const { systemCode, systemReason } = await import('./process/system-error.ts');
  const isDenied = systemCode(thrown) === 'ERR_ACCESS_DENIED';
  return isDenied ? systemReason(thrown) : `internal: ${messageOf(thrown)}`;
}

function stackOf(thrown: unknown): string {
  const lines = thrown instanceof Error ? (thrown.stack ?? '').split('\n') : [];
  return lines.map((line) => `${sanitize(line)}\n`).join('');
}
