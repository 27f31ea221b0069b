import { offlineProfile } from './config/file.ts';
import type { Settings } from './config/settings.ts';
import type { Context } from './context.ts';
import type { Prompt } from './input/prompt.ts';
import { UsageError } from './process/errors.ts';

/**
 * Returns a clause that says why no question can be asked, or undefined if questions are possible. An answer is never read from a
 * pipe: if a command has read its input from stdin, it reads the answer from the terminal.
 */
export function whyNotAsked({ io, flags }: Context): string | undefined {
  const hasKeyboard =
    io.stdin.isTerminal || (io.stdin.isRead && io.stderr.isTerminal && io.keyboard() !== undefined);
  if (!hasKeyboard || !io.stderr.isTerminal) return 'there is no terminal';
  if (io.env.TERM === 'dumb') return 'TERM is dumb';
  if (io.env.CI) return 'CI is set';
  return flags.noInput ? '--no-input is given' : undefined;
}

export function canAsk(context: Context): boolean {
  return whyNotAsked(context) === undefined;
}

/** Opens the prompt, if questions are possible. */
export async function openPrompt(context: Context): Promise<Prompt | undefined> {
  if (!canAsk(context)) return undefined;
  const { io, stop } = context;
  const { createPrompt } = await import('./input/prompt.ts');
  return createPrompt(io, { signal: stop.stopped, style: await context.style('stderr') });
}

/**
 * Asks the user to confirm a write, and returns when the user confirms. For a protected profile the user types its name; otherwise
 * a write that needs a yes asks for one. Call it once, before the first write. With `--dry-run` it asks nothing.
 *
 * @param write.what the write, as a clause: `delete pet 5 (Rex)`.
 * @param write.needsYes whether the user must say yes: the write cannot be undone, or writes many records. --yes answers.
 * @throws UsageError if the answer is no, or if questions are impossible.
 */
export async function confirmWrite(
  context: Context,
  { what, needsYes = false }: { readonly what: string; readonly needsYes?: boolean },
): Promise<void> {
  const { confirm, dryRun, yes } = context.flags;
  const { settings } = context;
  const { offline, baseUrl, profile } = settings;
  // The name to type: without a profile it is the host.
  const name = offline ? offlineProfile : (profile?.value ?? (baseUrl && new URL(baseUrl).host));
  // Without a service to write to, the error of the client says so.
  if (dryRun || name === undefined) return;
  if (confirm !== undefined && confirm !== name)
    throw new UsageError(
      `--confirm ${confirm}: this command writes to ${name}, nothing was written`,
      undefined,
      'confirmation_needed',
    );
  const isProtected = settings.get('protected') && !settings.offline;
  const asksYes = !yes && needsYes;
  if (isProtected && confirm === undefined) {
    const flags = `--confirm ${name}${asksYes ? ' and --yes' : ''}`;
    const prompt = await requirePrompt(context, what, `${name} is protected`, flags);
    const question = `${name} is protected. Type its name to ${what}:`;
    if ((await prompt.text(question, (answer) => answer.trim())) !== name) throw declinedError(what);
  } else if (asksYes) await askYes(context, what, serviceText(settings));
}

/**
 * Asks the user to confirm an action that cannot be undone, and returns when the user confirms.
 *
 * @param what a clause: `delete profile staging`.
 * @throws UsageError if the answer is no, or if questions are impossible.
 */
export async function confirmDestruction(context: Context, what: string): Promise<void> {
  if (!context.flags.yes) await askYes(context, what);
}

async function askYes(context: Context, what: string, service = ''): Promise<void> {
  const prompt = await requirePrompt(context, what, 'this needs a confirmation', '--yes');
  const question = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}${service}?`;
  if (!(await prompt.confirm(question))) throw declinedError(what);
}

/** Opens the prompt. @throws UsageError if questions are impossible; its hint names the flags to give instead. */
async function requirePrompt(context: Context, what: string, why: string, flags: string): Promise<Prompt> {
  const prompt = await openPrompt(context);
  if (prompt) return prompt;
  const message = `${what}: ${why}, but ${whyNotAsked(context)}`;
  throw new UsageError(message, `use ${flags}`, 'confirmation_needed');
}

function declinedError(what: string): UsageError {
  return new UsageError(`not confirmed, nothing was written: ${what}`, undefined, 'declined');
}

/** Names the service in a question, or the embedded store. */
function serviceText(settings: Settings): string {
  const { baseUrl, profile } = settings;
  if (baseUrl === undefined) return ' in the embedded store';
  return profile ? ` on ${profile.value} (${baseUrl})` : ` on ${baseUrl}`;
}
