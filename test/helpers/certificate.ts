import { generate } from 'selfsigned';

const dayMs = 86_400_000;

interface Certificate {
  /** PEM; to be trusted it must be given as an authority too. */
  readonly cert: string;
  readonly key: string;
}

/** A certificate that signs itself, for 127.0.0.1 unless told otherwise, and ends so many days from now. */
export async function makeCertificate(days: number, host = '127.0.0.1'): Promise<Certificate> {
  const now = Date.now();
  const isAddress = /^[\d.]+$/.test(host);
  const made = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - 60 * dayMs),
    // A minute more, so that the days are still whole when the certificate is looked at.
    notAfterDate: new Date(now + days * dayMs + 60_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
  return { cert: made.cert, key: made.private };
}
