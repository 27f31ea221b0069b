import { askBaseUrl, refuseValue } from '../../asking.ts';
import { value } from '../../cli/flag.ts';
import { keyFlags } from '../../cli/global-flags.ts';
import { verb } from '../../cli/verb.ts';
import { activate, addProfile, editConfig, profileNameProblem, toSection } from '../../config/edit.ts';
import { readConfigFile } from '../../config/file.ts';
import type { KeyFlags } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { offlineProfile } from '../../config/settings.ts';
import { type Context, whyNotAsked } from '../../context.ts';
import type { Prompt } from '../../input/question.ts';
import { UsageError } from '../../process/errors.ts';

export const init = verb({
  name: 'init',
  summary: 'Set up: ask for a service, make a profile for it and use it',
  description:
    'Asks for a service, creates a profile for it and makes it the active one. What a flag gives is not asked for; ' +
    'with --base-url or --offline nothing is.',
  examples: [
    'petstore config init',
    'petstore config init --base-url https://api.example.com --name prod --no-input',
    'petstore config init --offline',
  ],
  flags: { name: value('--name <name>', 'name of the profile (default: default)'), ...keyFlags },
  run: (context, { name }) => setUp(context, name),
});

async function setUp(context: Context, named: string | undefined): Promise<void> {
  const given = context.flags;
  if (await wantsOffline(context)) return useOffline(context);
  const baseUrl = given.baseUrl ?? (await askBaseUrl(context, 'config init'));
  const prompt = await context.prompt();
  const name = named ?? (prompt ? await askName(context, prompt) : 'default');
  const token = prompt && !(given.tokenFile || given.tokenCommand) ? await askToken(prompt) : {};
  const section = toSection({ ...given, ...token, baseUrl }, context.io.cwd);
  await editConfig(context.io, (config) => {
    addProfile(config, name, section);
    activate(config, name);
  });
  await context.notice(`created profile ${name} (now active) in ${resolvePaths(context.io).configFile}`);
  await context.notice('next: `petstore doctor` checks it, `petstore pets list` uses it');
}

async function wantsOffline(context: Context): Promise<boolean> {
  if (context.flags.offline) return true;
  if (context.flags.baseUrl !== undefined) return false;
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      `config init: ${whyNotAsked(context)}`,
      'give --base-url <url> for a service, or --offline for the embedded store',
    );
  return prompt.select('Where do commands go?', [
    { name: 'a service', value: false, description: 'at a base URL' },
    {
      name: 'the embedded store',
      value: true,
      description: 'a small shop on this machine, to try things out',
    },
  ]);
}

async function useOffline({ io, notice }: Context): Promise<void> {
  await editConfig(io, (config) => activate(config, offlineProfile));
  await notice(
    `the active profile is offline: commands go to the embedded store in ${resolvePaths(io).offlineStore}`,
  );
}

function askName({ io }: Context, prompt: Prompt): Promise<string> {
  const taken = Object.keys(readConfigFile(io).profiles);
  return prompt.text('Name of the profile', {
    initial: taken.includes('default') ? '' : 'default',
    refuse: (name) =>
      taken.includes(name) ? 'A profile of that name already exists' : profileNameProblem(name),
  });
}

/** Asks for the source of the token; never for the token itself, because it is never stored. */
async function askToken(prompt: Prompt): Promise<KeyFlags> {
  const way = await prompt.select('Where does the token come from?', [
    { name: 'nowhere, or PETSTORE_TOKEN', value: undefined, description: 'nothing to set' },
    { name: 'a file', value: 'token-file' as const },
    {
      name: 'a command that prints it',
      value: 'token-command' as const,
      description: 'such as pass, op or vault',
    },
  ]);
  if (way === undefined) return {};
  const text = await prompt.text(
    way === 'token-file' ? 'File that holds the token' : 'Command that prints the token',
    {
      refuse: refuseValue(way),
    },
  );
  return way === 'token-file' ? { tokenFile: text } : { tokenCommand: text };
}
