import { askBaseUrl } from '../../asking/ask-base-url.ts';
import { activate, addProfile } from '../../config/edits.ts';
import { refuseProfileName } from '../../config/profile-name.ts';
import { editConfig } from '../../config/profiles.ts';
import { toSection } from '../../config/stored-values.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { addKeyFlags, givenKeys } from '../key-flags.ts';

export function declare(context: Context, entry: Entry) {
  const command = verb(entry, {
    description:
      'Makes a profile for a service. Every key of the config is a flag, and what is given is kept in the profile; ' +
      'so here --output and the like speak of the profile. The first profile becomes the active one.',
    examples: [
      'petstore profile create staging --base-url https://staging.example.com/v1',
      'petstore profile create prod --base-url https://api.example.com --protected --token-command "pass show petstore"',
      'petstore profile create ci --base-url http://localhost:4010 --output json --use',
    ],
  })
    .argument('<name>', 'name of the new profile')
    .option('--use', 'make it the active one');
  addKeyFlags(command);
  return command.action((name, { use, ...own }) => create(context, name, { use: use === true, own }));
}

interface Given {
  readonly use: boolean;
  readonly own: Readonly<Record<string, unknown>>;
}

async function create(context: Context, name: string, { use, own }: Given): Promise<void> {
  const { io, flags, notice } = context;
  refuseProfileName(name);
  if (flags.offline)
    throw new UsageError(
      'profile create: --offline needs no profile',
      'use the built-in one: `petstore profile use offline`',
    );
  const given = givenKeys(flags, own);
  const section = toSection(
    { ...given, 'base-url': given['base-url'] ?? (await askBaseUrl(context, 'profile create')) },
    io.cwd,
  );
  const isActive = await editConfig(io, (config) => {
    addProfile(config, name, section);
    if (use || config.profile === undefined) activate(config, name);
    return config.profile === name;
  });
  await notice(
    `profile ${name} is made${isActive ? ', and is the active one' : `; \`petstore profile use ${name}\` makes it the active one`}`,
  );
}
