import { askBaseUrl } from '../../asking/ask-base-url.ts';
import { argument, flag } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { activate, addProfile, editConfig, refuseProfileName, toSection } from '../../config/edit.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { givenKeys, keyFlags } from '../key-flags.ts';

export const create = verb({
  name: 'create',
  summary: 'Create a profile for a service',
  description:
    'Creates a profile for a service. Every key of the config is a flag, and its value is kept in the profile: ' +
    'here --output is the format of the profile. The first profile becomes the active one.',
  examples: [
    'petstore profile create staging --base-url https://staging.example.com/v1',
    'petstore profile create prod --base-url https://api.example.com --protected --token-command "pass show petstore"',
    'petstore profile create ci --base-url http://localhost:4010 --output json --use',
  ],
  args: { name: argument('<name>', 'name of the new profile') },
  flags: { use: flag('--use', 'make it the active one'), ...keyFlags },
  run: (context, { name, use, ...own }) => createProfile(context, name, { use: use === true, own }),
});

interface Given {
  readonly use: boolean;
  readonly own: Readonly<Record<string, unknown>>;
}

async function createProfile(context: Context, name: string, { use, own }: Given): Promise<void> {
  const { io, flags, notice } = context;
  refuseProfileName(name);
  if (flags.offline)
    throw new UsageError(
      'profile create: --offline needs no profile',
      'use the built-in one: `petstore profile use offline`',
    );
  const given = givenKeys(flags, own);
  const section = toSection(
    { ...given, baseUrl: given.baseUrl ?? (await askBaseUrl(context, 'profile create')) },
    io.cwd,
  );
  const isActive = await editConfig(io, (config) => {
    addProfile(config, name, section);
    if (use || config.profile === undefined) activate(config, name);
    return config.profile === name;
  });
  await notice(
    `created profile ${name}${isActive ? ' (now active)' : `; \`petstore profile use ${name}\` makes it the active one`}`,
  );
}
