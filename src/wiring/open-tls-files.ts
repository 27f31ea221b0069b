import type { TlsFiles } from '../client/transport/dial.ts';
import type { Settings } from '../config/settings.ts';

/** The certificates and the key that the settings name, read and checked. */
export async function openTlsFiles(settings: Settings): Promise<TlsFiles> {
  const named = (key: 'ca-cert' | 'client-cert' | 'client-key') => {
    const { value, origin } = settings.explain(key);
    return value === undefined ? undefined : { path: value, source: origin };
  };
  const files = { ca: named('ca-cert'), cert: named('client-cert'), key: named('client-key') };
  if (!files.ca && !files.cert && !files.key) return {};
  return (await import('../client/tls-files.ts')).readTlsFiles(files);
}
