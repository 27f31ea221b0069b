import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { headerValue, isLoopbackHost } from '../../api/http.ts';
import type { CheckContext } from '../../checks/check.ts';
import { type Finding, pass, skip, warn } from '../../checks/finding.ts';
import { askFirst, checkHttp } from '../../checks/first-answer.ts';
import { checkConnection, checkDns, checkTls, type SocketContext, tlsRules } from '../../checks/reach.ts';
import { createCheckContext, createRound } from '../../checks/round.ts';
import { chooseCredentialPlace, decideTokenUse, describePlace } from '../../config/credential.ts';
import { programVariables, settingKeys, variableName } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { openAddress } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../process/errors.ts';
import { closestWord, dayOf, durationText, shellWord } from '../../process/text.ts';

/** One check of doctor. */
export interface DoctorCheck {
  readonly id: string;
  /** The ids of earlier checks. If one of them fails, or is skipped because another check failed, this check is skipped. */
  readonly needs: readonly string[];
  find(): Finding | Promise<Finding>;
}

/** Makes the checks of doctor, from this machine to the service. Those of the service use the checks of `smoke`. */
export function createDoctorChecks(context: Context): DoctorCheck[] {
  let checkContext: Promise<CheckContext> | undefined;
  const openOnce = () => {
    checkContext ??= openServiceContext(context);
    return checkContext;
  };
  return [
    { id: 'config', needs: [], find: () => checkConfig(context) },
    { id: 'environment', needs: [], find: () => checkEnvironment(context) },
    { id: 'permissions', needs: [], find: () => checkPermissions(context) },
    { id: 'token', needs: ['config'], find: () => checkToken(context) },
    { id: 'dns', needs: ['config'], find: () => checkSocket(context, checkDns) },
    { id: 'connection', needs: ['dns'], find: () => checkSocket(context, checkConnection) },
    { id: 'tls', needs: ['connection'], find: () => checkSocket(context, checkAllTls) },
    { id: 'service', needs: ['token', 'tls'], find: async () => checkHttp(await openOnce()) },
    { id: 'clock', needs: ['service'], find: () => checkClock(context, openOnce) },
  ];
}

/** Opens the context for the checks that send requests. */
async function openServiceContext(context: Context): Promise<CheckContext> {
  const { settings, secrets, now, interrupts } = context;
  const client = await context.client();
  const timeoutMs = settings.get('timeout');
  const service = {
    client,
    now,
    timeoutMs,
    mask: secrets.mask,
    // There is an address, because there is a client.
    address: (await openAddress(context, timeoutMs)) as CheckContext['address'],
    retries: settings.get('retries'),
    credentialPlace: chooseCredentialPlace(settings, client.contract.credentialPlaces),
  };
  return createCheckContext(createRound(service), interrupts.signal).context;
}

async function checkSocket(
  context: Context,
  check: (context: SocketContext) => Promise<Finding>,
): Promise<Finding> {
  const { settings, interrupts, now } = context;
  try {
    const address = await openAddress(context, settings.get('timeout'));
    return address ? check({ address, signal: interrupts.signal, now }) : skip('no base URL is set');
  } catch {
    // The check `service` reports the reason.
    return skip('a connection cannot be set up');
  }
}

