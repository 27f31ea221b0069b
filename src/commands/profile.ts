import { confirmDestruction } from '../asking.ts';
import { argument, globalFlags, keyFlag } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import {
  activate,
  addProfile,
  dropProfile,
  editConfig,
  requireProfile,
  toStoredValue,
} from '../config/edit.ts';
import { offlineProfile, readConfigFile } from '../config/file.ts';
import { maskValue } from '../config/keys.ts';
import { propertyColumns } from '../output/columns.ts';
import { UsageError } from '../process/errors.ts';

const list = verb({
  name: 'list',
  wrongSettings: 'warn',
  aliases: ['ls'],
  summary: 'List the profiles; mark the active one and the protected ones',
  description:
    'Lists the profiles, and marks the active one and the protected ones. --profile, PETSTORE_PROFILE or the config file names the active one. The profile offline is built in.',
  examples: ['petstore profile list', 'petstore profile list -o ids'],
  view: () => ({
    plural: 'profiles',
    columns: propertyColumns(['name', 'active', 'protected', 'base-url']),
  }),
  async run(context) {
    const { profile } = context.settings;
    const { profiles } = await readConfigFile(context.io);
    const profileList = [...Object.keys(profiles).sort(), offlineProfile].map((name) => ({
      name,
      active: name === profile?.value,
      protected: String(profiles[name]?.protected) === 'true',
      'base-url': profiles[name]?.['base-url'] ?? null,
    }));
    return { kind: 'list', pages: [profileList] };
  },
});

const create = verb({
  name: 'create',
  wrongSettings: 'ignore',
  summary: 'Create a profile for a service',
  description:
    'Creates a profile for a service. It becomes the active profile if none is active. Set its other settings with ' +
    '`petstore config set --profile <name> <key> <value>`. To rename a profile, change its name in the file that ' +
    '`petstore config path` names.',
  examples: [
    'petstore profile create staging --base-url https://staging.example.com/v1',
    'petstore profile create prod --base-url https://api.example.com --token-file ~/.petstore-token',
    'petstore config set --profile prod protected true',
  ],
  args: { name: argument('<name>', 'name of the new profile') },
  // Every command takes --base-url, but this one must have it, so its help shows it.
  flags: { 'base-url': globalFlags['base-url'], tokenFile: keyFlag('token-file') },
  async run({ io, flags }, { name, tokenFile }) {
    if (flags['base-url'] === undefined)
      throw new UsageError('profile create: --base-url is missing', 'give --base-url <url>');
    const section = {
      'base-url': toStoredValue('base-url', flags['base-url'], '--base-url', io.cwd),
      ...(tokenFile !== undefined && {
        'token-file': toStoredValue('token-file', tokenFile, '--token-file', io.cwd),
      }),
    };
    const isActive = await editConfig(io, (config) => {
      addProfile(config, name, section);
      if (config.profile === undefined) activate(config, name);
      return config.profile === name;
    });
    const next = isActive ? ' (now active)' : `; \`petstore profile use ${name}\` makes it the active one`;
    return { kind: 'nothing', notices: [['status', `created profile ${name}${next}`]] };
  },
});

const use = verb({
  name: 'use',
  wrongSettings: 'ignore',
  summary: 'Make a profile the active one',
  description:
    'Makes a profile the active one: commands use it unless --profile or PETSTORE_PROFILE names another. ' +
    '`petstore config unset profile` goes back to none.',
  examples: ['petstore profile use staging', 'petstore profile use offline'],
  args: { name: argument('<profile>', 'the profile to use', { offers: 'profile' }) },
  async run(context, { name }) {
    const { io } = context;
    await editConfig(io, (config) => activate(config, name));
    return { kind: 'nothing', notices: [['status', `the active profile is ${name}`]] };
  },
});

const show = verb({
  name: 'show',
  wrongSettings: 'warn',
  summary: 'Show the settings of a profile',
  examples: ['petstore profile show', 'petstore profile show staging -o json'],
  args: {
    name: argument('[profile]', 'the profile to show (default: the active one)', { offers: 'profile' }),
  },
  view: () => ({ plural: 'settings', columns: propertyColumns(['key', 'value']) }),
  async run({ io, settings: { profile } }, { name = profile?.value }) {
    if (name === undefined)
      throw new UsageError('profile show: no profile is active', 'name one; see `petstore profile list`');
    const section = requireProfile(await readConfigFile(io), name);
    const records = Object.entries(section).map(([key, value]) => ({ key, value: maskValue(key, value) }));
    return { kind: 'list', pages: [records] };
  },
});

const remove = verb({
  name: 'delete',
  wrongSettings: 'ignore',
  aliases: ['rm'],
  summary: 'Delete a profile',
  examples: ['petstore profile delete staging', 'petstore profile delete staging --yes'],
  args: { name: argument('<profile>', 'the profile to delete', { offers: 'profile' }) },
  async run(context, { name }) {
    const { io } = context;
    requireProfile(await readConfigFile(io), name);
    await confirmDestruction(context, `delete profile ${name}`);
    const wasActive = await editConfig(io, (config) => dropProfile(config, name));
    return {
      kind: 'nothing',
      notices: [['status', `deleted profile ${name}${wasActive ? '; no profile is active now' : ''}`]],
    };
  },
});

export const profileCommands: Group = {
  defaultAction: list,
  examples: [
    'petstore profile create staging --base-url https://staging.example.com/v1',
    'petstore profile use staging',
    'petstore profile list',
  ],
  verbs: [list, create, use, show, remove],
};
