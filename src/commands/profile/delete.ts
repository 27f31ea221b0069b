import { confirmDestruction } from '../../asking/confirmation.ts';
import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { contractPath, removeContract } from '../../config/contract-file.ts';
import { dropProfile, editConfig, requireProfile } from '../../config/edit.ts';
import { readConfigFile } from '../../config/file.ts';
import { resolvePaths } from '../../config/paths.ts';

export const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete a profile and the contract bound to it',
  examples: ['petstore profile delete staging', 'petstore profile delete staging --yes'],
  args: { name: argument('<profile>', 'the profile to delete', { offers: 'profile' }) },
  async run(context, { name }) {
    const { io, notice } = context;
    const { configFile } = resolvePaths(io);
    const file = readConfigFile(configFile);
    if (file.problem === undefined) {
      requireProfile(file, name);
      await confirmDestruction(context, `delete profile ${name}`);
    }
    const wasActive = await editConfig(io, (config) => dropProfile(config, name));
    await removeContract(contractPath(configFile, name));
    await notice(`deleted profile ${name}${wasActive ? '; no profile is active now' : ''}`);
  },
});
