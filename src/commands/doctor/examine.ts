import { embeddedOrigin } from '../../api/http.ts';
import type { Settings } from '../../config/settings.ts';
import { openSockets } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CliError, InterruptedError } from '../../errors.ts';
import { type CheckName, fail, skip, type Verdict } from './finding.ts';
import { checkConfig, checkEnvironment, checkToken } from './local-checks.ts';
import { askService, checkClock, checkConnection, checkDns, checkTls } from './network-checks.ts';
import { checkPermissions } from './permissions.ts';

/** Every check in turn, from this machine outwards; what rests on a check that failed is skipped. */
export async function* examine(context: Context): AsyncGenerator<Verdict> {
  const settings = await context.settings().catch((error: unknown) => error);
  const isBroken = settings instanceof Error;
  yield isBroken ? fail('config', settings) : checkConfig(context, settings as Settings);
  yield checkEnvironment(context.io);
  yield checkPermissions(context, isBroken ? undefined : (settings as Settings));
  if (isBroken)
    yield* skipAll(['token', 'dns', 'connection', 'tls', 'service', 'clock'], 'the config is wrong');
  else yield* examineTarget(context, settings as Settings);
}

async function* examineTarget(context: Context, settings: Settings): AsyncGenerator<Verdict> {
  const client = await context.client().catch((error: unknown) => error as Error);
  const isTokenBroken = client instanceof CliError && client.kind === 'auth';
  yield isTokenBroken ? fail('token', client) : await attempt('token', () => checkToken(context, settings));
  const reached = yield* examineWay(context, settings);
  if (client instanceof Error) {
    yield isTokenBroken ? skip('service', 'the token could not be read') : fail('service', client);
    return yield skip('clock', 'the service was not asked');
  }
  if (!reached) return yield* skipAll(['service', 'clock'], 'the service cannot be reached');
  const asked = await askService(client).catch((error: unknown) => rethrowInterrupt(error));
  if (asked instanceof Error) {
    yield fail('service', asked);
    return yield skip('clock', 'the service did not answer');
  }
  yield asked.verdict;
  yield settings.offline
    ? skip('clock', 'the embedded store has this clock')
    : checkClock(context, asked.response);
}

/** The way to the service below HTTP; gives whether it is open. */
async function* examineWay(context: Context, settings: Settings): AsyncGenerator<Verdict, boolean> {
  const baseUrl = settings.offline ? embeddedOrigin : settings.get('base-url');
  if (baseUrl === undefined) return yield* skipWay('no base URL is set');
  const sockets = await openSockets(context, baseUrl).catch(rethrowInterrupt);
  if (sockets instanceof Error) return yield* skipWay('a connection cannot be set up');
  if (sockets.absence !== undefined) return yield* skipWay(sockets.absence);
  const checks = [
    ['dns', () => checkDns(sockets)],
    ['connection', () => checkConnection(sockets)],
    ['tls', () => checkTls(sockets, context.now())],
  ] as const;
  let obstacle: CheckName | undefined;
  for (const [name, check] of checks) {
    const verdict = obstacle ? skip(name, `${obstacle} failed`) : await attempt(name, check);
    if (verdict.finding.state === 'fail') obstacle = name;
    yield verdict;
  }
  return obstacle === undefined;
}

async function* skipWay(reason: string): AsyncGenerator<Verdict, boolean> {
  yield* skipAll(['dns', 'connection', 'tls'], reason);
  return true;
}

function* skipAll(names: readonly CheckName[], reason: string): Generator<Verdict> {
  for (const name of names) yield skip(name, reason);
}

async function attempt(name: CheckName, check: () => Verdict | Promise<Verdict>): Promise<Verdict> {
  try {
    return await check();
  } catch (error) {
    return fail(name, rethrowInterrupt(error));
  }
}

function rethrowInterrupt(error: unknown): Error {
  if (error instanceof InterruptedError) throw error;
  return error as Error;
}
