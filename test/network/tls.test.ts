import type { Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { answerJson, misbehave, type Script, tunnel } from '../helpers/misbehaving-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFile } from '../helpers/temporary-folder.ts';

/** Starts a service of empty lists, or a proxy to one, and keeps the subject of the certificate that its last client has shown. */
async function serve(
  tls: TlsOptions,
  onRequest: Script['onRequest'] = (exchange) => answerJson(exchange, []),
) {
  let subject: string | undefined;
  const onConnection = (socket: Socket) => {
    subject = (socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined;
    return false;
  };
  const server = await misbehave({ onConnection, onRequest }, tls);
  return Object.assign(server, { subject: () => subject });
}

function list(url: string, env: Readonly<Record<string, string>>) {
  return runCli(['categories', 'list', '--base-url', url, '--retries', '0'], { env });
}

test('a client certificate is shown to the service, and not to a proxy on the way', async () => {
  const certificate = await makeCertificate(30, 'pets.invalid');
  const ofProxy = await makeCertificate(30);
  const client = await makeCertificate(30, 'client.example');
  const asking = { requestCert: true, rejectUnauthorized: false };
  await using service = await serve({ ...certificate, ...asking });
  await using proxy = await serve({ ...ofProxy, ...asking }, (exchange) => tunnel(exchange, service.port));
  const run = await list('https://pets.invalid', {
    HTTPS_PROXY: proxy.url,
    PETSTORE_CA_CERT: temporaryFile(`${certificate.cert}\n${ofProxy.cert}`),
    PETSTORE_CLIENT_CERT: temporaryFile(`${client.cert}\n${client.key}`),
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect([proxy.subject(), service.subject()]).toEqual([undefined, 'client.example']);
});

test('the file of SSL_CERT_FILE is trusted, and named if it cannot be used', async () => {
  const certificate = await makeCertificate(30);
  await using service = await serve(certificate);
  expect(await list(service.url, { SSL_CERT_FILE: temporaryFile(certificate.cert) })).toMatchObject({
    code: 0,
    stderr: '',
  });
  const other = await makeCertificate(30, 'other.example');
  const further = {
    SSL_CERT_FILE: temporaryFile(other.cert),
    PETSTORE_CA_CERT: temporaryFile(certificate.cert),
  };
  expect(await list(service.url, further)).toMatchObject({ code: 0 });
  const both = {
    SSL_CERT_FILE: temporaryFile(other.cert),
    NODE_EXTRA_CA_CERTS: temporaryFile(certificate.cert),
  };
  expect(await list(service.url, both)).toMatchObject({ code: 0 });
  const untrusted = await list(service.url, { ...both, NODE_EXTRA_CA_CERTS: 'package.json' });
  expect(untrusted).toMatchObject(failed(6, 'PETSTORE_CA_CERT=<file>'));
  for (const path of ['/nonexistent.pem', temporaryFile('no certificate')]) {
    const wrong = await list(service.url, { SSL_CERT_FILE: path });
    expect(wrong).toMatchObject(failed(2, `SSL_CERT_FILE: ${path}: `));
  }
});

test('a client certificate without its key is an error before any connection', async () => {
  const [{ cert }, { key }] = [await makeCertificate(30), await makeCertificate(30)];
  for (const file of [temporaryFile(cert), temporaryFile(`${cert}\n${key}`)]) {
    expect(await list('https://127.0.0.1:9', { PETSTORE_CLIENT_CERT: file })).toMatchObject(
      failed(2, `error: PETSTORE_CLIENT_CERT: ${file}: must have the private key of ${file}`),
    );
  }
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a service that wants a client certificate over %s gives an error with a hint',
  async (version) => {
    const certificate = await makeCertificate(30);
    const asking = { requestCert: true, rejectUnauthorized: true, ca: certificate.cert };
    await using service = await serve({
      ...certificate,
      ...asking,
      minVersion: version,
      maxVersion: version,
    });
    expect(await list(service.url, { PETSTORE_CA_CERT: temporaryFile(certificate.cert) })).toMatchObject(
      failed(6, /TLS: .+\nhint: .*PETSTORE_CLIENT_CERT=<file>/),
    );
  },
);
