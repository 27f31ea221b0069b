import { describe, test } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { runCli } from '../helpers/run-cli.ts';
import {
  asPage,
  type Change,
  changing,
  on,
  refusal,
  refusing,
  startService,
  withBody,
  withFields,
} from './service.ts';

// The matrix of faults: one at a time in a healthy service. Each is red under every flag, and the first line of the
// report names the cause.

type Fault = readonly [title: string, spoil: Change, firstLine: RegExp, exitCode?: number];

/** Plain, and every other flag together, because none of them can make up for what another hides. */
const flagSets = [
  ['--retries', '1'],
  [
    ...['--retries', '0', '--strict', '--brief', '--repeat', '2'],
    ...['--only', '**', '--skip', 'latency', '--expect', 'GET /pets'],
  ],
];

/** Every GET of the table, with a path of it. */
const reads = Object.values(operations)
  .filter(({ method }) => method === 'GET')
  .map(({ id, path }) => ({ id, path: path.replace(/\{\w+\}/, '1') }));

/**
 * Three reads stand for all, because the same code judges each answer: the one that reach asks too, another list and a
 * record.
 */
const judged = reads.filter(({ id }) => ['listPets', 'listOrders', 'getCategory'].includes(id));

const ofAnswer: readonly Fault[] = [
  ['a 500', refusing(500), /answered 500 Internal Server Error/],
  ['a 404', refusing(404), /answered 404 Not Found/],
  ['a 503 of a gateway', refusing(503), /answered 503 Service Unavailable/],
  ['a connection that is cut', () => 'reset', /the connection was closed before the whole answer came/],
  [
    'a web page',
    (answer) => asPage(answer, '<h1>Deploying</h1>'),
    /the content type is text\/html|with a web page/,
  ],
  [
    'a body that is cut',
    (answer) => withBody(answer, String(answer.body).slice(0, 20)),
    /the body is not JSON: /,
  ],
  [
    'bytes that are not UTF-8',
    (answer) => ({ ...answer, body: Buffer.from('{"id":1,"name":"B\xe4r"}', 'latin1') }),
    /the body is not UTF-8/,
  ],
  [
    'an object in place of what is documented',
    (answer) => withBody(answer, { data: [] }),
    /the body (must be an array|lacks)/,
  ],
  ['no content type', (answer) => withFields(answer, { 'content-type': undefined }), /no content type/],
];

const idOf = (record: object) => ('id' in record ? 'id' : 'petId');
const firstRecord = (change: (record: object) => unknown) =>
  changing((json: object | object[]) =>
    Array.isArray(json) ? json.map((record, at) => (at === 0 ? change(record) : record)) : change(json),
  );

/** Faults of the first or only record, in every read, because each has a schema of its own. */
const ofRecord: readonly Fault[] = [
  [
    'an id that is text',
    firstRecord((record) => ({ ...record, [idOf(record)]: '1' })),
    /must be an integer \(int64\)/,
  ],
  ['a record of null', firstRecord(() => null), /must be an object/],
];

/** Lists that are wrong as lists: one with the field `id`, one with `petId`. */
const lists = reads.filter(({ id }) => ['listCategories', 'listInventory'].includes(id));

const secondPage = (change: (json: object[]) => unknown): Change => on(/after=/, changing(change));

const ofList: readonly Fault[] = [
  ['an id twice', changing((json: object[]) => [...json.slice(0, 1), ...json]), /the list has an id twice/],
  ['records out of order', changing((json: object[]) => json.toReversed()), /the list is not ordered by id/],
  [
    'a link to its own page',
    (answer, { target }) => withFields(answer, { link: `<${target}#next>; rel="next"` }),
    /the next link points at its own page/,
  ],
  [
    'a link to elsewhere',
    (answer) => withFields(answer, { link: '<http://elsewhere.example/pets>; rel="next"' }),
    /the next link leaves the service/,
  ],
  [
    'a link that is no URL',
    (answer) => withFields(answer, { link: '<http://[>; rel="next"' }),
    /the next link is not a URL/,
  ],
  [
    'a next page without its first record',
    secondPage((json) => json.slice(1)),
    /records are missing between two pages/,
  ],
  [
    'a next page that begins with the page before',
    secondPage(([first = {}, ...rest]) => [{ ...first, [idOf(first)]: 1 }, first, ...rest]),
    /the next page repeats records of the page before/,
  ],
];

const at = (
  places: readonly { readonly id: string; readonly path: string }[],
  faults: readonly Fault[],
): Fault[] =>
  places.flatMap(({ id, path }) =>
    faults.map(([title, change, line]) => [`${id}: ${title}`, on(path, change), line] as const),
  );

const differing = Object.entries({
  '/pets/1': { status: 'sold' },
  '/categories/1': { name: 'Other' },
  '/store/orders/1': { quantity: 99 },
  '/store/inventory/1': { quantity: 99 },
}).map(
  ([path, change]): Fault => [
    `GET ${path} differs from its list`,
    on(
      path,
      changing((json: object) => ({ ...json, ...change })),
    ),
    /(status|name|quantity) differs from what list\w+ shows/,
  ],
);

