import { verb } from '../../cli/verb.ts';
import { decideTokenUse, describeHeader } from '../../config/credential.ts';
import { settingKeys } from '../../config/keys.ts';
import { formatSetting, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import type { JsonValue } from '../../process/exact-json.ts';

interface SettingRecord {
  readonly key: string;
  readonly value: JsonValue;
  /** flag, environment, profile, config or default. */
  readonly source: string;
  /** The flag, variable or file; null for a default. */
  readonly origin: string | null;
}

export const explain = verb({
  name: 'explain',
  aliases: ['show'],
  wrongSettings: 'warn',
  summary: 'Show every setting, its value and where it came from',
  description:
    'Shows every setting as a command with the same flags would use it, and where it came from: flag, environment, ' +
    'profile, config (its top level) or default. It says whether there is a token and where that comes from, and never shows the token.',
  examples: ['petstore config explain', 'petstore config explain --profile staging -o json'],
  view: () => ({ plural: 'settings', columns: propertyColumns(['key', 'value', 'source', 'origin']) }),
  async run(context) {
    const { settings } = context;
    const { profile, offline, token } = settings;
    const records: SettingRecord[] = [
      { key: 'profile', value: profile?.value ?? null, ...sourceOf(profile) },
      { key: 'offline', value: offline !== undefined, ...sourceOf(offline) },
      ...settingKeys.map((key) => {
        const setting = settings.explain(key);
        return { key, value: formatSetting(key, setting), ...sourceOf(setting) };
      }),
      {
        key: 'token',
        value: token ? await describeTokenUse(context, settings) : 'not set',
        ...sourceOf(token),
      },
    ];
    return { pages: [records] };
  },
});

/** Says whether the token is sent, and where. */
async function describeTokenUse({ contract }: Context, settings: Settings): Promise<string> {
  const { service: baseUrl } = settings;
  if (baseUrl === undefined) return 'set';
  const { tokenHeader } = await contract();
  const use = decideTokenUse(settings, { baseUrl, header: tokenHeader });
  if (use?.kind === 'withheld') return `set, not sent: ${use.why}`;
  // The row of auth-header shows the place of the token, unless the service's description moves it.
  const isMoved = use?.kind === 'sent' && use.header === tokenHeader;
  return isMoved ? `set, sent in ${describeHeader(use.header)}` : 'set';
}

/** Returns the columns that say where a value comes from. */
function sourceOf(setting: { readonly source: string; readonly givenBy: string } | undefined) {
  return { source: setting?.source ?? 'default', origin: setting?.givenBy || null };
}
