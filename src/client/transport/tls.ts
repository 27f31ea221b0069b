import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { InputError, systemReason, UsageError } from '../../process/errors.ts';
import { readWhole } from '../../process/files.ts';

/** What a TLS connection needs besides Node's own defaults, as PEM texts. */
export interface TlsFiles {
  /** All trusted authorities, in place of those that Node trusts by itself. */
  readonly ca?: string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** A file, and the flag, variable or config file that named it. */
interface NamedFile {
  readonly path: string;
  readonly givenBy: string;
}

interface NamedTlsFiles {
  /** Trusted authorities that replace Node's own, from SSL_CERT_FILE. */
  readonly roots: NamedFile | undefined;
  /** Further trusted authorities. */
  readonly ca: NamedFile | undefined;
  readonly cert: NamedFile | undefined;
  readonly key: NamedFile | undefined;
}

/**
 * Reads and checks the certificates and the key for TLS, so that a wrong file is reported before anything is sent. The
 * file of a certificate may contain its key too.
 *
 * @param extraFile the value of NODE_EXTRA_CA_CERTS.
 * @throws UsageError that names the file and what names it.
 */
export async function readTlsFiles(
  { roots, ca, cert, key }: NamedTlsFiles,
  extraFile: string | undefined,
): Promise<TlsFiles> {
  if (key && !cert)
    throw new UsageError(`${key.givenBy}: the client key has no certificate`, 'name it with client-cert');
  const [rootsText, caText, certText = '', keyText = ''] = await Promise.all(
    [roots, ca, cert, key ?? cert].map(readTlsFile),
  );
  const { X509Certificate } = await import('node:crypto');
  for (const [file, text = ''] of [
    [roots, rootsText],
    [ca, caText],
    [cert, certText],
  ] as const)
    if (file) requirePem(file, 'not a PEM certificate', () => new X509Certificate(text));
  const trusted = roots || ca ? { ca: [...authorities(rootsText, extraFile), caText ?? []].flat() } : {};
  if (!cert) return trusted;
  const why = `must have the private key of ${cert.path}, as PEM without a passphrase`;
  requirePem(key ?? cert, why, () => tls.createSecureContext({ cert: certText, key: keyText }));
  return { ...trusted, cert: certText, key: keyText };
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

/** The longest file of certificates, in bytes. The file of all public authorities has about 250 KB. */
const maxBytes = 1024 * 1024;

async function readTlsFile(file: NamedFile | undefined): Promise<string | undefined> {
  try {
    return file && (await readWhole(file.path, maxBytes)).toString();
  } catch (error) {
    throw unusableFileError(file as NamedFile, systemReason(error));
  }
}

function requirePem(file: NamedFile, why: string, read: () => unknown): void {
  try {
    read();
  } catch {
    throw unusableFileError(file, why);
  }
}

function unusableFileError({ path, givenBy }: NamedFile, why: string): InputError {
  return new InputError(`${givenBy}: ${path}: ${why}`);
}
