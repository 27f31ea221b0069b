import { createSecureContext } from 'node:tls';
import { InputError, systemReason, UsageError } from '../../process/errors.ts';
import { readWhole } from '../../process/files.ts';

/** What a TLS connection needs besides Node's own defaults, as PEM texts. */
export interface TlsFiles {
  /** The trusted authorities, in place of those that Node trusts by itself. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** A file, and the flag, variable or config file that named it. */
interface NamedFile {
  readonly path: string;
  readonly givenBy: string;
}

/**
 * Reads and checks the certificates and the key for TLS, so that a wrong file is reported before anything is sent. The
 * file of a certificate may contain its key too. `extra` holds authorities to trust beside those of `ca`.
 *
 * @throws UsageError that names the file and what names it.
 */
export async function readTlsFiles({
  ca,
  extra,
  cert,
  key = cert,
}: Readonly<Record<keyof TlsFiles | 'extra', NamedFile | undefined>>): Promise<TlsFiles> {
  if (key && !cert)
    throw new UsageError(`${key.givenBy}: the client key has no certificate`, 'name it with client-cert');
  const [ownCa, certText, keyText] = await Promise.all([ca, cert, key].map(readTlsFile));
  const { X509Certificate } = await import('node:crypto');
  // Node warns of a file that it cannot use.
  const extraCa = await readTlsFile(extra)
    .then((text) => text && new X509Certificate(text) && text)
    .catch(() => undefined);
  for (const [file, text = ''] of [
    [ca, ownCa],
    [cert, certText],
  ] as const)
    if (file) requirePem(file, 'not a PEM certificate', () => new X509Certificate(text));
  const caText = extraCa === undefined ? ownCa : `${ownCa}\n${extraCa}`;
  if (!cert || !key) return { ca: caText };
  const why = `must have the private key of ${cert.path}, as PEM without a passphrase`;
  requirePem(key, why, () => createSecureContext({ cert: certText, key: keyText }));
  return { ca: caText, cert: certText, key: keyText };
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
