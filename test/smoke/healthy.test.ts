import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { runCli } from '../helpers/run-cli.ts';
import { bindTo, type Description, newFolder, requireToken } from './run.ts';
import {
  type Change,
  changing,
  on,
  refusal,
  type ServiceOptions,
  startService,
  withFields,
} from './service.ts';

// The matrix of healthy services: each variant is green under every flag that it can satisfy.

/** Flags that a healthy service may not satisfy. A run with `--write` has every check of a run without. */
const demands = {
  strict: ['--strict', '--expect', 'GET /pets 2xx'],
  latency: ['--max-latency', '30s'],
  write: ['--write', '--wait', '5s'],
  repeat: ['--repeat', '2', '--brief'],
} as const;
type Demand = keyof typeof demands;

/** The runs of each variant: none of their flags can make up for what another hides. */
const runs: readonly (readonly Demand[])[] = [
  ['write', 'latency'],
  ['strict', 'repeat'],
];

interface VariantOptions extends ServiceOptions {
  /** Of the client's certificate and key. */
  readonly folder?: string;
}

interface Variant {
  /** @param next counts the answers of one service: 1, 2, … */
  readonly options?: (next: () => number) => VariantOptions | Promise<VariantOptions>;
  /** Below the address of the service. */
  readonly base?: string;
  readonly bind?: (document: Description) => void;
  readonly config?: Record<string, string>;
  readonly token?: string;
  readonly without?: readonly Demand[];
}

/** A service that makes another of each right answer. */
const spoiled = (spoil: Change) => (): ServiceOptions => ({ spoil });
/** One that makes another of each right answer that has a body. */
const withBodies = (change: (answer: HttpResponse) => HttpResponse) =>
  spoiled((answer) => (answer.body.length > 0 ? change(answer) : answer));

const encoded = (name: string, compress: (body: Buffer) => Buffer) =>
  withBodies((answer) => ({
    ...withFields(answer, { 'content-encoding': name, 'content-length': undefined }),
    body: compress(Buffer.from(answer.body)),
  }));

