import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { InputError, systemReason, UsageError } from '../../process/errors.ts';
import { readWhole } from '../../process/files.ts';

/** PEM texts. */
export interface TlsFiles {
  /** Trusted authorities that replace Node's own, from SSL_CERT_FILE. */
  readonly roots?: string | undefined;
  /** Further trusted authorities. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Creates the TLS context with the trusted authorities and the client certificate. The authorities of a context replace Node's
 * own, so the context gets both.
 *
 * @throws Error of OpenSSL if a text is not PEM, or a key does not match its certificate.
 */
export function createTlsContext(
  { roots, ca, cert, key }: TlsFiles,
  env: Readonly<Record<string, string | undefined>>,
): tls.SecureContext {
  return tls.createSecureContext({
    ...((roots ?? ca) !== undefined && {
      ca: [...authorities(roots, env.NODE_EXTRA_CA_CERTS), ...[ca ?? []].flat()],
    }),
    ...(cert === undefined ? {} : { cert, key: key ?? cert }),
  });
}

/** Returns the authorities that are trusted without a `ca-cert`. */
function authorities(roots: string | undefined, extraFile: string | undefined): readonly string[] {
  const extra = extraFile ? readAuthorities(extraFile) : [];
  if (roots !== undefined) return [roots, ...extra];
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? [...tls.rootCertificates, ...extra];
}

/** Reads the authorities of a file. None if the file cannot be read, because Node has already warned about that. */
function readAuthorities(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}

/** A file, and the flag, variable or config file that named it. */
interface NamedFile {
  readonly path: string;
  readonly givenBy: string;
}

type NamedTlsFiles = { readonly [Part in keyof TlsFiles]: NamedFile | undefined };

/**
 * Reads and checks the certificates and the key for TLS, so that a wrong file is reported before anything is sent. The
 * file of a certificate may contain its key too.
 *
 * @throws UsageError that names the file and what names it.
 */
export async function readTlsFiles({ roots, ca, cert, key }: NamedTlsFiles): Promise<TlsFiles> {
  if (key && !cert)
    throw new UsageError(`${key.givenBy}: a client key without a certificate`, 'name it with client-cert');
  const [rootsText, caText, certText = '', keyText = ''] = await Promise.all(
    [roots, ca, cert, key ?? cert].map(readTlsFile),
  );
  const { X509Certificate } = await import('node:crypto');
  const checkCertificates = (file: NamedFile | undefined, text = '') => {
    if (!file) return;
    // Node silently ignores the first broken certificate of a file and those after it.
    const all = text.match(/^\uFEFF?-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*.*$/gm) ?? [text];
    for (const each of all) readPem(file, 'not a PEM certificate', () => new X509Certificate(each));
  };
  checkCertificates(roots, rootsText);
  checkCertificates(ca, caText);
  checkCertificates(cert, certText);
  if (!cert) return { roots: rootsText, ca: caText };
  const why = `must have the private key of ${cert.path}, as PEM without a passphrase`;
  readPem(key ?? cert, why, () => tls.createSecureContext({ cert: certText, key: keyText }));
  return { roots: rootsText, ca: caText, cert: certText, key: keyText };
}

/** The longest file of certificates, in bytes. The file of all public authorities has about 250 KB. */
const maxBytes = 1024 * 1024;

async function readTlsFile(file: NamedFile | undefined): Promise<string | undefined> {
  try {
    return file && (await readWhole(file.path, maxBytes)).toString();
  } catch (error) {
    throw fault(file as NamedFile, systemReason(error));
  }
}

function readPem(file: NamedFile, why: string, read: () => unknown): void {
  try {
    read();
  } catch {
    throw fault(file, why);
  }
}

function fault({ path, givenBy }: NamedFile, why: string): InputError {
  return new InputError(`${givenBy}: ${path}: ${why}`);
}
