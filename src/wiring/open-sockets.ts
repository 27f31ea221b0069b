import type { Context } from '../context.ts';
import { createSockets, type Sockets } from '../smoke/sockets.ts';
import { openTlsFiles } from './open-tls-files.ts';

/** What the checks below HTTP look at. */
export async function openSockets(context: Context, baseUrl: string): Promise<Sockets> {
  const settings = await context.settings();
  return createSockets({
    baseUrl,
    embedded: settings.offline,
    tls: await openTlsFiles(settings),
    env: context.io.env,
    timeoutMs: settings.get('timeout'),
  });
}