/** Checks that the config can be read and its settings resolve. */
function checkConfig(context: Context): Finding {
  const { profile, offline, get, problems, warnings } = context.settings;
  if (problems[0]) throw problems[0];
  if (warnings[0]) return warn(warnings[0]);
  const { configFile } = resolvePaths(context.io);
  const service = offline ? 'the embedded store' : (get('base-url') ?? 'no base URL');
  const file = existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`;
  return pass(`${file}; ${profile ? `profile ${profile.value}` : 'no profile'}; ${service}`);
}

/** Checks that petstore reads every `PETSTORE_` variable that is set. */
function checkEnvironment({ io }: Context): Finding {
  const { env } = io;
  const variables = [...programVariables.map(([name]) => name), ...settingKeys.map(variableName)];
  const setNames = Object.keys(env).filter((name) => name.startsWith('PETSTORE_') && env[name]);
  const unknownName = setNames.find((name) => !variables.includes(name));
  if (unknownName !== undefined) {
    const candidates = variables.map((name) => name.toLowerCase());
    const suggestion = closestWord(unknownName.toLowerCase(), candidates)?.toUpperCase();
    return warn(`${unknownName} is not a variable that petstore reads`, {
      hint: suggestion ? `did you mean ${suggestion}?` : 'see `petstore help environment`',
    });
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return warn('NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not verified', {
      hint: 'unset it; the setting ca-cert trusts one more authority',
    });
  return pass(setNames.length === 0 ? 'no variable of petstore is set' : setNames.sort().join(', '));
}

/** Checks that no other user can read the secrets, and that config and state can be written. */
function checkPermissions(context: Context): Finding {
  const { io, settings } = context;
  const { configFile, stateDir, offlineStore } = resolvePaths(io);
  const folder = dirname(configFile);
  const isPosix = io.platform !== 'win32';
  if (isPosix && isOpenToOthers(folder, 0o022))
    return warn(`others may write to ${folder}, and so choose where commands go`, {
      hint: `chmod go-w ${shellWord(folder)}`,
    });
  const secrets = [configFile, settings.get('token-file'), settings.get('client-key')];
  // On Windows, the mode of a file does not say who may read it.
  const exposedFiles = secrets.flatMap((path) =>
    path && isPosix && isOpenToOthers(path, 0o077) ? [path] : [],
  );
  if (exposedFiles.length > 0)
    return warn(`others may read ${exposedFiles.join(', ')}`, {
      hint: `chmod 600 ${exposedFiles.map(shellWord).join(' ')}`,
    });
  const folders = [folder, stateDir, ...(offlineStore === ':memory:' ? [] : [dirname(offlineStore)])];
  const lockedFolders = [...new Set(folders)].filter((path) => !canBeWritten(path));
  if (lockedFolders.length > 0)
    return warn(`${lockedFolders.join(', ')} cannot be written to; reading still works`, {
      hint: 'name other folders with PETSTORE_CONFIG_DIR and PETSTORE_STATE_DIR',
    });
  return pass('secrets are private; config and state can be written');
}

/** Whether the group or others have one of these rights to a path. False for a pipe or a missing path. */
function isOpenToOthers(path: string, rights: number): boolean {
  try {
    const status = statSync(path);
    return !status.isFIFO() && (status.mode & rights) !== 0;
  } catch {
    return false;
  }
}

/** Whether a folder can be written to, or can be created in the nearest folder above it that exists. */
function canBeWritten(folder: string): boolean {
  if (!existsSync(folder) && dirname(folder) !== folder) return canBeWritten(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Checks that the token can be read and will be sent. */
async function checkToken(context: Context): Promise<Finding> {
  const { settings } = context;
  // Creating the client reads the token.
  const clientOrError = await context.client().catch((error: unknown) => error);
  if (clientOrError instanceof CliError && clientOrError.kind === 'auth') throw clientOrError;
  if (settings.offline) return skip('the embedded store needs none');
  const baseUrl = settings.get('base-url');
  if (baseUrl === undefined) return skip('there is no base URL to send it to');
  const places = (await context.contract()).credentialPlaces;
  const use = decideTokenUse(settings, { baseUrl, places });
  if (use === undefined) return pass('none is set');
  const source = use.source.label;
  if (use.kind === 'withheld')
    return warn(`${source} is not sent: ${use.why}`, { hint: 'see `petstore config explain`' });
  const { place } = use;
  const adverbial = place.in === 'header' ? `as ${place.name}` : `in ${describePlace(place)}`;
  return pass(`${source}, sent ${adverbial}`);
}

/** Runs the TLS checks of smoke, with one finding for all. */
async function checkAllTls(context: SocketContext): Promise<Finding> {
  const { skipReason, isEncrypted, host } = context.address;
  if (skipReason) return skip(skipReason);
  if (!isEncrypted)
    return isLoopbackHost(host)
      ? skip('plain http, which never leaves this machine')
      : warn('plain http: anybody on the way can read and change everything', { hint: 'use https://' });
  return checkTls(context, (handshake) => {
    const findings = Object.values(tlsRules).map((judge) => judge(handshake, context));
    const { protocol, validTo } = handshake;
    const until = validTo ? `, certificate valid until ${dayOf(validTo)}` : '';
    return findings.find(({ state }) => state !== 'pass') ?? pass(`${protocol}${until}`);
  });
}

/** A larger difference between the clocks is a warning. */
const warnSkewMs = 60_000;

/** Compares this clock with the Date header of an answer, which is exact to a second. @see RFC 9110, 6.6.1 */
async function checkClock(
  { settings, now }: Context,
  openOnce: () => Promise<CheckContext>,
): Promise<Finding> {
  if (settings.offline) return skip('the embedded store has this clock');
  const { headers } = await askFirst(await openOnce());
  const serviceMs = Date.parse(headerValue(headers, 'date') ?? '');
  if (Number.isNaN(serviceMs)) return skip('the answer of the service has no valid Date header');
  const skewMs = now().getTime() - serviceMs;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < warnSkewMs) return pass(`within ${Math.max(seconds, 1)} s of the service's`);
  return warn(
    `this clock is ${durationText(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`,
    {
      hint: 'set the clock: certificates and tokens depend on it',
    },
  );
}
