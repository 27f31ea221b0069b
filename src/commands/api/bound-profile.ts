import { storedProfile } from '../../config/contract-file.ts';
import { editConfig, setValue, toStored } from '../../config/edit.ts';
import { parseBaseUrl, ValueError } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';

/**
 * The profile for which a contract is stored; undefined for the top level of the config.
 *
 * @throws UsageError for the embedded store, which always has its own contract, and for an address other than the
 *   active profile's, because its contract would apply to every profile without one.
 */
export async function boundProfile(context: Context, what: string): Promise<string | undefined> {
  const settings = await context.settings();
  if (settings.offline)
    throw new UsageError(
      `${what}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
  if (settings.setAside)
    throw new UsageError(
      `${what}: the base URL is of another origin than that of the active profile, ${settings.setAside.value}`,
      `name the profile with --profile ${settings.setAside.value}, or create one for this service with \`petstore profile create <name> --base-url <url>\``,
    );
  return storedProfile(settings);
}

export function nameOfTarget(profile: string | undefined): string {
  return profile === undefined ? 'the top level of the config' : `profile ${profile}`;
}

/**
 * Stores one of the description's servers as the base URL if none is set: the user chooses, `--yes` takes the first. An
 * existing base URL stays. Returns a note for the user.
 */
export async function settleBaseUrl(
  context: Context,
  profile: string | undefined,
  offered: readonly string[],
): Promise<string | undefined> {
  const servers = offered.filter(isBaseUrl);
  const current = (await context.settings()).get('base-url');
  const [first] = servers;
  if (current !== undefined) return noteOther(current, servers);
  if (first === undefined) return 'note: no base URL is set: petstore config set base-url <url>';
  const taken = context.flags.yes ? first : await ask(context, servers);
  if (taken === undefined)
    return `note: no base URL is set; the description offers ${servers.join(', ')}: petstore config set base-url ${first}`;
  const stored = toStored('base-url', taken, 'base-url', context.io.cwd);
  await editConfig(context.io, (config) => setValue(config, { profile, key: 'base-url' }, stored));
  return `the base URL of ${nameOfTarget(profile)} is ${stored}`;
}

function noteOther(current: string, servers: readonly string[]): string | undefined {
  if (servers.length === 0 || servers.includes(current)) return undefined;
  return `note: the description is that of ${servers.join(', ')}; commands go to ${current}`;
}

async function ask(context: Context, servers: readonly string[]): Promise<string | undefined> {
  const prompt = await context.prompt();
  if (!prompt) return undefined;
  const [first] = servers;
  if (servers.length === 1)
    return (await prompt.confirm(`No base URL is set. Use ${first}?`)) ? first : undefined;
  return prompt.select('No base URL is set. Which one shall it be?', [
    ...servers.map((url) => ({ name: url, value: url })),
    { name: 'none of them', value: undefined },
  ]);
}

function isBaseUrl(url: string): boolean {
  try {
    parseBaseUrl(url);
    return true;
  } catch (error) {
    if (error instanceof ValueError) return false;
    throw error;
  }
}
