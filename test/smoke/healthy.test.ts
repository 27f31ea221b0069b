import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { runCli } from '../helpers/run-cli.ts';
import { bindTo, type Description, requireToken } from './bind.ts';
import { refusal, type Service, type ServiceOptions, startService, withFields, withJson } from './service.ts';

// The matrix of healthy services: each variant is green under every set of flags that it can satisfy.

const flagSets = {
  plain: [],
  strict: ['--strict', '--max-latency', '30s', '--expect', 'GET /pets 2xx'],
  write: ['--write', '--wait', '5s'],
  repeat: ['--repeat', '2', '--brief'],
} as const;
type FlagSet = keyof typeof flagSets;

interface VariantOptions extends ServiceOptions {
  /** Of the client's certificate and key. */
  readonly folder?: string;
}

interface Variant {
  /** @param next counts the answers of one service: 1, 2, … */
  readonly options?: (next: () => number) => VariantOptions | Promise<VariantOptions>;
  /** Flags that every run needs. */
  readonly flags?: readonly string[];
  /** Below the address of the service. */
  readonly base?: string;
  readonly bind?: (document: Description) => void;
  readonly config?: Record<string, string>;
  readonly token?: string;
  readonly without?: readonly FlagSet[];
}

const encoded = (name: string, compress: (body: Buffer) => Buffer) => (): ServiceOptions => ({
  spoil: (_, answer) =>
    answer.body.length === 0
      ? answer
      : {
          ...withFields(answer, { 'content-encoding': name, 'content-length': undefined }),
          body: compress(Buffer.from(answer.body)),
        },
});

const prefixed = (): ServiceOptions => ({
  route: (target) => target.replace(/^\/api\/v2/, ''),
  spoil: (_, answer) =>
    withFields(answer, { link: linkOf(answer, (link) => link.replaceAll('</', '</api/v2/')) }),
});

function linkOf({ fields }: HttpResponse, change: (link: string) => string): string | undefined {
  return fields.link === undefined
    ? undefined
    : change(String(fields.link).replace(/https?:\/\/[^/>]+/g, ''));
}

function bigShop(): Store {
  const store = new Store();
  const max = 2n ** 63n - 1n;
  for (const [at, id] of [2n ** 53n + 1n, max - 1024n, max - 1n, max].entries()) {
    store.categories.put(id, { id, name: `Kind ${at}` });
    store.pets.put(id, { id, name: `Pet ${at}`, categoryId: id, status: 'sold' });
    store.inventory.put(id, { petId: id, quantity: at, status: 'sold' });
    store.orders.put(id, { id, petId: id, quantity: 1, complete: true });
  }
  return store;
}

/** Gives the answer of a service whose description has other statuses. */
function otherStatuses(): ServiceOptions {
  return {
    spoil: ({ method }, answer) =>
      method === 'POST' && answer.status === 201
        ? { ...withFields(answer, { location: undefined }), status: 200 }
        : answer,
  };
}

function counter(): () => number {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
}

