import { existsSync } from 'node:fs';
import { ownVariables } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { describePlace, describeToken, planToken } from '../../config/token.ts';
import type { Context } from '../../context.ts';
import type { Io } from '../../io.ts';
import { closest } from '../../text.ts';
import { ok, skip, type Verdict, warn } from './finding.ts';

const variables = ownVariables.map(([name]) => name);

/** What the config says, its settings resolved. */
export function checkConfig({ io }: Context, { problem, profile, offline, get }: Settings): Verdict {
  const { configFile } = resolvePaths(io);
  if (problem !== undefined)
    return warn(
      'config',
      `${configFile} is ignored: ${problem}`,
      'mend the file, or move it away to start again',
    );
  const target = offline ? 'the embedded store' : (get('base-url') ?? 'no base URL');
  const file = existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`;
  return ok('config', `${file}; ${profile ? `profile ${profile.value}` : 'no profile'}; ${target}`);
}

/** Whether the variables that are set are ones that anything reads. */
export function checkEnvironment({ env }: Io): Verdict {
  const set = Object.keys(env).filter((name) => name.startsWith('PETSTORE_') && env[name]);
  const unknown = set.find((name) => !variables.includes(name));
  if (unknown !== undefined) {
    const near = closest(
      unknown.toLowerCase(),
      variables.map((name) => name.toLowerCase()),
    )?.toUpperCase();
    return warn(
      'environment',
      `${unknown} is no variable that petstore reads`,
      near ? `did you mean ${near}?` : 'see `petstore help environment`',
    );
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return warn(
      'environment',
      'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not verified',
      'unset it; --ca-cert trusts one more authority',
    );
  return ok('environment', set.length === 0 ? 'no variable of petstore is set' : set.sort().join(', '));
}

/** Whether there is a token and it will be sent; that it can be read is seen when the client is made. */
export async function checkToken(context: Context, settings: Settings): Promise<Verdict> {
  if (settings.offline) return skip('token', 'the embedded store needs none');
  const baseUrl = settings.get('base-url');
  if (baseUrl === undefined) return skip('token', 'there is no base URL to send it to');
  const places = (await context.contract()).credentialPlaces;
  const allowInsecureHttp = context.flags.allowInsecureHttp === true;
  const plan = planToken(settings, { baseUrl, allowInsecureHttp, places });
  if (plan.kind === 'none') return ok('token', 'none is set');
  const source = describeToken(plan.source);
  if (plan.kind === 'withheld')
    return warn('token', `${source} is not sent: ${plan.why}`, 'see `petstore config explain`');
  const { place } = plan;
  const how = place.in === 'header' ? `as ${place.name}` : `in ${describePlace(place)}`;
  return ok('token', `${source}, sent ${how}`);
}
