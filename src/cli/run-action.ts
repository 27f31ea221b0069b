import type { Context } from '../context.ts';
import { checkColumns, type View } from '../output/columns.ts';
import type { Output } from '../output/print.ts';
import { OutputClosedError, UsageError } from '../process/errors.ts';
import type { Action } from './verb.ts';

/**
 * Runs a command and prints what it returns. It checks flags, settings and columns before the command sends a request.
 * `--fields help` lists the columns instead of running the command.
 *
 * @param name the words of the command with the program's, for messages.
 * @throws CliError.
 */
export async function runAction(
  context: Context,
  action: Action,
  name: string,
  values: Parameters<Action['run']>[1],
): Promise<void> {
  await checkSettings(context, action);
  const { flags, io } = context;
  const view = await action.view?.(context, values);
  if (!view) rejectColumnFlags(context, name);
  else if (flags.fields?.join() === 'help')
    return io.stdout.write(view.columns.map((column) => `${column.name}\n`).join(''));
  else checkColumns(view, flags);
  const output = await action.run(context, values);
  if (output) await printOutput(context, output, view);
}

/** Checks flags and settings. @throws UsageError for a wrong flag, and for a wrong setting that the command does not tolerate. */
async function checkSettings({ settings, warn }: Context, { wrongSettings }: Action): Promise<void> {
  if (wrongSettings === 'unread') return;
  const { problems, warnings } = settings;
  const wrongFlag = problems.find(({ details }) => details.code === 'invalid_flag');
  if (wrongFlag) throw wrongFlag;
  if (wrongSettings === 'ignore') return;
  if (wrongSettings !== 'warn' && problems[0]) throw problems[0];
  for (const { message, details } of problems)
    await warn(`warning: ${[message, details.hint].filter(Boolean).join('; ')}`);
  for (const warning of warnings) await warn(`warning: ${warning}`);
}

/** @throws UsageError for `--fields` or `--sort` of a command that prints no columns. */
function rejectColumnFlags({ flags: { fields, sort } }: Context, name: string): void {
  if (fields === undefined && sort === undefined) return;
  throw new UsageError(
    `${name}: ${fields === undefined ? '--sort' : '--fields'} does not apply: it prints no columns`,
  );
}

/** Prints an output, then its notes, also if the reader of stdout has gone. @throws the error of the output. */
async function printOutput(context: Context, output: Output, view: View<object> | undefined): Promise<void> {
  const printer = await context.printer();
  const closed = await printer.output(output, view).catch(async (error: unknown) => {
    if (error instanceof OutputClosedError) return error;
    // Nobody may send again what was done.
    if (output.doneNote) await context.warn(output.doneNote);
    throw error;
  });
  for (const note of output.notes ?? []) await context.warn(note);
  const error = output.error ?? closed;
  if (error) throw error;
}
