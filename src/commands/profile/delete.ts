import { confirmDestruction } from '../../asking/confirmation.ts';
import { contractPath, removeContract } from '../../config/contract-file.ts';
import { dropProfile, editConfig, requireProfile } from '../../config/edit.ts';
import { readConfigFile } from '../../config/file.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: ['petstore profile delete staging', 'petstore profile delete staging --yes'],
  })
    .argument('<profile>', 'the profile to delete')
    .action(async (name) => {
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
    });
}