function prefixed(answer: HttpResponse): HttpResponse {
  const link = answer.fields.link?.toString().replace(/<(https?:\/\/[^/>]+)?\//g, '</api/v2/');
  return withFields(answer, { link });
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

/** A list of pets by offset, newest first, in which every look finds a new pet. */
function growingShop(): ServiceOptions {
  const store = seedStore();
  const change: Change = (answer, { target }) => {
    const id = 1000n + BigInt(store.revision);
    store.pets.put(id, { id, name: `New ${id}`, categoryId: 1n, status: 'available' });
    const asked = new URL(target, 'http://any').searchParams;
    const limit = Number(asked.get('limit') ?? 10);
    const offset = Number(asked.get('offset') ?? 0);
    const newest = store.pets
      .page({ limit: 1000 })
      .stored.map(({ record }) => record)
      .toReversed();
    const page = newest
      .slice(offset, offset + limit)
      .map((pet) => ({ ...pet, id: Number(pet.id), categoryId: Number(pet.categoryId) }));
    const link = `</pets?limit=${limit}&offset=${offset + limit}>; rel="next"`;
    return { ...withFields(answer, { link }), body: JSON.stringify(page) };
  };
  return { store, spoil: on('/pets', change) };
}

/** A shop in which the first category and the first order that are read have just been deleted. */
function shrinkingShop(): ServiceOptions {
  const store = seedStore();
  const gone = new Set<string>();
  const change: Change = (answer, { target }) => {
    const kind = target.startsWith('/categories') ? 'categories' : 'orders';
    if (gone.has(kind)) return answer;
    gone.add(kind);
    store[kind].delete(BigInt(target.replace(/.*\//, '')));
    return refusal(answer, 404);
  };
  return { store, spoil: on(/^\/(categories|store\/orders)\/\d{1,3}$/, change) };
}

async function mutualTls(): Promise<VariantOptions> {
  const { cert, key } = await makeCertificate(90);
  const folder = newFolder();
  for (const [name, text] of Object.entries({ cert, key })) writeFileSync(join(folder, name), text);
  return { tls: { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true }, folder };
}

/** Changes each record of an answer, alone or in a list. */
const eachRecord = (change: (record: object) => object) =>
  changing((json: object) => (Array.isArray(json) ? json.map(change) : change(json)));

const variants: Readonly<Record<string, Variant>> = {
  // First what waits between attempts, so that the others run beside it.
  'a first connection of each path that breaks': {
    options() {
      const seen = new Set<string>();
      return {
        spoil(answer, { target }) {
          if (seen.has(target)) return answer;
          seen.add(target);
          return 'reset';
        },
      };
    },
    without: ['strict', 'latency', 'write'],
  },
  'a strict rate limit': {
    options: (next) => ({
      spoil: (answer) =>
        next() % 2 === 0 ? answer : withFields(refusal(answer, 429), { 'retry-after': '0' }),
    }),
    without: ['strict', 'latency', 'write', 'repeat'],
  },
  'a rate limit without Retry-After': {
    options: (next) => ({ spoil: (answer) => (next() % 5 === 0 ? refusal(answer, 429) : answer) }),
    without: ['strict', 'latency', 'write'],
  },
  'the local server': {},
  'an empty shop': { options: () => ({ store: new Store() }) },
  'other statuses of pets and of creates': {
    options: spoiled((answer, { method }) =>
      method === 'POST' && answer.status === 201
        ? { ...withFields(answer, { location: undefined }), status: 200 }
        : answer,
    ),
    bind({ paths, components: { schemas } }) {
      schemas.PetStatus = { type: 'string', enum: ['available', 'pending', 'sold', 'reserved'] } as never;
      for (const { post } of Object.values(paths)) {
        const created = post?.responses['201'];
        if (created) Object.assign(post.responses, { 200: { ...created, headers: {} }, 201: undefined });
      }
    },
  },
  'a token that may only read': {
    options: spoiled((answer, { method }) => (method === 'GET' ? answer : refusal(answer, 403))),
    without: ['write'],
  },
  'ids up to the largest int64': { options: () => ({ store: bigShop() }), without: ['write'] },
  'HTTP/1.0': { options: () => ({ isOld: true }) },
  gzip: { options: encoded('gzip', (body) => gzipSync(body)) },
  brotli: { options: encoded('br', (body) => brotliCompressSync(body)) },
  'redirects of reads within the service': {
    options: () => ({
      route: (target) => target.replace(/^\/v1/, ''),
      spoil: on(/^\/(?!v1)/, (answer, { target }) => ({
        ...{ ...answer, status: 308, body: '' },
        fields: { location: `/v1${target}` },
      })),
    }),
  },
  'a path before every path': {
    base: '/api/v2',
    options: () => ({ route: (target) => target.replace(/^\/api\/v2/, ''), spoil: prefixed }),
  },
  'a byte order mark': { options: withBodies((answer) => ({ ...answer, body: `\ufeff${answer.body}` })) },
  'a media type with a charset': {
    options: withBodies((answer) =>
      withFields(answer, { 'content-type': 'Application/JSON; charset=UTF-8' }),
    ),
  },
  'mutual TLS': {
    options: mutualTls,
    bind: (document) => requireToken(document, { type: 'mutualTLS' }),
  },
  'a bearer token': {
    options: spoiled((answer, { fields }) =>
      fields.authorization === 'Bearer right-token' ? answer : refusal(answer, 401),
    ),
    bind: requireToken,
    token: 'right-token',
  },
  'a key in a header of its own': {
    options: spoiled((answer, { fields }) =>
      fields['x-api-key'] === 'right-token' ? answer : refusal(answer, 401),
    ),
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
    options: spoiled((answer, { target }) =>
      Number(/\d{5,}/.exec(target)?.[0] ?? 0) > 2 ** 31 - 1 ? refusal(answer, 400) : answer,
    ),
    bind({ paths }) {
      for (const item of Object.values(paths))
        for (const { parameters } of Object.values(item))
          for (const { schema } of (parameters ?? []) as { schema: { format?: string; maximum?: number } }[])
            if (schema?.format === 'int64') Object.assign(schema, { format: 'int32' });
    },
  },
  'paging by offset while others write': { options: growingShop, bind: () => {} },
  'records that somebody deletes while they are read': {
    options: shrinkingShop,
    without: ['write', 'repeat'],
  },
  'fields that no description knows, another in every answer': {
    options: (next) => ({ spoil: eachRecord((record) => ({ ...record, seen: next() })) }),
  },
  'counts that change with every read': {
    options: (next) => ({
      spoil: on(
        /^\/store\/inventory/,
        eachRecord((record) => ({ ...record, quantity: next() })),
      ),
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
    options: spoiled((answer, { method }) =>
      method === 'GET' ? withFields(answer, { age: '12', 'x-cache': 'MISS' }) : answer,
    ),
  },
  'a service without headers about deprecation': {
    options: spoiled((answer) => withFields(answer, { deprecation: undefined, sunset: undefined })),
    without: ['strict'],
  },
  'an operation that is gone since its sunset': {
    options: spoiled(
      on(/^\/pets\/\d/, (answer) =>
        withFields(refusal(answer, 410), {
          deprecation: '@1735689600',
          sunset: 'Thu, 02 Jan 2025 00:00:00 GMT',
        }),
      ),
    ),
    without: ['strict', 'latency'],
  },
};

function counter(): () => number {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
}

async function runVariant({ options, base = '', bind, config, token }: Variant, flags: readonly string[]) {
  const { folder, ...given } = (await options?.(counter())) ?? {};
  await using service = await startService(given);
  const url = `${service.url}${base}`;
  const bound = bind ? await bindTo(url, bind, config ?? {}) : {};
  const files = { '--ca-cert': 'cert', '--client-cert': 'cert', '--client-key': 'key' };
  const certificates = folder
    ? Object.entries(files).flatMap(([flag, file]) => [flag, join(folder, file)])
    : [];
  const env = { ...bound, ...(token && { PETSTORE_TOKEN: token, PETSTORE_BASE_URL: url }) };
  const argv = ['smoke', ...(bind ? [] : ['--base-url', url]), ...certificates, ...flags];
  return await runCli(argv, { env });
}

const cases = Object.entries(variants).flatMap(([title, variant]) => {
  const sets = runs.map((names) => names.filter((name) => !variant.without?.includes(name)).join(' '));
  // Any demand includes those of a plain run.
  const [first = '', ...more] = sets.filter((names) => names !== '');
  return [first, ...more].map((names) => ({ title, names, variant }));
});

// Beside each other, because most of the time is spent waiting.
describe.concurrent('a healthy service is green', () => {
  test.each(cases)('$title, $names', async ({ variant, names }) => {
    const flags = Object.entries(demands).flatMap(([name, all]) => (names.includes(name) ? all : []));
    const { code, stdout, stderr } = await runVariant(variant, flags);
    expect(stdout, stderr).not.toMatch(/^(fail|error) /m);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/\d+ passed/);
  });
});
