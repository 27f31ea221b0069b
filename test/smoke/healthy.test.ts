import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { printJson } from '../../src/process/exact-json.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { runCli } from '../helpers/run-cli.ts';
import { bindTo, type Description, newFolder, requireToken } from './run.ts';
import {
  asPage,
  type Change,
  changing,
  counting,
  on,
  refusal,
  type ServiceOptions,
  startService,
  withHeaders,
} from './service.ts';

// The matrix of healthy services: each variant is green under every flag that it can satisfy.

/** Flags that a healthy service need not satisfy. With `--write`, smoke also runs every check that it runs without. */
const demands = {
  strict: ['--strict', '--expect', 'GET /pets 2xx'],
  write: ['--write', '--wait', '5s'],
} as const;
type Demand = keyof typeof demands;

/** The sets of flags for each variant. No flag of a set hides what another flag of the set would find. */
const runs: readonly (readonly Demand[])[] = [['write'], ['strict']];

interface Variant {
  readonly service?: () => VariantService | Promise<VariantService>;
  /** The change to every correct answer, for a variant that needs no other change. */
  readonly spoil?: Change;
  /** The path below the address of the service. */
  readonly base?: string;
  readonly bind?: (document: Description) => void;
  readonly token?: string;
  readonly without?: readonly Demand[];
}

interface VariantService extends ServiceOptions {
  /** The environment of the command. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Changes every correct answer that has a body. */
const withBodies =
  (change: (answer: HttpResponse) => HttpResponse): Change =>
  (answer) =>
    answer.body.length > 0 ? change(answer) : answer;

/** Changes every nth answer, beginning with the first. */
const eachNth = (nth: number, change: Change) => () => ({
  spoil: counting((count) => count % nth === 1, change),
});

/** A rate limit as nginx has it (`limit_req` with `burst` and `nodelay`): 429 as a web page, without Retry-After. */
function limitedRate(requestsPerSecond: number, burst: number): ServiceOptions {
  let tokens = burst;
  let refilledAt = Date.now();
  const change: Change = (answer) => {
    const now = Date.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) * requestsPerSecond) / 1000);
    refilledAt = now;
    if (tokens < 1) return { ...asPage(answer, '<title>429 Too Many Requests</title>'), status: 429 };
    tokens -= 1;
    return answer;
  };
  return { spoil: change };
}

