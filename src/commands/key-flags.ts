import { keyRules, type SettingKey, settingKeys } from '../config/keys.ts';
import type { GlobalFlags } from '../context.ts';
import { Option } from './command.ts';

/** Flags for the keys of the config that a command has none for yet. */
export function keyOptions(present: readonly { readonly long?: string | undefined }[]): Option[] {
  return settingKeys
    .filter((key) => !present.some(({ long }) => long === `--${key}`))
    .map((key) => new Option(`--${key}${placeholder(key)}`, keyRules[key].summary) as Option);
}

/** What was given for each key, by a flag of its own or by one that other commands take too. */
export function givenKeys(
  flags: GlobalFlags,
  own: Readonly<Record<string, unknown>>,
): Partial<Record<SettingKey, string>> {
  const entries = settingKeys.flatMap((key) => {
    const { flag } = keyRules[key];
    const value = (flag && flags[flag]) ?? own[new Option(`--${key}`).attributeName()];
    return value === undefined ? [] : [[key, String(value)]];
  });
  return Object.fromEntries(entries);
}

const placeholders: Partial<Readonly<Record<SettingKey, string>>> = {
  concurrency: ' <n>',
  rate: ' <n>',
  'token-command': ' <command>',
  'auth-header': ' <name>',
  'auth-scheme': ' <word>',
  protected: '',
};

function placeholder(key: SettingKey): string {
  return placeholders[key] ?? (keyRules[key].isFile ? ' <file>' : ' <value>');
}
