import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Drops what `api bind` stored with the active profile, or at the top level where no profile is active.',
    examples: ['petstore api unbind', 'petstore api unbind --profile staging'],
  }).action(async () => {
    const { contractPath, removeContract } = await import('../../config/contract-file.ts');
    const { resolvePaths } = await import('../../config/paths.ts');
    const { boundProfile, nameOfTarget } = await import('./bound-profile.ts');
    const profile = await boundProfile(context, 'api unbind');
    const removed = await removeContract(contractPath(resolvePaths(context.io).configFile, profile));
    const target = nameOfTarget(profile);
    await context.notice(removed ? `${target} has the built-in contract again` : `${target} was not bound`);
  });
}
