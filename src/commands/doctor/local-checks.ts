import { existsSync } from 'node:fs';
import { closest } from '../../config/closest.ts';
import { credentialPlace, describePlace, obstacleTo } from '../../config/credentials.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { describeToken, findToken } from '../../config/token-source.ts';
import { ownVariables } from '../../config/variables.ts';
import type { Context } from '../../context.ts';
import type { Io } from '../../io.ts';
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
  const { io, flags } = context;
  if (settings.offline) return skip('token', 'the embedded store needs none');
  const source = findToken(settings, io);
  if (source === undefined) return ok('token', 'none is set');
  const baseUrl = settings.get('base-url');
  if (baseUrl === undefined) return skip('token', 'there is no base URL to send it to');
  const allowInsecureHttp = flags.allowInsecureHttp === true;
  const obstacle = obstacleTo(settings, { io, baseUrl, allowInsecureHttp });
  if (obstacle !== undefined)
    return warn(
      'token',
      `${describeToken(source)} is not sent: ${obstacle}`,
      'see `petstore config explain`',
    );
  const place = credentialPlace(settings, (await context.contract()).credentialPlaces);
  const how = place.in === 'header' ? `as ${place.name}` : `in ${describePlace(place)}`;
  return ok('token', `${describeToken(source)}, sent ${how}`);
}
