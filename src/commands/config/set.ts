import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { activate, editConfig, requireProfile, setValue, toStored } from '../../config/edit.ts';
import { type Address, formatAddress, parseAddress, readConfigFile } from '../../config/file.ts';
import {
  keyItems,
  keyRules,
  requireKey,
  type SettingKey,
  settingKeys,
  withoutArguments,
} from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { settingsFrom } from '../../config/settings.ts';
import type { Context } from '../../context.ts';

const width = Math.max(...keyItems.map(([key]) => key.length));
const keyList = keyItems.map(([key, text]) => `  ${key.padEnd(width)}  ${text}`).join('\n');

export const set = verb({
  name: 'set',
  summary: 'Set a value in the config file',
  description: `Sets a value at the top level of the config file, or in a profile with --profile.\n\nKeys:\n${keyList}`,
  examples: [
    'petstore config set output json',
    'petstore config set --profile staging timeout 5s',
    'petstore config set profiles.staging.protected true',
  ],
  args: {
    key: argument('<key>', 'the key to set', { offers: settingKeys }),
    value: argument('<value>', 'its new value', { offers: 'settingValue' }),
  },
  run: (context, { key, value: text }) => setKey(context, key, text),
});

async function setKey(context: Context, text: string, value: string): Promise<void> {
  const { io, flags } = context;
  if (text === 'profile') {
    await editConfig(io, (config) => activate(config, value));
    return context.notice(`the active profile is ${value}`);
  }
  const address = parseAddress(text, flags.profile);
  const key = requireKey(address.key);
  const stored = toStored(key, value, key, io.cwd);
  await editConfig(io, (config) => {
    if (flags.profile !== undefined) requireProfile(config, flags.profile);
    setValue(config, address, stored);
  });
  const shown = key === 'token-command' ? withoutArguments(String(stored)) : stored;
  await context.notice(`${formatAddress(address)} is ${shown}`);
  await warnOfNothingThere(context, key, String(stored));
  await warnOfWinner(context, key, address);
}

async function warnOfNothingThere(context: Context, key: SettingKey, path: string): Promise<void> {
  if (!keyRules[key].isFile || path.startsWith('~/')) return;
  const { existsSync } = await import('node:fs');
  if (!existsSync(path)) await context.notice(`warning: there is no file ${path} yet`);
}

/** Says if something nearer beats the new value: the next command would not use it. */
async function warnOfWinner(context: Context, key: SettingKey, { profile }: Address): Promise<void> {
  if (profile !== undefined) return;
  try {
    const { profile: active, explain } = settingsFrom(
      context.io,
      {},
      readConfigFile(resolvePaths(context.io).configFile),
    );
    const { source, origin } = explain(key);
    if (source === 'environment') await context.notice(`note: ${origin} is set, and beats it`);
    if (source === 'profile')
      await context.notice(`note: profile ${active?.value} sets ${key} too, and beats it`);
  } catch {
    // Another mistake in the config is not what this command was asked about.
  }
}
