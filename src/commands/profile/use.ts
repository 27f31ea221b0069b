import { activate, editConfig } from '../../config/edit.ts';
import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Makes a profile the active one: commands use it unless --profile or PETSTORE_PROFILE names another. ' +
      '`petstore config unset profile` goes back to none.',
    examples: ['petstore profile use staging', 'petstore profile use offline'],
  })
    .argument('<profile>', 'the profile to use')
    .action(async (name) => {
      const { io, notice } = context;
      await editConfig(io, (config) => activate(config, name));
      await notice(`the active profile is ${name}`);
      if (io.env.PETSTORE_PROFILE) await notice('note: PETSTORE_PROFILE is set, and beats it');
    });
}
