import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { bareHost, headerValue, isLoopbackHost } from '../../api/http.ts';
import type { Check, CheckContext } from '../../checks/check.ts';
import type { CheckResult } from '../../checks/check-result.ts';
import { createReachChecks } from '../../checks/check-table.ts';
import { type Finding, findingOfError, pass, skip, warn } from '../../checks/finding.ts';
import { askFirst } from '../../checks/first-answer.ts';
import { createCheckContext, createRound } from '../../checks/round.ts';
import { type RunnerOptions, runChecks } from '../../checks/run-checks.ts';
import { decideTokenUse, describePlace } from '../../config/credential.ts';
import { programVariables, settingKeys, variableName } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { closestWord, durationText, shellWord } from '../../process/text.ts';
import { openService } from './open-service.ts';

/**
 * Checks this machine, then the service with the very checks of `smoke`, then the clock. If the config is wrong, the checks
 * of the service are skipped.
 */
export async function runDoctorChecks(
  context: Context,
  display: Pick<RunnerOptions<unknown>, 'onBegin' | 'onResult'>,
): Promise<void> {
  const { secrets, interrupts, settings } = context;
  const options = { ...display, mask: secrets.mask, stopped: interrupts.signal };
  const machine = { ...options, open: () => ({ context, attempts: [] }) };
  const results: CheckResult[] = [
    ...(await runChecks<Context>([{ id: 'config', isPrerequisite: true, run: checkConfig }], machine)),
    ...(await runChecks<Context>([{ id: 'permissions', run: checkPermissions }], machine)),
  ];
  const hasTls = !settings.offline && settings.service?.startsWith('https:') === true;
  const clock: Check = { id: 'clock', run: (checks) => checkClock(context, checks) };
  const checks = [...createReachChecks(hasTls), clock];
  const round = await openService(context).then(createRound, () => undefined);
  await runChecks(checks, {
    ...options,
    earlierResults: results,
    open() {
      // Without a service, the check of the config has failed, and no further check begins.
      if (!round) throw new Error('there is no service');
      return createCheckContext(round, interrupts.signal);
    },
  });
}

/** Checks that the config can be read, its settings resolve, the token can be read, and every variable is known. */
async function checkConfig(context: Context): Promise<Finding[]> {
  try {
    return await inspectConfig(context);
  } catch (error) {
    return [{ ...findingOfError(error), state: 'fail' }];
  }
}

/** @throws CliError if a command could not run with this config. */
async function inspectConfig(context: Context): Promise<Finding[]> {
  const { settings, io } = context;
  const { problems, warnings, offline, profile, get } = settings;
  if (problems[0]) throw problems[0];
  // Opens the contract, the certificates and the token.
  await openService(context);
  const { configFile } = resolvePaths(io);
  const file = existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`;
  const service = offline ? 'the embedded store' : get('base-url');
  const use = await tokenFinding(context);
  const texts = [file, profile ? `profile ${profile.value}` : 'no profile', service];
  return [
    pass([...texts, ...(use.state === 'pass' ? [use.reason] : [])].join('; ')),
    ...(use.state === 'pass' ? [] : [use]),
    ...warnings.map((warning) => warn(warning)),
    ...addressFindings(offline ? undefined : get('base-url')),
    ...environmentFindings(context),
  ];
}

/** Says whether a token is sent, and in which place of a request. */
async function tokenFinding({ settings, contract }: Context): Promise<Finding> {
  const baseUrl = settings.offline ? undefined : settings.get('base-url');
  if (baseUrl === undefined) return pass('it needs no token');
  const use = decideTokenUse(settings, { baseUrl, places: (await contract()).credentialPlaces });
  if (use === undefined) return pass('no token is set');
  const source = use.source.label;
  if (use.kind === 'withheld')
    return warn(`${source} is not sent: ${use.why}`, { hint: 'see `petstore config explain`' });
  const { place } = use;
  const adverbial = place.in === 'header' ? `as ${place.name}` : `in ${describePlace(place)}`;
  return pass(`${source} is sent ${adverbial}`);
}

/** Warns of an address of plain http, unless it never leaves this machine. */
function addressFindings(baseUrl: string | undefined): Finding[] {
  const { protocol, hostname } = new URL(baseUrl ?? 'http://localhost');
  if (protocol === 'https:' || isLoopbackHost(bareHost(hostname))) return [];
  const reason = 'plain http: anybody on the way can read and change everything';
  return [warn(reason, { hint: 'use https://' })];
}

/** Finds variables that petstore does not read, and one that makes TLS worthless. */
function environmentFindings({ io: { env } }: Context): Finding[] {
  const variables = [...programVariables.map(([name]) => name), ...settingKeys.map(variableName)];
  const unknownNames = Object.keys(env).filter(
    (name) => name.startsWith('PETSTORE_') && env[name] && !variables.includes(name),
  );
  const candidates = variables.map((name) => name.toLowerCase());
  const unknown = unknownNames.map((name) => {
    const suggestion = closestWord(name.toLowerCase(), candidates)?.toUpperCase();
    return warn(`${name} is not a variable that petstore reads`, {
      hint: suggestion ? `did you mean ${suggestion}?` : 'see `petstore help environment`',
    });
  });
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return unknown;
  const insecure = warn('NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not verified', {
    hint: 'unset it; the setting ca-cert trusts one more authority',
  });
  return [...unknown, insecure];
}

/** Checks that no other user can read the secrets, and that config and state can be written. */
async function checkPermissions(context: Context): Promise<Finding> {
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

/** A larger difference between the clocks is a warning. */
const warnSkewMs = 60_000;

/** Compares this clock with the Date header of an answer, which is exact to a second. @see RFC 9110, 6.6.1 */
async function checkClock({ settings, now }: Context, checks: CheckContext): Promise<Finding> {
  if (settings.offline) return skip('the embedded store has this clock');
  const { headers } = await askFirst(checks);
  const serviceMs = Date.parse(headerValue(headers, 'date') ?? '');
  if (Number.isNaN(serviceMs)) return skip('the answer of the service has no valid Date header');
  const skewMs = now().getTime() - serviceMs;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < warnSkewMs) return pass(`within ${Math.max(seconds, 1)} s of the service's`);
  const skew = `${durationText(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  const hint = 'set the clock: certificates and tokens depend on it';
  return warn(`this clock is ${skew} the service's`, { hint });
}
