import { generate } from 'selfsigned';

const dayMs = 86_400_000;

interface Certificate {
  /** PEM; a client trusts it only if it is given as an authority too. */
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate of a host, by default 127.0.0.1, that expires in so many days. */
export async function makeCertificate(days: number, host = '127.0.0.1'): Promise<Certificate> {
  const now = Date.now();
  const isAddress = /^[\d.]+$/.test(host);
  const made = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - 60 * dayMs),
    // One more minute, so that a test that looks at it a moment later still counts whole days.
    notAfterDate: new Date(now + days * dayMs + 60_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
  return { cert: made.cert, key: made.private };
}
