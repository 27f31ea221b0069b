import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { embeddedOrigin, fieldValue, isLoopbackHost } from '../../api/http.ts';
import { type Check, type Finding, FindingError, pass, skip, warn } from '../../checks/check.ts';
import { Deployment } from '../../checks/deployment.ts';
import { askFirst, checkHttp } from '../../checks/first-answer.ts';
import { checkConnection, checkDns, checkTls } from '../../checks/reach.ts';
import { type CheckContext, plainOptions, startCheck } from '../../checks/round.ts';
import type { Sockets } from '../../checks/sockets.ts';
import { programVariables, settingKeys, variableName } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { credentialPlace, describePlace, planToken } from '../../config/token.ts';
import { openSockets } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../process/errors.ts';
import { closest, dayOf, shellWord } from '../../process/text.ts';

/** The subject of the checks of doctor. */
interface DoctorContext {
  readonly context: Context;
  /** Opened by the first check that needs them. @throws FindingError, a skip, if there is no socket to check. */
  sockets(): Promise<Sockets>;
  /** Sends the requests of the checks of the service. Made by the first of them. */
  check(): Promise<CheckContext>;
}

export function createDoctorContext(context: Context): DoctorContext {
  let sockets: Promise<Sockets> | undefined;
  let check: Promise<CheckContext> | undefined;
  return {
    context,
    sockets() {
      sockets ??= openServiceSockets(context);
      return sockets;
    },
    check() {
      check ??= createCheckContext(context);
      return check;
    },
  };
}

async function openServiceSockets(context: Context): Promise<Sockets> {
  const { settings } = context;
  const baseUrl = settings.offline ? embeddedOrigin : settings.get('base-url');
  if (baseUrl === undefined) throw new FindingError(skip('no base URL is set'));
  const sockets = await openSockets(context, baseUrl).catch(() => {
    // The check of the service reports the reason.
    throw new FindingError(skip('a connection cannot be set up'));
  });
  if (sockets.absence !== undefined) throw new FindingError(skip(sockets.absence));
  return sockets;
}

async function createCheckContext(context: Context): Promise<CheckContext> {
  const { settings } = context;
  const client = await context.client();
  const options = {
    ...plainOptions,
    timeoutMs: settings.get('timeout'),
    retries: settings.get('retries'),
    credentialPlace: credentialPlace(settings, client.contract.credentialPlaces),
  };
  const { secrets, now, interrupts } = context;
  const sockets = await openSockets(context, client.baseUrl);
  const deployment = new Deployment([], (path) => path);
  const round = { client, options, sockets, mask: secrets.mask, now, visits: new Map(), deployment };
  return startCheck(round, interrupts.signal).context;
}

/** The checks of doctor, from this machine to the service. */
export const doctorChecks: readonly Check<DoctorContext>[] = [
  { id: 'config', run: async ({ context }) => [checkConfig(context)] },
  { id: 'environment', run: async ({ context }) => [checkEnvironment(context)] },
  { id: 'permissions', run: async ({ context }) => [checkPermissions(context)] },
  { id: 'token', needs: ['config'], run: async ({ context }) => [await checkToken(context)] },
  { id: 'dns', needs: ['config'], run: async ({ sockets }) => [await checkDns(await sockets())] },
  {
    id: 'connection',
    needs: ['config', 'dns'],
    run: async ({ sockets }) => [await checkConnection(await sockets())],
  },
  {
    id: 'tls',
    needs: ['config', 'dns', 'connection'],
    run: async ({ context, sockets }) => [await checkAllTls(await sockets(), context.now())],
  },
  {
    id: 'service',
    needs: ['config', 'token', 'dns', 'connection', 'tls'],
    run: async ({ check }) => checkHttp(await check()),
  },
  {
    id: 'clock',
    needs: ['config', 'token', 'dns', 'connection', 'tls', 'service'],
    run: async ({ context, check }) => [await checkClock(context, await check())],
  },
];

