import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { editConfig, requireProfile, unsetValue } from '../../config/edit.ts';
import { formatAddress, parseAddress } from '../../config/file.ts';
import { requireKey, settingKeys } from '../../config/keys.ts';
import type { Context } from '../../context.ts';

export const unset = verb({
  name: 'unset',
  summary: 'Take a value out of the config file',
  examples: [
    'petstore config unset output',
    'petstore config unset --profile staging timeout',
    'petstore config unset profile',
  ],
  args: {
    key: argument('<key>', 'the key to take out, known or not; profile for the active profile', {
      offers: settingKeys,
    }),
  },
  run: (context, { key }) => unsetKey(context, key),
});

async function unsetKey({ io, flags, notice }: Context, text: string): Promise<void> {
  const address = parseAddress(text, text === 'profile' ? undefined : flags.profile);
  const wasSet = await editConfig(io, (config) => {
    if (address.profile !== undefined) requireProfile(config, address.profile);
    const found = unsetValue(config, address);
    // An unknown key can be removed, because it stops every command; one that is not there either is a typo.
    if (!found && text !== 'profile') requireKey(address.key);
    return found;
  });
  await notice(`${formatAddress(address)} ${wasSet ? 'is no longer set' : 'was not set'}`);
}
