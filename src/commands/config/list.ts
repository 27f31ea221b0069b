import { verb } from '../../cli/verb.ts';
import { type ConfigFile, formatAddress, readConfigFile } from '../../config/file.ts';
import { withoutArguments } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { JsonValue } from '../../json.ts';
import type { View } from '../../output/columns.ts';

interface Row {
  readonly key: string;
  readonly value: JsonValue;
}

const view: View<Row> = {
  noun: 'settings in the config file',
  columns: [
    { name: 'key', value: (row) => row.key },
    { name: 'value', value: (row) => row.value },
  ],
};

export const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List what the config file holds',
  description:
    'Lists what the config file holds. Each key can be given to get, set and unset as it stands; ' +
    '`petstore config explain` shows defaults, flags and variables too.',
  examples: ['petstore config list', 'petstore config list -o json'],
  async run(context) {
    const printer = await context.printer();
    await printer.records([rowsOf(readConfigFile(resolvePaths(context.io).configFile))], view);
  },
});

function rowsOf({ active, defaults, profiles }: ConfigFile): Row[] {
  const rows = (profile: string | undefined, section: Readonly<Record<string, unknown>>): Row[] =>
    Object.entries(section).map(([key, value]) => ({
      key: formatAddress({ profile, key }),
      value: key === 'token-command' ? withoutArguments(String(value)) : (value as JsonValue),
    }));
  return [
    ...(active === undefined ? [] : [{ key: 'profile', value: active }]),
    ...rows(undefined, defaults),
    ...Object.entries(profiles).flatMap(([name, section]) => rows(name, section)),
  ];
}
