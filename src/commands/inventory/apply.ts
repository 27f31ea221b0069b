import { findBooking } from '../../bulk/deliveries.ts';
import { checkRows, readRows } from '../../bulk/read.ts';
import { newRun, type RunParts } from '../../bulk/run.ts';
import { type Context, commandLine } from '../../context.ts';
import { openSource, type Source } from '../../input/source.ts';
import { exitCodes, UsageError } from '../../process/errors.ts';
import { type ApplyFlags, toGuards, toRunFlags } from './bulk-flags.ts';
import { preview, runSession, runStore, targetHere } from './session.ts';

/** Applies a file. */
export async function applyInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  await withSource(context, path, async (source) => {
    const parts = await readParts(context, source, flags);
    await runSession(context, parts.header, flags, async () => {
      const { dryRun } = context.flags;
      if (dryRun || !flags.again) await checkBooking(context, parts, !dryRun);
      return parts;
    });
  });
}

/** Prints what applying a file would change; exits 8 if that is anything, or if rows cannot be written. */
export async function diffInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  await withSource(context, path, async (source) => {
    const parts = await readParts(context, source, flags);
    await checkBooking(context, parts, false);
    const { changes, problems } = await preview(context, parts, flags);
    if (changes + problems > 0) context.exitCode = exitCodes.differs;
  });
}

/** Opens an input for the time of the work. @throws as `openSource` */
async function withSource<Value>(
  { io }: Context,
  path: string,
  work: (source: Source) => Promise<Value>,
): Promise<Value> {
  const source = await openSource(io, path);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

/** The run of an input, read and checked. @throws UsageError if the input cannot be used */
async function readParts(context: Context, source: Source, given: ApplyFlags): Promise<RunParts> {
  // Without a service to call, a large input need not be read first.
  await context.client('bulk');
  const { settings } = context;
  const flags = toRunFlags({
    ...given,
    map: given.map ?? settings.get('import-map'),
    thousands: given.thousands ?? settings.get('import-thousands'),
  });
  const input = await readRows(source, flags);
  for (const warning of checkRows(input)) await context.warn(`warning: ${warning}`);
  return newRun(input, { target: await targetHere(context), flags, guards: toGuards(given) });
}

/** Warns if a run has applied the same delivery. @throws UsageError instead if it is to be written */
async function checkBooking(context: Context, { header }: RunParts, isWritten: boolean): Promise<void> {
  const booking = await findBooking(runStore(context), header);
  if (!booking) return;
  const { run, what, verbs, file } = booking;
  const said = `${header.name}: this delivery ${what}`;
  if (!isWritten) return context.warn(`warning: ${said}`);
  const ways = verbs.map((verb) => {
    const line = commandLine(context, ['inventory', verb, run]);
    return verb === 'undo' ? `set it back with: ${line}` : `go on with: ${line}`;
  });
  const look = file === undefined ? [] : [`look at ${file}, and move it away if it is not the same delivery`];
  const hint = [...ways, ...look, 'if it came a second time, add --again'].join('; ');
  throw new UsageError(`${said}; nothing was sent`, hint, 'already_booked');
}
