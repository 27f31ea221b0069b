import { describeKey, type KeyFlags, keyRules, type SettingKey } from '../config/keys.ts';
import { count, type Flag, flag, type ValuesOf, value, values } from './flag.ts';

/** Makes the flag of a setting from the row of its key. */
export function keyFlag(key: SettingKey): Flag<string | undefined> {
  const { placeholder = '<value>', isFile, choices } = keyRules[key];
  return value(`--${key} ${placeholder}`, describeKey(key), {
    ...(isFile && { offers: 'file' }),
    ...(choices && { choices }),
  });
}

/** The flags that every command takes, before or after its words. */
export const globalFlags = {
  profile: value('--profile <name>', 'use this profile', { offers: 'profile' }),
  'base-url': keyFlag('base-url'),
  offline: flag('--offline', 'use the embedded store instead of a service'),
  output: { ...keyFlag('output'), syntax: '-o, --output <format>' },
  json: { ...flag('--json', 'short for -o json'), key: 'output', parse: () => 'json' },
  fields: value('--fields <a,b>', 'columns to show, in this order; help lists them', {
    offers: 'field',
    isList: true,
    parse: (text) => text.split(',').map((field) => field.trim()),
  }),
  sort: value('--sort <field>', 'sort by a field; -field for descending', { offers: 'field' }),
  noHeader: flag('--no-header', 'leave out the header row'),
  quiet: flag('-q, --quiet', 'show no notes and no progress on stderr'),
  verbose: count('-v, --verbose', 'one line per request on stderr; -vv adds headers'),
  color: keyFlag('color'),
  timeout: keyFlag('timeout'),
  retries: keyFlag('retries'),
  headers: values('-H, --header <name: value>', 'add a header to every request'),
  yes: flag('-y, --yes', 'answer yes to confirmations'),
  noInput: flag('--no-input', 'never ask'),
  help: flag('-h, --help', 'show help'),
} satisfies Record<string, Flag>;

/** The flags of `petstore` without a command. */
export const programFlags = { version: flag('--version', 'print the version') } satisfies Record<
  string,
  Flag
>;

/** The flags of commands that change records of the service. */
export const writeFlags = {
  dryRun: flag('--dry-run', 'print the request and send nothing'),
  confirm: value('--confirm <profile>', 'name of the profile, if it is protected', { offers: 'profile' }),
} satisfies Record<string, Flag>;

/** The values of the flags that several commands share, and of the flags for settings. */
export type GlobalFlags = Partial<ValuesOf<typeof globalFlags> & ValuesOf<typeof writeFlags>> & KeyFlags;