const variants: Readonly<Record<string, Variant>> = {
  'the local server': {},
  'an empty shop': { options: () => ({ store: new Store() }) },
  'other statuses of pets and of creates': {
    options: otherStatuses,
    bind({ paths, components: { schemas } }) {
      schemas.PetStatus = { type: 'string', enum: ['available', 'pending', 'sold', 'reserved'] } as never;
      for (const item of Object.values(paths)) {
        const { responses } = item.post ?? {};
        if (responses?.['201'])
          Object.assign(responses, { 200: { ...responses['201'], headers: {} }, 201: undefined });
      }
    },
  },
  'a token that may only read': {
    options: () => ({ spoil: ({ method }, answer) => (method === 'GET' ? answer : refusal(answer, 403)) }),
    without: ['write'],
  },
  'ids up to the largest int64': { options: () => ({ store: bigShop() }), without: ['write'] },
  'a strict rate limit': {
    options: (next) => ({
      spoil: (_, answer) =>
        next() % 2 === 0 ? answer : withFields(refusal(answer, 429), { 'retry-after': '0' }),
    }),
    without: ['strict', 'write'],
  },
  'a rate limit without Retry-After': {
    options: (next) => ({ spoil: (_, answer) => (next() % 5 === 0 ? refusal(answer, 429) : answer) }),
    without: ['strict', 'write'],
  },
  'HTTP/1.0': { options: () => ({ isOld: true }) },
  gzip: { options: encoded('gzip', (body) => gzipSync(body)) },
  brotli: { options: encoded('br', (body) => brotliCompressSync(body)) },
  'redirects of reads within the service': {
    options: () => ({
      route: (target) => target.replace(/^\/v1/, ''),
      spoil: ({ method, target }, answer) =>
        method === 'GET' && !target.startsWith('/v1')
          ? { ...answer, status: 308, fields: { location: `/v1${target}` }, body: '' }
          : answer,
    }),
  },
  'a path before every path': { base: '/api/v2', options: prefixed },
  'a byte order mark': {
    options: () => ({
      spoil: (_, answer) => (answer.body.length > 0 ? { ...answer, body: `\ufeff${answer.body}` } : answer),
    }),
  },
  'a media type with a charset': {
    options: () => ({
      spoil: (_, answer) =>
        answer.body.length > 0
          ? withFields(answer, { 'content-type': 'Application/JSON; charset=UTF-8' })
          : answer,
    }),
  },
  'mutual TLS': {
    async options() {
      const { cert, key } = await makeCertificate(90);
      const folder = mkdtempSync(join(tmpdir(), 'petstore-mtls-'));
      for (const [name, text] of Object.entries({ cert, key })) writeFileSync(join(folder, name), text);
      return { tls: { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true }, folder };
    },
    bind: (document) => requireToken(document, { type: 'mutualTLS' }),
  },
  'a bearer token': {
    options: () => ({
      spoil: ({ fields }, answer) =>
        fields.authorization === 'Bearer right-token' ? answer : refusal(answer, 401),
    }),
    bind: requireToken,
    token: 'right-token',
  },
  'a key in a header of its own': {
    options: () => ({
      spoil: ({ fields }, answer) => (fields['x-api-key'] === 'right-token' ? answer : refusal(answer, 403)),
    }),
    config: { 'auth-header': 'X-Api-Key', 'auth-scheme': '' },
    bind: (document) => requireToken(document, { type: 'apiKey', in: 'header', name: 'X-Api-Key' }),
    token: 'right-token',
  },
  'no listPets': {
    bind({ paths }) {
      delete paths['/pets']?.get;
    },
    without: ['write'],
  },
  'ids of int32': {
    options: () => ({
      spoil: ({ target }, answer) =>
        Number(/\d{5,}/.exec(target)?.[0] ?? 0) > 2 ** 31 - 1 ? refusal(answer, 400) : answer,
    }),
    bind({ paths }) {
      for (const item of Object.values(paths))
        for (const { parameters } of Object.values(item))
          for (const { schema } of (parameters ?? []) as { schema: { format?: string; maximum?: number } }[])
            if (schema?.format === 'int64') Object.assign(schema, { format: 'int32' });
    },
  },
  'paging by offset while others write': {
    options() {
      const store = seedStore();
      const pets = () => store.pets.page({ limit: 1000 }).stored.map(({ record }) => record);
      return {
        store,
        spoil({ method, target }, answer) {
          const [path, query] = target.split('?');
          if (method !== 'GET' || path !== '/pets') return answer;
          const id = 1000n + BigInt(store.revision);
          store.pets.put(id, { id, name: `New ${id}`, categoryId: 1n, status: 'available' });
          const asked = new URLSearchParams(query);
          const limit = Number(asked.get('limit') ?? 10);
          const offset = Number(asked.get('offset') ?? 0);
          const newest = pets().toReversed();
          const link = `</pets?limit=${limit}&offset=${offset + limit}>; rel="next"`;
          const body = newest.slice(offset, offset + limit).map((pet) => ({
            ...pet,
            id: Number(pet.id),
            categoryId: Number(pet.categoryId),
          }));
          return { ...withFields(answer, { link }), body: JSON.stringify(body) };
        },
      };
    },
    bind: () => {},
  },
  'records that somebody deletes while they are read': {
    options() {
      const store = seedStore();
      const gone = new Set<string>();
      return {
        store,
        spoil({ method, target }, answer) {
          const [, path = '', id = ''] = /^\/(categories|store\/orders)\/(\d{1,3})$/.exec(target) ?? [];
          if (method !== 'GET' || path === '' || gone.has(path)) return answer;
          gone.add(path);
          store[path === 'categories' ? 'categories' : 'orders'].delete(BigInt(id));
          return refusal(answer, 404);
        },
      };
    },
    without: ['write', 'repeat'],
  },
  'fields that no description knows, another in every answer': {
    options: (next) => ({
      spoil: (_, answer) =>
        withJson(answer, (json: object) => {
          const seen = next();
          const extend = (record: object) => ({ ...record, seen });
          return Array.isArray(json) ? json.map(extend) : extend(json);
        }),
    }),
  },
  'counts that change with every read': {
    options: (next) => ({
      spoil: ({ method, target }, answer) =>
        method === 'GET' && target.startsWith('/store/inventory')
          ? withJson(answer, (json: object) => {
              const quantity = next();
              const changed = (record: object) => ({ ...record, quantity });
              return Array.isArray(json) ? json.map(changed) : changed(json);
            })
          : answer,
    }),
    without: ['write'],
  },
  'orders with a negative quantity': {
    options() {
      const store = seedStore();
      store.orders.put(1n, { id: 1n, petId: 5n, quantity: -3, complete: true });
      return { store };
    },
  },
  'a cache that says so': {
    options: () => ({
      spoil: ({ method }, answer) =>
        method === 'GET' ? withFields(answer, { age: '12', 'x-cache': 'MISS' }) : answer,
    }),
  },
  'a service without headers about deprecation': {
    options: () => ({
      spoil: (_, answer) => withFields(answer, { deprecation: undefined, sunset: undefined }),
    }),
    without: ['strict'],
  },
  'an operation that is gone since its sunset': {
    options: () => ({
      spoil: ({ method, target }, answer) =>
        method === 'GET' && /^\/pets\/\d/.test(target)
          ? withFields(refusal(answer, 410), {
              deprecation: '@1735689600',
              sunset: 'Thu, 02 Jan 2025 00:00:00 GMT',
            })
          : answer,
    }),
    without: ['strict'],
  },
  'a first connection of each path that breaks': {
    options: () => {
      const seen = new Set<string>();
      return {
        spoil({ target }, answer) {
          const isFirst = !seen.has(target);
          seen.add(target);
          return isFirst ? 'reset' : answer;
        },
      };
    },
    without: ['strict', 'write'],
  },
};

