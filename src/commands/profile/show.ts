import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { requireProfile } from '../../config/edit.ts';
import { readConfigFile, type Section } from '../../config/file.ts';
import { withoutArguments } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { offlineProfile } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import type { View } from '../../output/columns.ts';

type Row = Readonly<Record<string, JsonValue>>;

export const show = verb({
  name: 'show',
  summary: 'Show what a profile holds',
  examples: ['petstore profile show', 'petstore profile show staging -o json'],
  args: {
    named: argument('[profile]', 'the profile to show (default: the active one)', { offers: 'profile' }),
  },
  async run(context, { named }) {
    const printer = await context.printer();
    const { profile, setAside } = await context.settings();
    const active = (profile ?? setAside)?.value;
    const name = named ?? active;
    if (name === undefined)
      throw new UsageError('profile show: no profile is active', 'name one; see `petstore profile list`');
    const section = sectionOf(context, name);
    const row: Row = { name, active: name === active, ...(section as Row) };
    await printer.record(row, viewOf(Object.keys(row)));
  },
});

function sectionOf({ io }: Context, name: string): Section {
  if (name === offlineProfile) return {};
  const file = readConfigFile(resolvePaths(io).configFile);
  requireProfile(file, name);
  const section = file.profiles[name] ?? {};
  const command = section['token-command'];
  return command === undefined ? section : { ...section, 'token-command': withoutArguments(String(command)) };
}

function viewOf(keys: readonly string[]): View<Row> {
  return { noun: 'settings', columns: keys.map((name) => ({ name, value: (row) => row[name] })) };
}
