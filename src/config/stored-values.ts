import { resolve } from 'node:path';
import { keyRules, type SettingKey, settingKeys } from './keys.ts';
import { parseSetting } from './settings.ts';

/** A value as the config file keeps it. */
export type Stored = string | number | boolean;

interface StoredFrom {
  /** How an error speaks of the value. */
  readonly label: string;
  /** What a relative path is relative to. */
  readonly cwd: string;
}

/**
 * A value as the file keeps it: checked, numbers and true or false as such, a path made absolute, so that it names the
 * same file wherever the program runs.
 *
 * @throws UsageError
 */
export function toStored(key: SettingKey, text: string, { label, cwd }: StoredFrom): Stored {
  const value = parseSetting(key, text, label);
  if (keyRules[key].isFile) return text.startsWith('~/') ? text : resolve(cwd, text);
  return key === 'timeout' ? text : (value ?? text);
}

/**
 * The content of a profile from what the flags of its keys say.
 *
 * @throws UsageError
 */
export function toSection(
  given: Readonly<Partial<Record<SettingKey, string>>>,
  cwd: string,
): Partial<Record<SettingKey, Stored>> {
  const entries = settingKeys.flatMap((key) => {
    const text = given[key];
    return text === undefined ? [] : [[key, toStored(key, text, { label: `--${key}`, cwd })]];
  });
  return Object.fromEntries(entries);
}
