import type { Context } from '../../context.ts';
import { createSockets, type Sockets } from '../../smoke/sockets.ts';

/** What the checks below HTTP look at: nothing where requests leave through a proxy or do not leave at all. */
export async function openSockets(context: Context, baseUrl: string): Promise<Sockets> {
  const settings = await context.settings();
  return createSockets({
    baseUrl,
    absence: settings.offline ? 'the embedded store has no socket' : undefined,
    tls: {},
    timeoutMs: settings.get('timeout'),
  });
}