const unknownId = /^\/categories\/9\d+$/;
const deprecation = '@1735689600';
const sunset = 'Wed, 31 Dec 2098 00:00:00 GMT';

const refusals: readonly Fault[] = [
  [
    'every large id is found',
    on(unknownId, (answer, { target }) => ({
      ...withBody(answer, `{"id":${target.replace('/categories/', '')},"name":"Dogs"}`),
      status: 200,
    })),
    /error\/not-found: an unknown id is answered as if it were found/,
  ],
  ['an unknown id is a 500', on(unknownId, refusing(500)), /error\/not-found: answered 500/],
  [
    'an unknown id is a page',
    on(unknownId, (answer) => asPage(answer, '<h1>404</h1>')),
    /error\/not-found: the content type is text\/html/,
  ],
  [
    'an error with another status in its body',
    on(unknownId, (answer) => ({ ...refusal(answer, 400), status: 404 })),
    /error\/not-found: the body names another status than the answer has/,
  ],
  [
    'an error without a code',
    on(unknownId, (answer) => withBody(answer, { message: 'no', status: 404 })),
    /error\/not-found: the body lacks the field "code"/,
  ],
  ['a wrong id is a 500', on(/not-a-number/, refusing(500)), /error\/bad-request: answered 500/],
  [
    'a wrong id is accepted',
    on(/not-a-number/, (answer) => ({ ...withBody(answer, { id: 1, name: 'Dogs' }), status: 200 })),
    /error\/bad-request: answered 200 OK/,
  ],
  [
    'a rate limit that never ends',
    on('/categories/1', refusing(429)),
    /op\/getCategory: answered 429 Too Many Requests/,
  ],
];

const lifecycles: readonly Fault[] = [
  [
    'a Deprecation header on an operation that is not marked',
    on('/categories', (answer) => withFields(answer, { deprecation })),
    /lifecycle\/listCategories: deprecated by its header, not by the description/,
  ],
  [
    'a Sunset header on an operation that is not marked',
    on('/categories', (answer) => withFields(answer, { sunset })),
    /lifecycle\/listCategories: a Sunset header on an operation/,
  ],
  [
    'a malformed Deprecation header',
    on('/pets/1', (answer) => withFields(answer, { deprecation: 'soon' })),
    /lifecycle\/getPet: the Deprecation header is malformed/,
  ],
  [
    'a Sunset before the Deprecation',
    on('/pets/1', (answer) => withFields(answer, { deprecation, sunset: 'Tue, 31 Dec 2024 00:00:00 GMT' })),
    /lifecycle\/getPet: Sunset is before Deprecation/,
  ],
  [
    'an operation that is gone before its sunset',
    on(/^\/pets\/\d+$/, (answer) => withFields(refusal(answer, 410), { sunset })),
    /op\/getPet: answered 410 Gone, and listPets shows petId 1/,
  ],
];

const toLocation =
  (location: string): Change =>
  (answer) => ({
    ...withFields(answer, { location }),
    status: 302,
    body: '',
  });

const reach: readonly Fault[] = [
  [
    'a redirect to a login',
    (answer, seen) =>
      seen.target === '/login'
        ? { ...asPage(answer, '<title>Sign in'), status: 200 }
        : toLocation('/login')(answer, seen),
    /reach\/http: listPets answered 200 OK with a web page, redirected to .*\/login; no token was sent/,
    7,
  ],
  [
    'a redirect to a login elsewhere',
    toLocation('https://login.example/'),
    /reach\/http: .*a redirect to https:\/\/login\.example\/.*; no token was sent/,
    7,
  ],
  [
    'a service that refuses',
    refusing(401),
    /reach\/http: listPets answered 401 Unauthorized; no token was sent; give a token/,
    4,
  ],
  [
    'a service that forbids',
    refusing(403),
    /reach\/http: listPets answered 403 Forbidden; no token was sent/,
    4,
  ],
  [
    'a gateway without a service',
    refusing(502),
    /reach\/http: listPets answered 502 Bad Gateway.*; nothing answers behind the gateway/,
    6,
  ],
];

const faults = [
  ...[...at(judged, ofAnswer), ...at(reads, ofRecord), ...at(lists, ofList)],
  ...[...differing, ...refusals, ...lifecycles, ...reach],
];

// Beside each other, because most of the time is spent waiting.
describe.concurrent('a fault of what is read is red, and the first line names it', () => {
  test.for(faults)('%s', async ([, spoil, firstLine, exitCode], { expect }) => {
    for (const flags of flagSets) {
      await using service = await startService({ spoil });
      const { code, stdout } = await runCli(['smoke', '--base-url', service.url, ...flags]);
      const [first = ''] = stdout.split('\n');
      expect(first, stdout).toMatch(/^(fail|error) /);
      expect(first.replace(/failed 2 of 2: /, ''), stdout).toMatch(firstLine);
      if (exitCode === undefined) expect([6, 7]).toContain(code);
      else expect(code).toBe(exitCode);
    }
  });
});
