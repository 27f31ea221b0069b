import { generate } from 'selfsigned';

const dayMs = 86_400_000;

interface Certificate {
  /** PEM. A client trusts it only if it has the same certificate as an authority. */
  readonly cert: string;
  readonly key: string;
}

/** Makes a self-signed certificate for a host that expires in some days. */
export async function makeCertificate(days: number, host = '127.0.0.1'): Promise<Certificate> {
  const now = Date.now();
  const isAddress = /^[\d.]+$/.test(host);
  const pair = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - 60 * dayMs),
    // One more minute, so that a test that reads it a moment later still counts the same days.
    notAfterDate: new Date(now + days * dayMs + 60_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
  return { cert: pair.cert, key: pair.private };
}
