import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { ownDescription } from '../helpers/own-description.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';

// A bound service gets the token in the header that its description names, and operations that want it elsewhere are unbound.

const token = 'me:a secret';
const rex = { id: 1, name: 'Rex', categoryId: 1, status: 'sold' };
const basic = `Basic ${Buffer.from(token).toString('base64')}`;
const schemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  oauth: { type: 'oauth2', flows: {} },
  basic: { type: 'http', scheme: 'basic' },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'k' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'c' },
  reserved: { type: 'apiKey', in: 'header', name: 'Content-Type' },
  tls: { type: 'mutualTLS' },
};
type Way = Partial<Record<keyof typeof schemes, string[]>>;

function describe(security: readonly Way[], ofDelete?: readonly Way[]) {
  return ownDescription((document) => {
    Object.assign(document, { security });
    Object.assign(document.components, { securitySchemes: schemes });
    if (ofDelete) Object.assign(document.paths['/pets/{petId}']?.delete ?? {}, { security: ofDelete });
  });
}

async function secured(document: object) {
  const server = await recordingServer({ '/openapi.json': document }, ({ path }) => ({
    body: path.startsWith('/pets/') ? rex : [],
  }));
  return Object.assign(server, await bindTo(server, undefined, { env: { PETSTORE_TOKEN: token } }));
}

test.each<[what: string, security: readonly Way[], sent: object]>([
  ['bearer', [{ bearer: [] }], { authorization: `Bearer ${token}` }],
  ['bearer of OAuth', [{ oauth: ['read'] }], { authorization: `Bearer ${token}` }],
  ['basic', [{ basic: [] }], { authorization: basic }],
  ['a key in a header', [{ header: [] }], { 'x-key': token }],
  ['a key in a header, if it may be in the query too', [{ query: [] }, { header: [] }], { 'x-key': token }],
  ['bearer, if nothing is required', [{}], { authorization: `Bearer ${token}` }],
  ['bearer beside a client certificate', [{ tls: [], bearer: [] }], { authorization: `Bearer ${token}` }],
])('the token is sent as %s', async (_, security, sent) => {
  await using service = await secured(describe(security));
  await service.run('pets list');
  await service.run('pets delete 1 --yes');
  expect(service.calls()).toEqual([
    'GET /categories?limit=1000',
    'GET /pets?limit=1000',
    'GET /pets/1',
    'DELETE /pets/1',
  ]);
  const names = ['authorization', 'x-key', 'cookie'] as const;
  for (const { headers } of service.requests)
    expect(
      Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
    ).toEqual(sent);
});

test.each<[way: readonly Way[], where: string]>([
  [[{ query: [] }], 'the query parameter k'],
  [[{ cookie: [] }], 'the cookie c'],
  [[{ header: [] }], 'the header x-key'],
  [[{ basic: [] }], 'the header authorization as Basic'],
  [[{ reserved: [] }], 'the header content-type'],
  [[{ bearer: [], header: [] }], 'the header authorization and the header x-key'],
])('an operation that wants the token elsewhere than the others is unbound: %j', async (way, where) => {
  await using service = await secured(describe([{ bearer: [] }], way));
  expect(await service.run('pets delete 1 --yes')).toMatchObject(
    failed(2, `it takes its token in ${where}, and others take it in the header authorization`),
  );
  expect(service.writes()).toEqual([]);
});
