import type { Transport } from '../api/http.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context, Load } from '../context.ts';
import { openTlsFiles } from './open-tls-files.ts';

/** The server in this process, on the store that this machine keeps. */
export async function openOffline(context: Context): Promise<Transport> {
  const { createOfflineTransport } = await import('../server/offline.ts');
  return createOfflineTransport({ file: resolvePaths(context.io).offlineStore });
}

/** The way to a service at an address. @throws UsageError for a proxy or a certificate that cannot be used. */
export async function openTransport(
  baseUrl: string,
  { io, settings: resolve }: Context,
  load: Load,
): Promise<Transport> {
  const settings = await resolve();
  // A wrong proxy is told before anything is read or planned.
  (await import('../client/transport/proxy.ts')).findProxy(new URL(baseUrl), io.env);
  if (io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await io.stderr
      .write(
        'warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is set: certificates are not verified, and anybody on the way can read and change everything\n',
      )
      .catch(() => {});
  const options = {
    tls: await openTlsFiles(settings),
    env: io.env,
    connections: settings.get('concurrency'),
    connectTimeoutMs: settings.get('timeout'),
  };
  if (load === 'many') return (await import('../client/transport/undici.ts')).createUndiciTransport(options);
  return (await import('../client/transport/node-http.ts')).createNodeHttpTransport(options);
}