async function runVariant({ options, base = '', bind, config, token, flags = [] }: Variant, name: FlagSet) {
  const { folder, ...given } = (await options?.(counter())) ?? {};
  await using service: Service = await startService(given);
  const url = `${service.url}${base}`;
  const bound = bind ? await bindTo(url, bind, config ?? {}) : {};
  const files = { '--ca-cert': 'cert', '--client-cert': 'cert', '--client-key': 'key' };
  const certificates = folder
    ? Object.entries(files).flatMap(([flag, file]) => [flag, join(folder, file)])
    : [];
  const env = { ...bound, ...(token && { PETSTORE_TOKEN: token, PETSTORE_BASE_URL: url }) };
  const argv = ['smoke', ...(bind ? [] : ['--base-url', url]), ...certificates, ...flags];
  return await runCli([...argv, ...flagSets[name]], { env });
}

const cases = Object.entries(variants).flatMap(([title, variant]) =>
  (Object.keys(flagSets) as FlagSet[])
    .filter((name) => !variant.without?.includes(name))
    .map((name) => ({ title, name, variant })),
);

// Beside each other, because most of the time is spent waiting.
describe.concurrent('a healthy service is green', () => {
  test.for(cases)('$title, $name', async ({ variant, name }, { expect }) => {
    const { code, stdout, stderr } = await runVariant(variant, name);
    expect(stdout, stderr).not.toMatch(/^(fail|error) /m);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/\d+ passed/);
  });
});
