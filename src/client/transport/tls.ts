import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import type { TlsFiles } from './dial.ts';

/**
 * What TLS trusts and shows. Node drops its own authorities as soon as it is given one, so they are given back to it.
 *
 * @throws Error of OpenSSL for text that is no PEM, or a key that does not fit its certificate.
 */
export function createContext(
  { ca, cert, key }: TlsFiles,
  env: Readonly<Record<string, string | undefined>>,
  options: tls.SecureContextOptions = {},
): tls.SecureContext {
  return tls.createSecureContext({
    ...options,
    ...(ca === undefined ? {} : { ca: [...trustedAnyway(env.NODE_EXTRA_CA_CERTS), ca] }),
    ...(cert === undefined ? {} : { cert, key: key ?? cert }),
  });
}

function trustedAnyway(extraFile: string | undefined): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  if (getCACertificates) return getCACertificates('default');
  return extraFile ? [...tls.rootCertificates, ...readable(extraFile)] : tls.rootCertificates;
}

/** Node has warned of a file that it cannot read. */
function readable(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}
