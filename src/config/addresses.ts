import { UsageError } from '../errors.ts';
import { closest } from './closest.ts';
import { isSettingKey, type SettingKey, settingKeys } from './keys.ts';

/** A place in the config file: a key of the top level, or of a profile. */
export interface Address {
  readonly profile: string | undefined;
  /** Unchecked: a file may hold a key that there is not. */
  readonly key: string;
}

/** The place that `timeout`, or `profiles.staging.timeout`, names; `profile` is that of `--profile`. */
export function parseAddress(text: string, profile: string | undefined): Address {
  const [, name, key] = /^profiles\.(.+)\.([^.]+)$/.exec(text) ?? [];
  return name !== undefined && key !== undefined ? { profile: name, key } : { profile, key: text };
}

/** How a place is written: the inverse of `parseAddress`. */
export function formatAddress({ profile, key }: Address): string {
  return profile === undefined ? key : `profiles.${profile}.${key}`;
}

/** @throws UsageError for a key that there is not; a word for a secret gets the ways to give one. */
export function requireKey(key: string): SettingKey {
  if (isSettingKey(key)) return key;
  if (/^(token|.*[-_.]?(token|secret|password|api-?key))$/i.test(key)) throw neverStored(key);
  const near = closest(key, settingKeys);
  throw new UsageError(
    `unknown key '${key}'`,
    near === undefined ? `keys are ${settingKeys.join(', ')}` : `did you mean ${near}?`,
  );
}

function neverStored(key: string): UsageError {
  return new UsageError(
    `${key}: a token is never stored`,
    'give it with the variable PETSTORE_TOKEN, with a file (`petstore config set token-file <file>`), or with the output of a command (`petstore config set token-command <command>`)',
  );
}
