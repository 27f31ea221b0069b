import type { GlobalFlags } from '../context.ts';
import type { Io } from '../io.ts';

/** Where a value came from; an earlier one beats a later one. */
export type SettingSource = 'flag' | 'environment' | 'profile' | 'config' | 'default';

export interface Setting<Value> {
  readonly value: Value;
  readonly source: SettingSource;
  /** The flag, variable or file that gave it. */
  readonly origin: string;
}

export type OutputFormat = 'table' | 'json' | 'jsonl' | 'csv' | 'tsv' | 'yaml' | 'ids';
export type ColorMode = 'auto' | 'always' | 'never';

/** Every key that the config file and a profile may hold, as the program uses its value. */
export interface SettingValues {
  'base-url': string | undefined;
  output: OutputFormat;
  /** Milliseconds. */
  timeout: number;
  retries: number;
  concurrency: number;
  /** Requests a second; undefined for no limit. */
  rate: number | undefined;
  color: ColorMode;
  'token-file': string | undefined;
  'token-command': string | undefined;
  'auth-header': string;
  'auth-scheme': string;
  'ca-cert': string | undefined;
  'client-cert': string | undefined;
  'client-key': string | undefined;
  protected: boolean;
}
export type SettingKey = keyof SettingValues;

/** All settings of this run, resolved: flag, environment, profile, top level of the config, default. */
export interface Settings {
  /** The active profile's name; `offline` is built in. */
  readonly profile: Setting<string> | undefined;
  /** Whether commands go to the server in this process. */
  readonly offline: boolean;
  /** The profile's own base URL, which its token belongs to. */
  readonly profileBaseUrl: string | undefined;
  get<Key extends SettingKey>(key: Key): SettingValues[Key];
  explain<Key extends SettingKey>(key: Key): Setting<SettingValues[Key]>;
}

/**
 * The settings of this run.
 *
 * @throws UsageError for an unknown profile, key or value, naming the flag, variable or file that holds it.
 */
export async function resolveSettings(_io: Io, _flags: GlobalFlags): Promise<Settings> {
  throw new Error('settings: still to come');
}
