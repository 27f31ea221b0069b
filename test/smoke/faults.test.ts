import { describe, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { operations } from '../../src/api/operations.ts';
import { runCli } from '../helpers/run-cli.ts';
import { refusal, type Seen, type Spoiled, startService, withBody, withFields, withJson } from './service.ts';

// The matrix of faults: one at a time in a healthy service. Each is red under every set of flags, and the first line
// of the report names the cause.

interface Fault {
  readonly title: string;
  spoil(seen: Seen, answer: HttpResponse): Spoiled;
  readonly flags?: readonly string[];
  /** The first line, without the state. */
  readonly line: RegExp;
  readonly code?: number;
}

const flagSets = [
  [],
  ['--strict', '--brief'],
  ['--repeat', '2'],
  ['--only', '**', '--skip', 'latency', '--expect', 'GET /pets'],
];

/** Every GET of the table with a path that only it has. */
const reads = Object.values(operations)
  .filter(({ method }) => method === 'GET')
  .map(({ id, path, many }) => ({ id, many, path: path.replace(/\{\w+\}/, '1') }));

type Change = (answer: HttpResponse) => Spoiled;

/** Faults that any answer can have. */
const ofAnswer: Readonly<Record<string, readonly [Change, RegExp]>> = {
  'a 500': [(answer) => refusal(answer, 500), /answered 500 Internal Server Error/],
  'a 404': [(answer) => refusal(answer, 404), /answered 404 Not Found/],
  'a 503 of a gateway': [(answer) => refusal(answer, 503), /answered 503 Service Unavailable/],
  'a connection that is cut': [() => 'reset', /the connection was closed before the whole answer came/],
  'a web page': [
    (answer) => withBody(withFields(answer, { 'content-type': 'text/html' }), '<h1>Deploying</h1>'),
    /the content type is text\/html|with a web page/,
  ],
  'a body that is cut': [
    (answer) => withBody(answer, String(answer.body).slice(0, 20)),
    /the body is not JSON: /,
  ],
  'bytes that are not UTF-8': [
    (answer) => ({ ...answer, body: Buffer.from('{"id":1,"name":"B\xe4r"}', 'latin1') }),
    /the body is not UTF-8/,
  ],
  'an object in place of what is documented': [
    (answer) => withBody(answer, { data: [] }),
    /the body (must be an array|lacks)|answered/,
  ],
  'no content type': [(answer) => withFields(answer, { 'content-type': undefined }), /no content type/],
};

/** Faults of one field of the first or only record. */
const ofRecord: Readonly<Record<string, readonly [(record: never) => unknown, RegExp]>> = {
  'an id that is text': [
    (record: object) => ({ ...record, [idOf(record)]: '1' }),
    /must be an integer \(int64\)/,
  ],
  'a record of null': [() => null, /must be an object/],
};

function idOf(record: object): string {
  return 'id' in record ? 'id' : 'petId';
}

function changeRecord(change: (record: never) => unknown): Change {
  return (answer) =>
    withJson(answer, (json: never[]) =>
      Array.isArray(json) ? [change(json[0] as never), ...json.slice(1)] : change(json as never),
    );
}

const changes = Object.entries({
  ...ofAnswer,
  ...Object.fromEntries(
    Object.entries(ofRecord).map(([title, [change, line]]) => [title, [changeRecord(change), line] as const]),
  ),
});

const faultsOfReads: Fault[] = reads.flatMap(({ id, path }) =>
  changes
    // The schema of an order requires no field.
    .filter(([title]) => !(id === 'getOrder' && title.startsWith('an object')))
    .map(([title, [change, line]]) => ({
      title: `${id}: ${title}`,
      spoil: ({ method, target }, answer) =>
        method === 'GET' && target.split('?')[0] === path ? change(answer) : answer,
      line,
    })),
);

/** Lists that are wrong as lists. */
const lists = reads.filter(({ many }) => many);
const plain = (path: string) => (target: string) => target.split('?')[0] === path;
const spoilList =
  (path: string, change: (answer: HttpResponse, target: string) => HttpResponse): Fault['spoil'] =>
  ({ method, target }, answer) =>
    method === 'GET' && plain(path)(target) && answer.status === 200 ? change(answer, target) : answer;

const listFaults: Readonly<
  Record<string, readonly [(path: string, answer: HttpResponse, target: string) => HttpResponse, RegExp]>
> = {
  'an id twice': [
    (_, answer) => withJson(answer, (json: object[]) => [...json.slice(0, 1), ...json]),
    /the list has an id twice/,
  ],
  'records out of order': [
    (_, answer) => withJson(answer, (json: object[]) => json.toReversed()),
    /the list is not ordered by id/,
  ],
  'a link to its own page': [
    (_, answer, target) => withFields(answer, { link: `<${target}#next>; rel="next"` }),
    /the next link points at its own page/,
  ],
  'a link to elsewhere': [
    (path, answer) => withFields(answer, { link: `<http://elsewhere.example${path}>; rel="next"` }),
    /the next link leaves the service/,
  ],
  'a link that is no URL': [
    (_, answer) => withFields(answer, { link: '<http://[>; rel="next"' }),
    /the next link is not a URL/,
  ],
  'a next page without its first record': [
    (_, answer, target) =>
      target.includes('after=') ? withJson(answer, (json: object[]) => json.slice(1)) : answer,
    /records are missing between two pages/,
  ],
  'a next page that begins with the page before': [
    (_, answer, target) =>
      target.includes('after=')
        ? withJson(answer, (json: { id?: number; petId?: number }[]) => [
            { ...json[0], ...('id' in (json[0] ?? {}) ? { id: 1 } : { petId: 1 }) },
            ...json,
          ])
        : answer,
    /the next page repeats records of the page before|the list has an id twice/,
  ],
};

const faultsOfLists: Fault[] = lists.flatMap(({ id, path }) =>
  Object.entries(listFaults).map(([title, [change, line]]) => ({
    title: `${id}: ${title}`,
    spoil: spoilList(path, (answer, target) => change(path, answer, target)),
    line,
  })),
);

const getDiffers: Fault[] = [
  ['/pets/1', { status: 'sold' }],
  ['/categories/1', { name: 'Other' }],
  ['/store/orders/1', { quantity: 99 }],
  ['/store/inventory/1', { quantity: 99 }],
].map(([path, change]) => ({
  title: `GET ${path} differs from its list`,
  spoil: ({ method, target }, answer) =>
    method === 'GET' && target === path
      ? withJson(answer, (json: object) => ({ ...json, ...(change as object) }))
      : answer,
  line: /(status|name|quantity) differs from what list\w+ shows/,
}));

const onPath =
  (pattern: RegExp, change: (answer: HttpResponse) => Spoiled, method = 'GET'): Fault['spoil'] =>
  (seen, answer) =>
    seen.method === method && pattern.test(seen.target) ? change(answer) : answer;

const others: Fault[] = [
  {
    title: 'every large id is found',
    spoil: ({ target }, answer) => {
      const id = /^\/categories\/(9\d+)$/.exec(target)?.[1];
      return id ? { ...withBody(answer, `{"id":${id},"name":"Dogs"}`), status: 200 } : answer;
    },
    line: /error\/not-found: an unknown id is answered as if it were found/,
  },
  {
    title: 'an unknown id is a 500',
    spoil: onPath(/^\/categories\/9\d+$/, (answer) => refusal(answer, 500)),
    line: /error\/not-found: answered 500/,
  },
  {
    title: 'an unknown id is a page',
    spoil: onPath(/^\/categories\/9\d+$/, (answer) =>
      withBody(withFields(answer, { 'content-type': 'text/html' }), '<h1>404</h1>'),
    ),
    line: /error\/not-found: the content type is text\/html/,
  },
  {
    title: 'an error with another status in its body',
    spoil: onPath(/^\/categories\/9\d+$/, (answer) => ({ ...refusal(answer, 400), status: 404 })),
    line: /error\/not-found: the body names another status than the answer has/,
  },
  {
    title: 'an error without a code',
    spoil: onPath(/^\/categories\/9\d+$/, (answer) => withBody(answer, { message: 'no', status: 404 })),
    line: /error\/not-found: the body lacks the field "code"/,
  },
  {
    title: 'a wrong id is a 500',
    spoil: onPath(/not-a-number/, (answer) => refusal(answer, 500)),
    line: /error\/bad-request: answered 500/,
  },
  {
    title: 'a wrong id is accepted',
    spoil: onPath(/not-a-number/, (answer) => ({
      ...withBody(answer, { id: 1, name: 'Dogs' }),
      status: 200,
    })),
    line: /error\/bad-request: answered 200 OK/,
  },
  {
    title: 'a Deprecation header on an operation that is not marked',
    spoil: onPath(/^\/categories$/, (answer) => withFields(answer, { deprecation: '@1735689600' })),
    line: /lifecycle\/listCategories: deprecated by its header, not by the description/,
  },
  {
    title: 'a Sunset header on an operation that is not marked',
    spoil: onPath(/^\/categories$/, (answer) =>
      withFields(answer, { sunset: 'Wed, 31 Dec 2098 00:00:00 GMT' }),
    ),
    line: /lifecycle\/listCategories: a Sunset header on an operation/,
  },
  {
    title: 'a malformed Deprecation header',
    spoil: onPath(/^\/pets\/1$/, (answer) => withFields(answer, { deprecation: 'soon' })),
    line: /lifecycle\/getPet: the Deprecation header is malformed/,
  },
  {
    title: 'a Sunset before the Deprecation',
    spoil: onPath(/^\/pets\/1$/, (answer) =>
      withFields(answer, { deprecation: '@1735689600', sunset: 'Tue, 31 Dec 2024 00:00:00 GMT' }),
    ),
    line: /lifecycle\/getPet: Sunset is before Deprecation/,
  },
  {
    title: 'an operation that is gone before its sunset',
    spoil: onPath(/^\/pets\/\d+$/, (answer) =>
      withFields(refusal(answer, 410), { sunset: 'Wed, 31 Dec 2098 00:00:00 GMT' }),
    ),
    line: /op\/getPet: answered 410 Gone, and listPets shows petId 1/,
  },
  {
    title: 'a redirect to a login',
    spoil: ({ target }, answer) =>
      target === '/login'
        ? { ...withBody(withFields(answer, { 'content-type': 'text/html' }), '<title>Sign in'), status: 200 }
        : { ...withFields(answer, { location: '/login' }), status: 302, body: '' },
    line: /reach\/http: listPets answered 200 OK with a web page, redirected to .*\/login; no token was sent/,
    code: 7,
  },
  {
    title: 'a redirect to a login elsewhere',
    spoil: (_, answer) => ({
      ...withFields(answer, { location: 'https://login.example/' }),
      status: 302,
      body: '',
    }),
    line: /reach\/http: .*a redirect to https:\/\/login\.example\/.*; no token was sent/,
    code: 7,
  },
  {
    title: 'a service that refuses',
    spoil: (_, answer) => refusal(answer, 401),
    line: /reach\/http: listPets answered 401 Unauthorized; no token was sent; give a token/,
    code: 4,
  },
  {
    title: 'a service that forbids',
    spoil: (_, answer) => refusal(answer, 403),
    line: /reach\/http: listPets answered 403 Forbidden; no token was sent/,
    code: 4,
  },
  {
    title: 'a gateway without a service',
    spoil: (_, answer) => refusal(answer, 502),
    line: /reach\/http: listPets answered 502 Bad Gateway.*; nothing answers behind the gateway/,
    code: 6,
  },
  {
    title: 'a rate limit that never ends',
    spoil: onPath(/^\/categories\/1$/, (answer) => refusal(answer, 429)),
    line: /op\/getCategory: answered 429 Too Many Requests/,
  },
];

const faults = [...faultsOfReads, ...faultsOfLists, ...getDiffers, ...others];

/** Runs one fault under a set of flags. */
async function runFault({ spoil, flags = [] }: Fault, more: readonly string[]) {
  await using service = await startService({ spoil });
  const quick = ['--retries', more.includes('--repeat') ? '0' : '1'];
  return await runCli(['smoke', '--base-url', service.url, ...quick, ...flags, ...more]);
}

// Beside each other, because most of the time is spent waiting.
describe.concurrent('a fault of what is read is red, and the first line names it', () => {
  test.for(faults)('$title', async (fault, { expect }) => {
    for (const flags of flagSets) {
      const { code, stdout } = await runFault(fault, flags);
      const [first = ''] = stdout.split('\n');
      expect(first, stdout).toMatch(/^(fail|error) /);
      expect(first.replace(/failed 2 of 2: /, ''), stdout).toMatch(fault.line);
      if (fault.code === undefined) expect([6, 7]).toContain(code);
      else expect(code).toBe(fault.code);
    }
  });
});
