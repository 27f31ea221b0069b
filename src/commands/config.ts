import { argument } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import { decideTokenUse, headerText } from '../config/credential.ts';
import { activate, editConfig, sectionOf, toStoredValue, unsetValue } from '../config/edit.ts';
import { readConfigFile, resolvePaths } from '../config/file.ts';
import { keySummary, maskValue, requireKey, settingKeys } from '../config/keys.ts';
import { resolveSettings, shownSetting } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { propertyColumns } from '../output/columns.ts';
import { CliError } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { sanitize } from '../process/text.ts';

/** The keys of the config file: the settings, and the active profile. */
const keyNames = [...settingKeys, 'profile'];

const get = verb({
  name: 'get',
  wrongSettings: 'warn',
  summary: 'Print one value of the config',
  defaultFormat: 'table',
  description:
    'Prints one value as the config file gives it: that of the profile, else of the top level, else the default. ' +
    'Flags and variables do not count here; `petstore config explain` shows what a command would use.',
  examples: [
    'petstore config get base-url',
    'petstore config get --profile staging timeout',
    'petstore config get profile',
  ],
  args: { key: argument('<key>', 'the key whose value to print', { offers: keyNames }) },
  async run(context, { key }) {
    const value = await findValue(context, key);
    if (value === undefined || value === null)
      throw new CliError('not-found', `${key} is not set`, {
        hint: `set it with \`petstore config set ${key} <value>\``,
      });
    const text = sanitize(typeof value === 'string' ? value : printJson(value));
    return { kind: 'text', text: `${text}\n`, data: { [key]: value } };
  },
});

/** Finds a value of the config file, for the chosen profile. */
async function findValue({ io, flags }: Context, text: string): Promise<JsonValue | undefined> {
  const file = await readConfigFile(io);
  if (text === 'profile') return file.active;
  const key = requireKey(text);
  const { PETSTORE_PROFILE, HOME } = io.env;
  const { profile } = flags;
  const setting = resolveSettings({ ...io, env: { PETSTORE_PROFILE, HOME } }, { profile }, file).explain(key);
  // `config explain` masks this value, but a user who asks for it by name gets it.
  return key === 'token-command' ? setting.text || undefined : shownSetting(key, setting);
}

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
    value: argument('<value>', 'its new value'),
  },
  async run({ io, flags: { profile }, notice }, { key: name, value }) {
    if (name === 'profile') {
      await editConfig(io, (config) => activate(config, value));
      return notice('status', `the active profile is ${value}`);
    }
    const key = requireKey(name);
    const storedValue = toStoredValue(key, value, key, io.cwd);
    await editConfig(io, (config) => {
      sectionOf(config, profile)[key] = storedValue;
    });
    await notice('status', `${key}${ofProfile(profile)} is ${maskValue(key, storedValue)}`);
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
  async run({ io, flags, notice }, { key }) {
    const profile = key === 'profile' ? undefined : flags.profile;
    const wasSet = await editConfig(io, (config) => {
      const wasInFile = unsetValue(config, profile, key);
      // An unknown key can be removed from the file. If it is not there, it is a typo.
      if (!wasInFile && key !== 'profile') requireKey(key);
      return wasInFile;
    });
    await notice('status', `${key}${ofProfile(profile)} ${wasSet ? 'is no longer set' : 'was not set'}`);
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
    'profile, config (its top level) or default. It says whether there is a token and where that comes from, and never shows the token.',
  examples: ['petstore config explain', 'petstore config explain --profile staging -o json'],
  view: () => ({ plural: 'settings', columns: propertyColumns(['key', 'value', 'source', 'origin']) }),
  run: async (context) => ({ kind: 'list', pages: [await explainSettings(context)] }),
});

async function explainSettings(context: Context): Promise<object[]> {
  const { settings } = context;
  const { profile, offline, token } = settings;
  return [
    { key: 'profile', value: profile?.value ?? null, ...sourceOf(profile) },
    { key: 'offline', value: offline !== undefined, ...sourceOf(offline) },
    ...settingKeys.map((key) => {
      const setting = settings.explain(key);
      return { key, value: shownSetting(key, setting), ...sourceOf(setting) };
    }),
    { key: 'token', value: await tokenText(context), ...sourceOf(token) },
  ];
}

/** Says whether there is a token, and whether and in which header it is sent. */
async function tokenText({ settings, contract }: Context): Promise<string> {
  const { baseUrl, token } = settings;
  if (!token || baseUrl === undefined) return token ? 'set' : 'not set';
  const header = await contract().then(({ tokenHeader }) => tokenHeader, unreadBinding);
  if (header instanceof CliError) return `set; ${header.message}`;
  const use = decideTokenUse(settings, { baseUrl, header });
  return use?.kind === 'sent' ? `set, sent in ${headerText(use.header)}` : `set, not sent: ${use?.why}`;
}

/** Returns the error of a binding that cannot be read, which `config explain` shows instead of failing. */
function unreadBinding(error: unknown): CliError {
  if (error instanceof CliError) return error;
  throw error;
}

/** Returns the source of a value, such as `flag` or `default`, and the flag, variable or file; null for a default. */
function sourceOf(setting: { readonly source: string; readonly givenBy: string } | undefined) {
  return { source: setting?.source ?? 'default', origin: setting?.givenBy || null };
}

export const configCommands: Group = {
  examples: ['petstore config explain', 'petstore config set output json'],
  verbs: [explain, get, set, unset, path],
};
