import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { requireProfile } from '../../config/edit.ts';
import { type ConfigFile, parseAddress, readConfigFile } from '../../config/file.ts';
import { requireKey, settingKeys } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { settingsFrom, shownValue } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { printValue } from './print-value.ts';

export const get = verb({
  name: 'get',
  summary: 'Print one value of the config',
  description:
    'Prints one value as the config file gives it: that of the profile, else of the top level, else the default. ' +
    'Flags and variables do not count here; `petstore config explain` shows what a command would use.',
  examples: [
    'petstore config get base-url',
    'petstore config get --profile staging timeout',
    'petstore config get profile',
  ],
  args: { key: argument('<key>', 'the key whose value to print', { offers: settingKeys }) },
  async run(context, { key }) {
    await context.settings();
    const value = find(context, key);
    if (value === undefined || value === null)
      throw new CliError('not-found', `${key}: is not set`, {
        hint: `set it with \`petstore config set ${key} <value>\``,
      });
    await printValue(context, key, value);
  },
});

function find(context: Context, text: string): JsonValue | undefined {
  const file = readConfigFile(resolvePaths(context.io).configFile);
  if (text === 'profile') return file.active;
  const address = parseAddress(text, undefined);
  const key = requireKey(address.key);
  if (address.profile !== undefined) {
    requireProfile(file, address.profile);
    return file.profiles[address.profile]?.[key] as JsonValue | undefined;
  }
  const setting = fileSettings(context, file).explain(key);
  // A person who asks for this one value gets all of it.
  return key === 'token-command' ? setting.text || undefined : shownValue(key, setting);
}

/** What the file alone says, with the profile that this run uses. */
function fileSettings({ io, flags }: Context, file: ConfigFile) {
  const { PETSTORE_PROFILE, HOME } = io.env;
  return settingsFrom({ ...io, env: { PETSTORE_PROFILE, HOME } }, { profile: flags.profile }, file);
}
