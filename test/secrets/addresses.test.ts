import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { warehouse } from '../helpers/descriptions.ts';
import { answerJson, misbehave, type Script } from '../helpers/misbehaving-server.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';

let service: RecordingServer;
let other: RecordingServer;
let config: ConfigFolder;

beforeEach(async () => {
  const answer = ({ method }: { readonly method: string }) =>
    method === 'GET' ? { body: [] } : { status: 201, body: { id: 1, name: 'Dogs' } };
  service = await recordingServer({ '/openapi': warehouse }, answer);
  other = await recordingServer({}, answer);
  config = openConfig();
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const create = ['categories', 'create', '--name', 'Dogs'];

/** The two ways to name an address, each with and without the name of the profile that is active. */
function ways(url: string) {
  return [
    { flags: ['--base-url', url], env: {}, names: false },
    { flags: [], env: { PETSTORE_BASE_URL: url }, names: false },
    { flags: ['--base-url', url, '--profile', 'prod'], env: {}, names: true },
    { flags: ['--base-url', url], env: { PETSTORE_PROFILE: 'prod' }, names: true },
    { flags: [], env: { PETSTORE_BASE_URL: url, PETSTORE_PROFILE: 'prod' }, names: true },
  ];
}

describe('an address of another origin takes nothing from the active profile:', () => {
  const list = ['pets', 'list'];

  test.each([
    ['its protection', create, { protected: true }],
    ['its certificates', list, { 'client-cert': '/none/cert.pem', 'client-key': '/none/key.pem' }],
    ['its other settings, even a wrong one', list, { timeout: 'soon', 'auth-header': 'X-Key' }],
  ])('%s', async (_, words, section) => {
    configure(section);
    for (const { flags, env, names } of ways(other.url))
      expect([flags, env, (await config.run([...words, ...flags], { env })).code]).toEqual([
        flags,
        env,
        names ? 2 : 0,
      ]);
    expect(other.calls()).not.toEqual([]);
  });

  test('its binding', async () => {
    configure({});
    await config.run(['api', 'bind', `${service.url}/openapi`]);
    for (const { flags, env, names } of ways(other.url)) {
      const { stdout } = await config.run(['api', 'operations', '-o', 'json', ...flags], { env });
      expect([names, stdout.includes('"path":"/pets"')]).toEqual([names, true]);
    }
  });
});

test('an address of the origin of the active profile takes all of it', async () => {
  configure({ protected: true, 'token-command': 'echo s3cret' });
  for (const { flags, env } of ways(`${service.url}/v2`)) {
    expect(await config.run([...create, ...flags], { env })).toMatchObject(failed(2, 'prod is protected'));
    expect(await config.run(['pets', 'list', ...flags], { env })).toMatchObject({ code: 0 });
  }
  expect(service.requests).toHaveLength(20);
  for (const { headers } of service.requests) expect(headers.authorization).toBe('Bearer s3cret');
});

test('a client certificate is shown to the origin of its profile alone', async () => {
  const { cert, key } = await makeCertificate(9);
  configure({});
  for (const [name, pem] of Object.entries({ 'cert.pem': cert, 'key.pem': key }))
    writeFileSync(join(config.folder, name), pem, { mode: 0o600 });
  const hasCertificate: boolean[] = [];
  const script: Script = {
    onConnection(socket) {
      hasCertificate.push(Object.keys((socket as TLSSocket).getPeerCertificate()).length > 0);
      return false;
    },
    onRequest: (exchange) => answerJson(exchange, warehouse),
  };
  await using server = await misbehave(script, { cert, key, requestCert: true, rejectUnauthorized: false });
  const tls = { 'ca-cert': 'cert.pem', 'client-cert': 'cert.pem', 'client-key': 'key.pem' };
  for (const baseUrl of [server.url, service.url]) {
    configure({ ...tls, 'base-url': baseUrl });
    expect(await config.run(`api bind ${server.url}/openapi`)).toMatchObject({ code: 0 });
  }
  expect(hasCertificate).toEqual([true, false]);
});

/** A config whose active profile, prod, belongs to `service`. */
function configure(section: Readonly<Record<string, unknown>>): void {
  config.write({ profile: 'prod', profiles: { prod: { 'base-url': service.url, ...section } } });
}
