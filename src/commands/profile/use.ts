import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { activate, editConfig } from '../../config/edit.ts';

export const use = verb({
  name: 'use',
  summary: 'Make a profile the active one',
  description:
    'Makes a profile the active one: commands use it unless --profile or PETSTORE_PROFILE names another. ' +
    '`petstore config unset profile` goes back to none.',
  examples: ['petstore profile use staging', 'petstore profile use offline'],
  args: { name: argument('<profile>', 'the profile to use', { offers: 'profile' }) },
  async run(context, { name }) {
    const { io, notice } = context;
    await editConfig(io, (config) => activate(config, name));
    await notice(`the active profile is ${name}`);
    if (io.env.PETSTORE_PROFILE) await notice('note: PETSTORE_PROFILE is set, and beats it');
  },
});
