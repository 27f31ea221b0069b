import { argument } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import { activate, editConfig, sectionOf, toStoredValue, unsetValue } from '../config/edit.ts';
import { resolvePaths } from '../config/file.ts';
import { keySummary, maskValue, requireKey, settingKeys } from '../config/keys.ts';
import { shownSetting } from '../config/settings.ts';
import { propertyColumns } from '../output/columns.ts';
import { CliError } from '../process/errors.ts';
import { sanitize } from '../process/text.ts';

/** The keys of the config file: the settings, and the active profile. */
const keyNames = [...settingKeys, 'profile'];

const get = verb({
  name: 'get',
  wrongSettings: 'warn',
  summary: 'Print the value of one setting',
  description:
    'Prints the value that a command with the same flags would use. `petstore config explain` shows where it comes from.',
  examples: [
    'petstore config get base-url',
    'petstore config get --profile staging timeout',
    'petstore config get profile',
  ],
  args: { key: argument('<key>', 'the key whose value to print', { offers: keyNames }) },
  async run({ settings }, { key: name }) {
    const key = name === 'profile' ? name : requireKey(name);
    const value = key === 'profile' ? settings.profile?.value : shownSetting(key, settings.explain(key));
    if (value === undefined || value === null)
      throw new CliError('not-found', `${key} is not set`, {
        hint: `set it with \`petstore config set ${key} <value>\``,
      });
    return { kind: 'text', text: `${sanitize(String(value))}\n`, data: value };
  },
});

const set = verb({
  name: 'set',
  wrongSettings: 'ignore',
  summary: 'Set a value in the config file',
  description: [
    'Sets a value at the top level of the config file, or in a profile with --profile.',
    'Keys:',
    { items: settingKeys.map((key) => [key, keySummary(key)]) },
  ],
  examples: [
    'petstore config set output json',
    'petstore config set --profile staging timeout 5s',
    'petstore config set --profile staging protected true',
  ],
  args: {
    key: argument('<key>', 'the key to set', { offers: keyNames }),
    value: argument('<value>', 'its new value', { offers: 'setting' }),
  },
  async run({ io, flags: { profile } }, { key: name, value }) {
    if (name === 'profile') {
      await editConfig(io, (config) => activate(config, value));
      return { kind: 'nothing', notices: [['status', `the active profile is ${value}`]] };
    }
    const key = requireKey(name);
    const storedValue = toStoredValue(key, value, key, io.cwd);
    await editConfig(io, (config) => {
      sectionOf(config, profile)[key] = storedValue;
    });
    return {
      kind: 'nothing',
      notices: [['status', `${key}${ofProfile(profile)} is ${maskValue(key, storedValue)}`]],
    };
  },
});

/** Names the profile of a value in a message; empty for the top level. */
function ofProfile(profile: string | undefined): string {
  return profile === undefined ? '' : ` of profile ${profile}`;
}

const unset = verb({
  name: 'unset',
  wrongSettings: 'ignore',
  summary: 'Remove a value from the config file',
  examples: [
    'petstore config unset output',
    'petstore config unset --profile staging timeout',
    'petstore config unset profile',
  ],
  args: {
    key: argument('<key>', 'the key to remove, known or not; profile for the active profile', {
      offers: keyNames,
    }),
  },
  async run({ io, flags }, { key }) {
    const profile = key === 'profile' ? undefined : flags.profile;
    const wasSet = await editConfig(io, (config) => {
      const wasInFile = unsetValue(config, profile, key);
      // An unknown key can be removed from the file. If it is not there, it is a typo.
      if (!wasInFile && key !== 'profile') requireKey(key);
      return wasInFile;
    });
    return {
      kind: 'nothing',
      notices: [['status', `${key}${ofProfile(profile)} ${wasSet ? 'is no longer set' : 'was not set'}`]],
    };
  },
});

const path = verb({
  name: 'path',
  wrongSettings: 'warn',
  summary: 'Show the paths of the config, the state and the embedded store',
  description:
    'Shows the paths of the config, the state and the embedded store, whether they exist or not. If you delete the embedded store, the next command makes a new one.',
  examples: ['petstore config path', 'petstore config path -o json'],
  view: () => ({ plural: 'paths', columns: propertyColumns(['what', 'path']) }),
  async run({ io }) {
    const { configFile, stateDir, offlineStore } = resolvePaths(io);
    const records = [
      { what: 'config', path: configFile },
      { what: 'state', path: stateDir },
      { what: 'offline-store', path: offlineStore },
    ];
    return { kind: 'list', pages: [records] };
  },
});

const explain = verb({
  name: 'explain',
  aliases: ['show'],
  wrongSettings: 'warn',
  summary: 'Show every setting, its value and where it came from',
  description:
    'Shows every setting as a command with the same flags would use it, and where it came from: flag, environment, ' +
    'profile, config (its top level) or default. It never shows the token; `petstore doctor` says whether it is sent.',
  examples: ['petstore config explain', 'petstore config explain --profile staging -o json'],
  view: () => ({ plural: 'settings', columns: propertyColumns(['key', 'value', 'source', 'origin']) }),
  async run({ settings }) {
    const { profile, offline, token } = settings;
    const records = [
      { key: 'profile', value: profile?.value ?? null, ...sourceOf(profile) },
      { key: 'offline', value: offline !== undefined, ...sourceOf(offline) },
      ...settingKeys.map((key) => {
        const setting = settings.explain(key);
        return { key, value: shownSetting(key, setting), ...sourceOf(setting) };
      }),
      { key: 'token', value: token ? 'set' : 'not set', ...sourceOf(token) },
    ];
    return { kind: 'list', pages: [records] };
  },
});

/** Returns the source of a value, such as `flag` or `default`, and the flag, variable or file; null for a default. */
function sourceOf(setting: { readonly source: string; readonly givenBy: string } | undefined) {
  return { source: setting?.source ?? 'default', origin: setting?.givenBy || null };
}

export const configCommands: Group = {
  examples: ['petstore config explain', 'petstore config set output json'],
  verbs: [explain, get, set, unset, path],
};
