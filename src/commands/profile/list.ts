import { verb } from '../../cli/verb.ts';
import { readConfigFile } from '../../config/file.ts';
import { resolvePaths } from '../../config/paths.ts';
import { offlineProfile } from '../../config/settings.ts';
import type { JsonValue } from '../../json.ts';
import type { View } from '../../output/columns.ts';

interface Row {
  readonly name: string;
  readonly active: boolean;
  /** Null for the embedded store, and if the profile leaves it to the top level. */
  readonly 'base-url': JsonValue;
}

const view: View<Row> = {
  noun: 'profiles',
  columns: [
    { name: 'name', value: (row) => row.name },
    { name: 'active', value: (row) => (row.active ? '*' : '') },
    {
      name: 'base-url',
      value: (row) => (row.name === offlineProfile ? '(the embedded store)' : row['base-url']),
    },
  ],
};

export const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the profiles and mark the active one',
  description:
    'Lists the profiles and marks the active one: that of --profile, of PETSTORE_PROFILE, or of the config file. offline is built in.',
  examples: ['petstore profile list', 'petstore profile list -o ids'],
  async run(context) {
    const printer = await context.printer();
    const { profile, setAside } = await context.settings();
    const { profiles } = readConfigFile(resolvePaths(context.io).configFile);
    const row = (name: string): Row => ({
      name,
      active: name === (profile ?? setAside)?.value,
      'base-url': (profiles[name]?.['base-url'] as JsonValue | undefined) ?? null,
    });
    await printer.records([[...Object.keys(profiles).sort(), offlineProfile].map(row)], view);
  },
});