/** Checks that the config can be read and its settings resolve. */
function checkConfig(context: Context): Finding {
  const { profile, offline, get, problems, warnings } = context.settings;
  if (problems[0]) throw problems[0];
  if (warnings[0]) return warn(warnings[0].replace('warning: ', ''));
  const { configFile } = resolvePaths(context.io);
  const target = offline ? 'the embedded store' : (get('base-url') ?? 'no base URL');
  const file = existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`;
  return pass(`${file}; ${profile ? `profile ${profile.value}` : 'no profile'}; ${target}`);
}

/** Checks that petstore knows the variables that are set. */
function checkEnvironment({ io }: Context): Finding {
  const { env } = io;
  const variables = [...programVariables.map(([name]) => name), ...settingKeys.map(variableName)];
  const setNames = Object.keys(env).filter((name) => name.startsWith('PETSTORE_') && env[name]);
  const stranger = setNames.find((name) => !variables.includes(name));
  if (stranger !== undefined) {
    const candidates = variables.map((name) => name.toLowerCase());
    const nearest = closest(stranger.toLowerCase(), candidates)?.toUpperCase();
    return warn(`${stranger} is not a variable that petstore reads`, {
      hint: nearest ? `did you mean ${nearest}?` : 'see `petstore help environment`',
    });
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return warn('NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not verified', {
      hint: 'unset it; the setting ca-cert trusts one more authority',
    });
  return pass(setNames.length === 0 ? 'no variable of petstore is set' : setNames.sort().join(', '));
}

/** Checks that secrets are private, and that config and state can be written. */
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
  // On Windows the mode does not say who may read a file.
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

/**
 * Whether the group or others have one of these rights to a file or folder; false for a pipe, and if it cannot be read.
 */
function isOpenToOthers(path: string, rights: number): boolean {
  try {
    const status = statSync(path);
    return !status.isFIFO() && (status.mode & rights) !== 0;
  } catch {
    return false;
  }
}

/** A missing folder can be created if the nearest existing one above it can be written to. */
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
  const outcome = await context.client().catch((error: unknown) => error);
  if (outcome instanceof CliError && outcome.kind === 'auth') throw outcome;
  if (settings.offline) return skip('the embedded store needs none');
  const baseUrl = settings.get('base-url');
  if (baseUrl === undefined) return skip('there is no base URL to send it to');
  const places = (await context.contract()).credentialPlaces;
  const plan = planToken(settings, { baseUrl, places });
  if (plan === undefined) return pass('none is set');
  const source = plan.source.label;
  if (plan.kind === 'withheld')
    return warn(`${source} is not sent: ${plan.why}`, { hint: 'see `petstore config explain`' });
  const { place } = plan;
  const adverbial = place.in === 'header' ? `as ${place.name}` : `in ${describePlace(place)}`;
  return pass(`${source}, sent ${adverbial}`);
}

/** The three TLS checks of smoke, in one line. */
async function checkAllTls(sockets: Sockets, now: Date): Promise<Finding> {
  if (!sockets.encrypted)
    return isLoopbackHost(sockets.host)
      ? skip('plain http, which never leaves this machine')
      : warn('plain http: anybody on the way can read and change everything', { hint: 'use https://' });
  for (const name of ['valid', 'protocol', 'expiry'] as const) {
    const finding = await checkTls(sockets, name, now);
    if (finding.state !== 'pass') return finding;
  }
  const { protocol, validTo } = await sockets.handshake();
  const until = validTo ? `, certificate valid until ${dayOf(validTo)}` : '';
  return pass(`${protocol}${until}`);
}

const warnSkewMs = 60_000;

/** @see RFC 9110, 6.6.1: the Date of an answer has a resolution of one second. */
async function checkClock(context: Context, check: CheckContext): Promise<Finding> {
  if (context.settings.offline) return skip('the embedded store has this clock');
  const { fields } = await askFirst(check);
  const serviceMs = Date.parse(fieldValue(fields, 'date') ?? '');
  if (Number.isNaN(serviceMs)) return skip('the service does not say what time it is');
  const skewMs = context.now().getTime() - serviceMs;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < warnSkewMs) return pass(`within ${Math.max(seconds, 1)} s of the service's`);
  return warn(`this clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`, {
    hint: 'set the clock: certificates and tokens depend on it',
  });
}
