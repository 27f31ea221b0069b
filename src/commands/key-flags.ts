import { keyRules, type SettingKey, settingKeys } from '../config/keys.ts';
import type { GlobalFlags } from '../context.ts';
import { Option } from './command.ts';

/** Flags for the keys that have none among the flags of all commands. */
export function keyOptions(): Option[] {
  return settingKeys
    .filter((key) => keyRules[key].flag === undefined)
    .map((key) => new Option(`--${key}${placeholder(key)}`, keyRules[key].summary) as Option);
}

/** What was given for each key, by a flag of its own or by one that all commands take. */
export function givenKeys(
  flags: GlobalFlags,
  own: Readonly<Record<string, unknown>>,
): Partial<Record<SettingKey, string>> {
  const entries = settingKeys.flatMap((key) => {
    const { flag } = keyRules[key];
    const value = flag === undefined ? own[new Option(`--${key}`).attributeName()] : flags[flag];
    return value === undefined ? [] : [[key, String(value)]];
  });
  return Object.fromEntries(entries);
}

function placeholder(key: SettingKey): string {
  if (key === 'protected') return '';
  return keyRules[key].isFile ? ' <file>' : ' <value>';
}
