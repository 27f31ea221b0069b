import { verb } from '../../cli/verb.ts';
import { settingKeys } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { type Settings, shownSetting } from '../../config/settings.ts';
import { describePlace, findToken, planToken } from '../../config/token.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import type { JsonValue } from '../../process/exact-json.ts';

interface Explained {
  readonly key: string;
  readonly value: JsonValue;
  /** flag, environment, profile, config or default. */
  readonly source: string;
  /** The flag, variable or file; null for a default. */
  readonly origin: string | null;
}

export const explain = verb({
  name: 'explain',
  repairs: true,
  summary: 'Show every setting, its value and where it came from',
  description:
    'Shows every setting as a command with the same flags would use it, and where it came from: flag, environment, ' +
    'profile, config (its top level) or default. Of the token it shows only whether there is one, and where it comes from.',
  examples: ['petstore config explain', 'petstore config explain --profile staging -o json'],
  async run(context) {
    const printer = await context.printer();
    const settings = await context.settings();
    const { ignoredProfile } = settings;
    if (ignoredProfile)
      await context.print(
        `note: profile ${ignoredProfile.value} is active, but nothing of it is used, because the base URL has another origin`,
      );
    const records = [
      ...explainTarget(settings),
      ...explainKeys(settings),
      await explainToken(context, settings),
      ...explainPaths(context),
    ];
    await printer.records([records], {
      noun: 'settings',
      columns: propertyColumns(['key', 'value', 'source', 'origin']),
    });
  },
});

function explainTarget({ profile, offline }: Settings): Explained[] {
  return [
    { key: 'profile', value: profile?.value ?? null, ...from(profile) },
    { key: 'offline', value: offline !== undefined, ...from(offline) },
  ];
}

function explainKeys(settings: Settings): Explained[] {
  return settingKeys.map((key) => {
    const setting = settings.explain(key);
    return { key, value: shownSetting(key, setting), ...from(setting) };
  });
}

async function explainToken(context: Context, settings: Settings): Promise<Explained> {
  const source = findToken(settings);
  if (source === undefined) return { key: 'token', value: 'not set', ...from(undefined) };
  const baseUrl = settings.get('base-url');
  if (settings.offline || baseUrl === undefined) return { key: 'token', value: 'set', ...from(source) };
  const places = (await context.contract()).credentialPlaces;
  const allowInsecureHttp = context.flags.allowInsecureHttp === true;
  const plan = planToken(settings, { baseUrl, allowInsecureHttp, places });
  if (plan.kind === 'withheld') return { key: 'token', value: `set, not sent: ${plan.why}`, ...from(source) };
  // Shown only if a description moves it; otherwise the row of auth-header shows it.
  const isMoved = plan.kind === 'sent' && places.includes(plan.place);
  return {
    key: 'token',
    value: isMoved ? `set, sent in ${describePlace(plan.place)}` : 'set',
    ...from(source),
  };
}

function explainPaths({ io }: Context): Explained[] {
  const { configFile, stateDir, offlineStore } = resolvePaths(io);
  const { PETSTORE_OFFLINE_STORE } = io.env;
  const explain = (key: string, value: string, variable: string): Explained => ({
    key,
    value,
    ...from(io.env[variable] ? { source: 'environment', givenBy: variable } : undefined),
  });
  return [
    explain('config-file', configFile, 'PETSTORE_CONFIG_DIR'),
    explain('state-dir', stateDir, 'PETSTORE_STATE_DIR'),
    explain(
      'offline-store',
      offlineStore,
      PETSTORE_OFFLINE_STORE ? 'PETSTORE_OFFLINE_STORE' : 'PETSTORE_STATE_DIR',
    ),
  ];
}

function from(given: { readonly source: string; readonly givenBy: string } | undefined) {
  return { source: given?.source ?? 'default', origin: given?.givenBy || null };
}
