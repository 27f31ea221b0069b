import { keyRules, type SettingKey, settingKeys } from '../config/keys.ts';
import type { GlobalFlags } from '../context.ts';
import { type AnyCommand, Option } from './command.ts';

/** Gives a command flags for the keys of the config that it has none for yet. */
export function addKeyFlags(to: object): void {
  const command = to as AnyCommand;
  const missing = settingKeys.filter((key) => !command.options.some(({ long }) => long === `--${key}`));
  for (const key of missing) command.addOption(keyOption(key));
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (words) => parse(nameProtection(words));
}

function keyOption(key: SettingKey): Option {
  const { summary, choices } = keyRules[key];
  const option = new Option(`--${key}${placeholder(key)}`, summary) as Option;
  return choices ? (option.choices(choices) as Option) : option;
}

/** The word after a bare `--protected` is its value only where it is one: it may be the name of the profile. */
function nameProtection(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const [before, next] = [words[index - 1], words[index + 1]];
    if (before === '--protected' && isTruth(word)) return [];
    return word === '--protected' ? [`--protected=${isTruth(next) ? next : 'true'}`] : [word];
  });
}

function isTruth(word: string | undefined): boolean {
  return word === 'true' || word === 'false';
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
  protected: ' [value]',
};

function placeholder(key: SettingKey): string {
  return placeholders[key] ?? (keyRules[key].isFile ? ' <file>' : ' <value>');
}