function prefixed(answer: HttpResponse): HttpResponse {
  const link = answer.headers.link?.toString().replace(/<(https?:\/\/[^/>]+)?\//g, '</api/v2/');
  return withHeaders(answer, { link });
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

/** A list of pets by offset, newest first, that has a new pet at every request. */
function growingShop(): ServiceOptions {
  const store = seedStore();
  const change: Change = (answer, { target }) => {
    const id = 1000n + BigInt(store.revision);
    store.pets.put(id, { id, name: `New ${id}`, categoryId: 1n, status: 'available' });
    const query = new URL(target, 'http://any').searchParams;
    const limit = Number(query.get('limit') ?? 10);
    const offset = Number(query.get('offset') ?? 0);
    const newest = store.pets.page({ limit: 1000 }).records.map(({ record }) => record);
    const matching = newest.filter(
      ({ status, categoryId }) =>
        [String(status), null].includes(query.get('status')) &&
        [String(categoryId), null].includes(query.get('categoryId')),
    );
    const page = matching.toReversed().slice(offset, offset + limit);
    const link =
      page.length === 0 ? undefined : `</pets?limit=${limit}&offset=${offset + limit}>; rel="next"`;
    return { ...withHeaders(answer, { link }), body: printJson(page) };
  };
  return { store, spoil: on('/pets', change) };
}

/** A store in which the first category and the first order that smoke reads have just been deleted. */
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

async function mutualTls(): Promise<VariantService> {
  const { cert, key } = await makeCertificate(90);
  const folder = newFolder();
  const env = {
    PETSTORE_CA_CERT: join(folder, 'cert.pem'),
    PETSTORE_CLIENT_CERT: join(folder, 'cert.pem'),
    PETSTORE_CLIENT_KEY: join(folder, 'key.pem'),
  };
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  return { tls: { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true }, env };
}

let reads = 0;
/** Returns a new number for every record that is read. */
function nextRead(): number {
  reads += 1;
  return reads;
}

/** Changes each record of an answer, alone or in a list. */
const eachRecord = (change: (record: object) => object) =>
  changing((json: object) => (Array.isArray(json) ? json.map(change) : change(json)));

const variants: Readonly<Record<string, Variant>> = {
  // The variants that wait between attempts come first, so that the others run meanwhile.
  'a connection that breaks now and then': {
    service: eachNth(20, () => 'reset'),
    without: ['strict', 'write'],
  },
  "nginx's rate limit": {
    service: () => limitedRate(8, 3),
    without: ['strict', 'write'],
  },
  'the local server': {},
  'an empty shop': { service: () => ({ store: new Store() }) },
  'other statuses of pets and of creates': {
    spoil: (answer, { method }) =>
      method === 'POST' && answer.status === 201
        ? { ...withHeaders(answer, { location: undefined }), status: 200 }
        : answer,
    bind({ paths, components: { schemas } }) {
      schemas.PetStatus = { type: 'string', enum: ['available', 'pending', 'sold', 'reserved'] } as never;
      for (const { post } of Object.values(paths)) {
        const created = post?.responses['201'];
        if (created) Object.assign(post.responses, { 200: { ...created, headers: {} }, 201: undefined });
      }
    },
  },
  'a token that may only read': {
    spoil: (answer, { method }) => (method === 'GET' ? answer : refusal(answer, 403)),
    without: ['write'],
  },
  'pets that have no entry in the inventory': {
    service() {
      const store = seedStore();
      for (let id = 1n; id <= 25n; id += 1n) store.inventory.delete(id);
      return { store };
    },
    without: ['strict', 'write'],
  },
  'ids up to the largest int64': { service: () => ({ store: bigShop() }), without: ['write'] },
  'redirects of reads within the service': {
    service: () => ({
      route: (target) => target.replace(/^\/v1/, ''),
      spoil: on(/^\/(?!v1)/, (answer, { target }) => ({
        ...{ ...answer, status: 308, body: '' },
        headers: { location: `/v1${target}` },
      })),
    }),
  },
  'a path before every path': {
    base: '/api/v2',
    service: () => ({ route: (target) => target.replace(/^\/api\/v2/, ''), spoil: prefixed }),
  },
  'a byte order mark': { spoil: withBodies((answer) => ({ ...answer, body: `\ufeff${answer.body}` })) },
  'a media type with a charset': {
    spoil: withBodies((answer) => withHeaders(answer, { 'content-type': 'Application/JSON; charset=UTF-8' })),
  },
  'mutual TLS': {
    service: mutualTls,
    bind: (document) => requireToken(document, { type: 'mutualTLS' }),
  },
  'a bearer token': {
    spoil: (answer, { headers }) =>
      headers.authorization === 'Bearer right-token' ? answer : refusal(answer, 401),
    bind: requireToken,
    token: 'right-token',
  },
  'no listPets': {
    bind({ paths }) {
      delete paths['/pets']?.get;
    },
    without: ['write'],
  },
  'a list on one page in any order': {
    spoil: on(
      '/categories',
      changing((records: object[]) => records.toReversed()),
    ),
    bind({ paths }) {
      const list = paths['/categories']?.get;
      if (list) list.parameters = [];
    },
  },
  'ids of int32': {
    spoil: (answer, { target }) =>
      Number(/\d{5,}/.exec(target)?.[0] ?? 0) > 2 ** 31 - 1 ? refusal(answer, 400) : answer,
    bind({ paths }) {
      for (const item of Object.values(paths))
        for (const { parameters } of Object.values(item))
          for (const { schema } of (parameters ?? []) as { schema: { format?: string; maximum?: number } }[])
            if (schema?.format === 'int64') Object.assign(schema, { format: 'int32' });
    },
  },
  'paging by offset while others write': { service: growingShop, bind: () => {}, without: ['strict'] },
  'records that somebody deletes while they are read': {
    service: shrinkingShop,
    without: ['write'],
  },
  'fields that no description knows, another in every answer': {
    spoil: eachRecord((record) => ({ ...record, seen: nextRead() })),
  },
  'counts that change with every read': {
    spoil: on(
      /^\/store\/inventory/,
      eachRecord((record) => ({ ...record, quantity: nextRead() })),
    ),
    without: ['strict', 'write'],
  },
  'orders with a negative quantity': {
    service() {
      const store = seedStore();
      store.orders.put(1n, { id: 1n, petId: 5n, quantity: -3, complete: true });
      return { store };
    },
  },
  'a cache that says so': {
    spoil: (answer, { method }) =>
      method === 'GET' ? withHeaders(answer, { age: '12', 'x-cache': 'MISS' }) : answer,
  },
  'a service without headers about deprecation': {
    spoil: (answer) => withHeaders(answer, { deprecation: undefined, sunset: undefined }),
    without: ['strict'],
  },
  'an operation that is gone since its sunset': {
    spoil: on(/^\/pets\/\d/, (answer) =>
      withHeaders(refusal(answer, 410), {
        deprecation: '@1735689600',
        sunset: 'Thu, 02 Jan 2025 00:00:00 GMT',
      }),
    ),
    without: ['strict'],
  },
};

async function runVariant({ service, spoil, base = '', bind, token }: Variant, flags: readonly string[]) {
  const { env: serviceEnv = {}, ...options } = (await service?.()) ?? (spoil ? { spoil } : {});
  await using running = await startService(options);
  const url = `${running.url}${base}`;
  const bindingEnv = bind ? await bindTo(url, bind) : {};
  const env = {
    ...serviceEnv,
    ...bindingEnv,
    PETSTORE_BASE_URL: url,
    ...(token && { PETSTORE_TOKEN: token }),
  };
  return await runCli(['smoke', ...flags], { env });
}

const cases = Object.entries(variants).flatMap(([title, variant]) => {
  const sets = runs.map((names) => names.filter((name) => !variant.without?.includes(name)).join(' '));
  // A set without flags runs only if no set has flags.
  const [first = '', ...more] = sets.filter((names) => names !== '');
  return [first, ...more].map((names) => ({ title, names, variant }));
});

// The tests run concurrently, because they spend most of their time waiting.
describe.concurrent('a healthy service is green', () => {
  test.each(cases)('$title, $names', async ({ variant, names }) => {
    const flags = Object.entries(demands).flatMap(([name, all]) => (names.includes(name) ? all : []));
    const { code, stdout, stderr } = await runVariant(variant, flags);
    expect(stdout, stderr).not.toMatch(/^(fail|error) /m);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/\d+ passed/);
  });
});
