import { verb } from '../../cli/verb.ts';

export const unbind = verb({
  name: 'unbind',
  summary: 'Go back to the built-in contract',
  description:
    'Drops what `api bind` stored with the active profile, or at the top level where no profile is active.',
  examples: ['petstore api unbind', 'petstore api unbind --profile staging'],
  async run(context) {
    const { contractPath, removeContract } = await import('../../config/contract-file.ts');
    const { resolvePaths } = await import('../../config/paths.ts');
    const { boundProfile, nameOfTarget } = await import('./bound-profile.ts');
    const profile = await boundProfile(context, 'api unbind');
    const removed = await removeContract(contractPath(resolvePaths(context.io).configFile, profile));
    const target = nameOfTarget(profile);
    await context.notice(removed ? `${target} has the built-in contract again` : `${target} was not bound`);
  },
});
