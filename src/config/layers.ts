import { dirname } from 'node:path';
import type { GlobalFlags } from '../context.ts';
import type { Io } from '../io.ts';
import type { ConfigFile } from './config-file.ts';
import { keyRules, type SettingKey } from './keys.ts';

/** Where a value came from; an earlier one beats a later one. */
export type SettingSource = 'flag' | 'environment' | 'profile' | 'config' | 'default';

/** One place that may hold settings. */
export interface Layer {
  readonly source: SettingSource;
  /** The value as it stands there; undefined where it is not given. */
  read(key: SettingKey): unknown;
  /** The flag, variable, profile or file that gives the key. */
  origin(key: SettingKey): string;
  /** How an error speaks of the place: `--timeout`, `PETSTORE_OUTPUT`, `timeout of profile staging in /…/config.json`. */
  label(key: SettingKey): string;
  /** What a relative path in it is relative to. */
  readonly folder: string;
}

/** The layers from the one that wins to the one that gives way, but for the defaults. */
export function layersOf(
  { io, flags }: { readonly io: Io; readonly flags: GlobalFlags },
  file: ConfigFile,
  profile: string | undefined,
): Layer[] {
  const section = profile === undefined ? undefined : file.profiles[profile];
  return [
    {
      source: 'flag',
      read: (key) => {
        const flag = keyRules[key].flag;
        return flag && flags[flag];
      },
      origin: (key) => `--${key}`,
      label: (key) => `--${key}`,
      folder: io.cwd,
    },
    {
      source: 'environment',
      read: (key) => variableOf(key, io)?.value,
      origin: (key) => variableOf(key, io)?.name ?? '',
      label: (key) => variableOf(key, io)?.name ?? '',
      folder: io.cwd,
    },
    {
      source: 'profile',
      read: (key) => section?.[key],
      origin: () => `profile ${profile}`,
      label: (key) => `${key} of profile ${profile} in ${file.path}`,
      folder: dirname(file.path),
    },
    {
      source: 'config',
      read: (key) => file.defaults[key],
      origin: () => file.path,
      label: (key) => `${key} in ${file.path}`,
      folder: dirname(file.path),
    },
  ];
}

/** The variable that gives a key; one that is empty counts as not set. */
function variableOf(key: SettingKey, io: Io): { readonly name: string; readonly value: string } | undefined {
  if (key === 'color') return colorVariable(io);
  const name = keyRules[key].variable;
  const value = name && io.env[name];
  return name && value ? { name, value } : undefined;
}

/** @see https://force-color.org and https://no-color.org: the first beats the second, `0` and `false` switch it off. */
function colorVariable({ env }: Io): { readonly name: string; readonly value: string } | undefined {
  if (env.FORCE_COLOR)
    return { name: 'FORCE_COLOR', value: /^(0|false)$/i.test(env.FORCE_COLOR) ? 'never' : 'always' };
  return env.NO_COLOR ? { name: 'NO_COLOR', value: 'never' } : undefined;
}
