import { flagOf, type KeyFlags, keyRules, type SettingKey, settingKeys } from '../config/keys.ts';
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
  const { summary, choices, placeholder = '[value]' } = keyRules[key];
  const option = new Option(`--${key} ${placeholder}`, summary) as Option;
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

/** The keys that were given, by a flag of the command's own or by one that all commands take. */
export function givenKeys(flags: KeyFlags, own: Readonly<Record<string, unknown>>): KeyFlags {
  const given = { ...flags, ...own } as Record<string, unknown>;
  return Object.fromEntries(settingKeys.map((key) => [flagOf(key), given[flagOf(key)]]));
}
