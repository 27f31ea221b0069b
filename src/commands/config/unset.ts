import { editConfig, requireProfile, unsetValue } from '../../config/edit.ts';
import { formatAddress, parseAddress } from '../../config/file.ts';
import { requireKey } from '../../config/keys.ts';
import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: [
      'petstore config unset output',
      'petstore config unset --profile staging timeout',
      'petstore config unset profile',
    ],
  })
    .argument('<key>', 'the key to take out, known or not; profile for the active profile')
    .action((key) => unset(context, key));
}

async function unset({ io, flags, notice }: Context, text: string): Promise<void> {
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
