import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { seedStore } from '../../src/server/seed.ts';
import { Store } from '../../src/server/store.ts';
import type { Description } from '../helpers/own-description.ts';
import { runCli } from '../helpers/run-cli.ts';
import { boundTo, requireToken } from './run.ts';
import {
  type Change,
  changing,
  counting,
  on,
  type ServiceOptions,
  startService,
  withHeaders,
  withRefusal,
} from './service.ts';

// The matrix of healthy services: each is green under every flag that it can satisfy.

const strict = ['--strict', '--expect', 'GET /pets 2xx'];

interface Variant {
  readonly service?: () => ServiceOptions;
  /** The change to every correct answer, for a variant that needs no other change. */
  readonly spoil?: Change;
  /** The path below the address of the service. */
  readonly base?: string;
  readonly bind?: (document: Description) => void;
  readonly token?: string;
  /** By default all flags that a healthy service need not satisfy. */
  readonly flags?: readonly string[];
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

function shopOfCategories(count: number): Store {
  const store = seedStore();
  for (let id = 1n; id <= count; id += 1n) store.categories.put(id, { id, name: `Kind ${id}` });
  return store;
}

/** A store in which the first order that smoke reads has just been deleted. */
function shrinkingShop(): ServiceOptions {
  const store = seedStore();
  const spoil = counting(
    (count) => count === 1,
    (answer, { path }) => {
      store.orders.delete(BigInt(path.replace(/.*\//, '')));
      return withRefusal(answer, 404);
    },
  );
  return { store, spoil: on(/^\/store\/orders\/\d/, spoil) };
}

/** Changes each record of an answer, alone or in a list. */
const eachRecord = (change: (record: object) => object) =>
  changing((json: object) => (Array.isArray(json) ? json.map(change) : change(json)));

const asText = (answer: HttpResponse) =>
  withHeaders({ ...answer, body: 'no such record\n' }, { 'content-type': 'text/plain; charset=utf-8' });

let reads = 0;
const numbered = (name: string) =>
  eachRecord((record) => {
    reads += 1;
    return { ...record, [name]: reads };
  });

const variants: Readonly<Record<string, Variant>> = {
  // The variants that wait between attempts come first, so that the others run meanwhile.
  'a connection that breaks now and then': {
    spoil: counting(
      (count) => count % 20 === 1,
      () => 'reset',
    ),
    flags: [],
  },
  'the local server': {},
  'more categories than fit on a page': { service: () => ({ store: shopOfCategories(1200) }) },
  'an empty shop': { service: () => ({ store: new Store() }) },
  'ids up to the largest int64': { service: () => ({ store: bigShop() }), flags: strict },
  'redirects of reads within the service': {
    service: () => ({
      route: (path) => path.replace(/^\/v1/, ''),
      spoil: on(/^\/(?!v1)/, (answer, { path }) => ({
        ...answer,
        status: 308,
        body: '',
        headers: { location: `/v1${path}` },
      })),
    }),
  },
  'a path before every path': {
    base: '/api/v2',
    service: () => ({ route: (path) => path.replace(/^\/api\/v2/, ''), spoil: prefixed }),
  },
  'a key in a header': {
    spoil: (answer, { headers }) => (headers['x-key'] === 'right key' ? answer : withRefusal(answer, 401)),
    bind: (document) => requireToken(document, { type: 'apiKey', in: 'header', name: 'X-Key' }),
    token: 'right key',
  },
  'a plain text as the 404 of a record, which its description does not say': {
    spoil: (answer) => (answer.status === 404 ? asText(answer) : answer),
    flags: ['--write', '--skip', 'error'],
  },
  'no listPets': {
    bind({ paths }) {
      delete paths['/pets']?.get;
    },
    flags: strict,
  },
  'ids of int32': {
    spoil: (answer, { path }) =>
      Number(/\d{5,}/.exec(path)?.[0] ?? 0) > 2 ** 31 - 1 ? withRefusal(answer, 400) : answer,
    bind({ paths }) {
      for (const item of Object.values(paths))
        for (const { parameters } of Object.values(item))
          for (const { schema } of (parameters ?? []) as { schema: { format?: string; maximum?: number } }[])
            if (schema?.format === 'int64') Object.assign(schema, { format: 'int32' });
    },
  },
  'records that somebody deletes while they are read': { service: shrinkingShop, flags: strict },
  'fields that no description knows, another in every answer': { spoil: numbered('seen') },
  'counts that change with every read': { spoil: on(/^\/store\/inventory/, numbered('quantity')), flags: [] },
  'orders with a negative quantity': {
    service() {
      const store = seedStore();
      store.orders.put(1n, { id: 1n, petId: 5n, quantity: -3, complete: true });
      return { store };
    },
  },
  'an operation that is gone since its sunset': {
    spoil: on(/^\/pets\/\d/, (answer) =>
      withHeaders(withRefusal(answer, 410), {
        deprecation: '@1735689600',
        sunset: 'Thu, 02 Jan 2025 00:00:00 GMT',
      }),
    ),
    flags: [],
  },
};

// The tests run concurrently, because they spend most of their time waiting.
describe.concurrent('a healthy service is green', () => {
  test.each(Object.entries(variants))('%s', async (_, variant) => {
    const {
      service,
      spoil,
      base = '',
      bind,
      token,
      flags = [...strict, '--write', '--wait', '5s'],
    } = variant;
    await using running = await startService(service?.() ?? { ...(spoil && { spoil }) });
    const url = `${running.url}${base}`;
    const env = {
      ...(bind && (await boundTo(url, bind))),
      PETSTORE_BASE_URL: url,
      ...(token && { PETSTORE_TOKEN: token }),
    };
    const { code, stdout, stderr } = await runCli(['smoke', ...flags], { env });
    expect(stdout, stderr).not.toMatch(/^(fail|error) /m);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/\d+ passed/);
  });
});
