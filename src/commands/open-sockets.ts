import { findProxy } from '../client/transport/proxy.ts';
import type { Context } from '../context.ts';
import { createSockets, type Sockets } from '../smoke/sockets.ts';
import { openTlsFiles } from '../wiring.ts';

/** What the checks below HTTP look at: nothing where requests leave through a proxy, or do not leave at all. */
export async function openSockets(context: Context, baseUrl: string): Promise<Sockets> {
  const settings = await context.settings();
  const { env } = context.io;
  const proxy = settings.offline ? undefined : findProxy(new URL(baseUrl), env);
  return createSockets({
    baseUrl,
    absence: settings.offline
      ? 'the embedded store has no socket'
      : proxy && `requests go through the proxy ${proxy.shown}`,
    tls: await openTlsFiles(settings),
    env,
    timeoutMs: settings.get('timeout'),
  });
}
