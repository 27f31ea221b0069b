import { type Flag, optional, value } from '../cli/flag.ts';
import { globalFlags } from '../cli/global-flags.ts';
import { flagOf, type KeyFlags, keyRules, type SettingKey, settingKeys } from '../config/keys.ts';

/** A flag for each key of the config that no flag of all commands sets. */
export const keyFlags: Readonly<Record<string, Flag<string | undefined>>> = Object.fromEntries(
  settingKeys
    .filter((key) => !(flagOf(key) in globalFlags))
    .map((key) => [flagOf(key), keyFlag(key)] as const),
);

function keyFlag(key: SettingKey): Flag<string | undefined> {
  const { summary, placeholder, isFile } = keyRules[key];
  if (placeholder !== undefined)
    return value(`--${key} ${placeholder}`, summary, isFile ? { offers: 'file' } : {});
  // The word after a bare `--protected` is its value only if it is one: it may be the name of the profile.
  return optional(`--${key} [value]`, summary, /^(true|false)$/, (text) => text || 'true');
}

/** The keys that were given, by a flag of the command's own or by one that all commands take. */
export function givenKeys(flags: KeyFlags, own: Readonly<Record<string, unknown>>): KeyFlags {
  const given = { ...flags, ...own } as Record<string, unknown>;
  return Object.fromEntries(settingKeys.map((key) => [flagOf(key), given[flagOf(key)]]));
}
