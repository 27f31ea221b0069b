import { type SettingKey, valueProblem } from './config/keys.ts';
import { offlineProfile, type Settings } from './config/settings.ts';
import { type Context, whyNotAsked } from './context.ts';
import { UsageError } from './errors.ts';
import type { Prompt } from './input/question.ts';

interface Write {
  /** The consequence, as a clause: `delete pet 5 (Rex)`. */
  readonly what: string;
  /** It cannot be undone: without --yes the user is asked. */
  readonly destructive?: boolean | undefined;
}

/**
 * Returns if a write may go on, and asks the user first if necessary: for the profile's name if the profile is
 * protected, for a yes if the write is destructive. Call it once, before the first write. With `--dry-run` nothing is
 * asked.
 *
 * @throws UsageError if the answer is no, or if questions are impossible.
 */
export async function confirmWrite(context: Context, write: Write): Promise<void> {
  const { confirm, dryRun, yes } = context.flags;
  if (dryRun) return;
  const settings = await context.settings();
  const name = nameToConfirm(settings);
  if (confirm !== undefined && confirm !== name) throw wrongName(confirm, name);
  // Without a name there is no base URL either, and the error about that is more useful.
  const isProtected = settings.get('protected') && !settings.offline && name !== '';
  const asksName = isProtected && confirm === undefined;
  const asksYes = write.destructive === true && !yes;
  if (!asksName && !asksYes) return;
  const prompt = context.prompt();
  if (!prompt) throw unanswerable(context, write, { name: asksName ? name : undefined, yes: asksYes });
  if (asksName) await askName(await prompt, write, name);
  else await askYes(await prompt, write, placeOf(settings));
}

/**
 * Returns if something that cannot be undone may go on, and asks the user first.
 *
 * @param what a clause: `delete profile staging`.
 * @throws UsageError if the answer is no, or if questions are impossible.
 */
export async function confirmDestruction(context: Context, what: string): Promise<void> {
  if (context.flags.yes) return;
  const prompt = context.prompt();
  if (!prompt) throw unanswerable(context, { what }, { yes: true });
  await askYes(await prompt, { what }, '');
}

/** The name of the target: its profile, or the host of a base URL without a profile. */
function nameToConfirm(settings: Settings): string {
  if (settings.offline) return offlineProfile;
  const baseUrl = settings.get('base-url');
  return settings.profile?.value ?? (baseUrl === undefined ? '' : new URL(baseUrl).host);
}

/** The user must see which service is affected. There is only one embedded store, so it needs no host. */
function placeOf(settings: Settings): string {
  const baseUrl = settings.get('base-url');
  if (settings.offline || baseUrl === undefined) return '';
  return settings.profile ? ` on ${settings.profile.value} (${baseUrl})` : ` on ${baseUrl}`;
}

async function askYes(prompt: Prompt, write: Write, place: string): Promise<void> {
  if (!(await prompt.confirm(`${capitalise(write.what)}${place}?`))) throw declined(write);
}

async function askName(prompt: Prompt, write: Write, name: string): Promise<void> {
  const answer = await prompt.text(`${name} is protected. To ${write.what}, type its name:`);
  if (answer.trim() !== name) throw declined(write);
}

function declined({ what }: Write): UsageError {
  return new UsageError(`${what}: not confirmed, nothing was written`);
}

interface Demand {
  /** The profile's name must be given. */
  readonly name?: string | undefined;
  readonly yes: boolean;
}

function unanswerable(context: Context, { what }: Write, { name, yes }: Demand): UsageError {
  const flags = [...(name === undefined ? [] : [`--confirm ${name}`]), ...(yes ? ['--yes'] : [])];
  const why = name === undefined ? 'needs confirmation' : `${name} is protected`;
  return new UsageError(`${what}: ${why}, but ${whyNotAsked(context)}`, `use ${flags.join(' and ')}`);
}

function wrongName(given: string, name: string): UsageError {
  return new UsageError(
    `--confirm ${given}: ${name === '' ? 'no profile is active' : `the target is ${name}`}, nothing was written`,
  );
}

function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Asks for the base URL if no flag gave it. @throws UsageError that names the flag if questions are impossible. */
export async function askBaseUrl(context: Context, command: string): Promise<string> {
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      `${command}: --base-url is missing, and ${whyNotAsked(context)}`,
      'give --base-url <url>',
    );
  return prompt.text('Base URL of the service:', { refuse: refuseValue('base-url') });
}

/** For a prompt: the reason why an answer is refused. */
export function refuseValue(key: SettingKey): (text: string) => string | undefined {
  return (text) => {
    const problem = valueProblem(key, text);
    return problem && `It ${problem}`;
  };
}
