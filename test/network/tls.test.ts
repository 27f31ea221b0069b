import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { listenHere } from '../helpers/listen.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const emptyList: RequestListener = (_, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('[]');

async function serve(options: ServerOptions) {
  const server = createServer(options, emptyList);
  const port = await listenHere(server);
  return { server, port, [Symbol.asyncDispose]: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

function fileOf(text: string): string {
  const path = join(temporaryFolder(), 'file.pem');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** The subject of the certificate that a client has shown; undefined for none. */
function subjectOf(socket: Socket): string | undefined {
  return (socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined;
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
  await using proxy = await serve({ ...ofProxy, ...asking });
  const subjects: Record<string, string | undefined> = {};
  service.server.on('secureConnection', (socket) => {
    subjects.service = subjectOf(socket);
  });
  proxy.server.on('connect', (_: IncomingMessage, socket: Socket) => {
    subjects.proxy = subjectOf(socket);
    const onward = connect(service.port, '127.0.0.1');
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    onward.pipe(socket).pipe(onward);
    for (const end of [socket, onward]) end.on('error', () => {});
  });
  const run = await list('https://pets.invalid', {
    HTTPS_PROXY: `https://127.0.0.1:${proxy.port}`,
    PETSTORE_CA_CERT: fileOf(`${certificate.cert}\n${ofProxy.cert}`),
    PETSTORE_CLIENT_CERT: fileOf(`${client.cert}\n${client.key}`),
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(subjects).toEqual({ proxy: undefined, service: 'client.example' });
});

test.each(['http://me:p4ssw0rd@127.0.0.1', 'http://127.0.0.1'])(
  '407 is an answer of the proxy %s, not of the service',
  async (proxy) => {
    await using server = await recordingServer({}, () => ({ status: 407, body: { message: 'who are you' } }));
    const { port } = new URL(server.url);
    const run = await list('http://pets.invalid', { HTTP_PROXY: `${proxy}:${port}` });
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).toMatch(/the proxy http:\/\/\S+ \(HTTP_PROXY\) answered 407/);
    expect(run.stderr).toContain(
      '\nhint: check the address of the proxy, and the user name and the password',
    );
    expect(run.stderr).not.toContain('p4ssw0rd');
  },
);

test('the file of SSL_CERT_FILE is trusted, and named if it cannot be used', async () => {
  const certificate = await makeCertificate(30);
  await using service = await serve(certificate);
  const url = `https://127.0.0.1:${service.port}`;
  expect(await list(url, { SSL_CERT_FILE: fileOf(certificate.cert) })).toMatchObject({ code: 0, stderr: '' });
  const other = await makeCertificate(30, 'other.example');
  const further = { SSL_CERT_FILE: fileOf(other.cert), PETSTORE_CA_CERT: fileOf(certificate.cert) };
  expect(await list(url, further)).toMatchObject({ code: 0 });
  const untrusted = await list(url, { SSL_CERT_FILE: fileOf(other.cert) });
  expect(untrusted).toMatchObject(failed(6, 'PETSTORE_CA_CERT=<file>'));
  for (const path of ['/nonexistent.pem', fileOf('no certificate')]) {
    const wrong = await list(url, { SSL_CERT_FILE: path });
    expect(wrong).toMatchObject(failed(2, `SSL_CERT_FILE: ${path}: `));
  }
});

test('a client certificate without its key is an error before any connection', async () => {
  const [{ cert }, { key }] = [await makeCertificate(30), await makeCertificate(30)];
  for (const file of [fileOf(cert), fileOf(`${cert}\n${key}`)]) {
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
    expect(
      await list(`https://127.0.0.1:${service.port}`, {
        PETSTORE_CA_CERT: fileOf(certificate.cert),
      }),
    ).toMatchObject(failed(6, /TLS: .+\nhint: .*PETSTORE_CLIENT_CERT=<file>/));
  },
);
