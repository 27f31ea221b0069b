import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { runCli } from '../helpers/run-cli.ts';
import {
  asPage,
  type Change,
  changing,
  on,
  refusing,
  startService,
  withBody,
  withHeaders,
  withRefusal,
} from './service.ts';

// The matrix of faults: a healthy service with one fault at a time. Each fault fails the command, and the first line of the
// report names it.

/** Faults, by the text of the first line of the report. */
type Faults = Readonly<Record<string, Change>>;

const having =
  (headers: Readonly<Record<string, string | undefined>>): Change =>
  (answer) =>
    withHeaders(answer, headers);
const saying =
  (body: unknown): Change =>
  (answer) =>
    withBody(answer, body);

const idOf = (record: object) => ('id' in record ? 'id' : 'petId');
const firstRecord = (change: (record: object) => unknown) =>
  changing((json: object | object[]) =>
    Array.isArray(json) ? json.map((record, at) => (at === 0 ? change(record) : record)) : change(json),
  );

/** Answers of a service that is down. */
const outages: Faults = {
  'answered 500 Internal Server Error': refusing(500),
  'answered 503 Service Unavailable': refusing(503),
  'the connection was closed before an answer came': () => 'reset',
};

/** Faults of any other answer. */
const ofAnswer: Faults = {
  'answered 404 Not Found': refusing(404),
  'the content type is text/html|with text/html: .*, not a list of pets': (answer) =>
    asPage(answer, '<h1>Deploying</h1>'),
  'is not JSON|with application/json: .*, the body is not valid JSON: .* too early; no': (answer) =>
    withBody(answer, String(answer.body).slice(0, 20)),
  'the body is not JSON in UTF-8|the body is not UTF-8': (answer) => ({
    ...answer,
    body: Buffer.from('{"name":"B\xe4r"}', 'latin1'),
  }),
  'the body must be an array|the body lacks|not a list of pets': saying({ data: [] }),
  'must be an object': firstRecord(() => null),
  'no content type': having({ 'content-type': undefined }),
};

const ofSchema: Faults = {
  'must be an integer .int64': firstRecord((record) => ({ ...record, [idOf(record)]: '1' })),
};

const ofList: Faults = {
  'the list has an id twice': changing((json: object[]) => [...json.slice(0, 1), ...json]),
  'the next link leaves the service': having({ link: '<http://elsewhere.example/pets>; rel="next"' }),
  'the next link is not a URL': having({ link: '<http://[>; rel="next"' }),
};

type Row = readonly [place: string, line: string, spoil: Change, code: number];

function at(ids: readonly string[], faults: Faults, code = 7): Row[] {
  const places = Object.values(operations).filter(({ id }) => ids.includes(id));
  return places.flatMap(({ id, path }) =>
    Object.entries(faults).map(([line, change]): Row => {
      return [id, line, on(path.replace(/\{\w+\}/, '1'), change), code];
    }),
  );
}

const reads = Object.values(operations).flatMap(({ id, method }) => (method === 'GET' ? [id] : []));
const differing = (change: object) => changing((json: object) => ({ ...json, ...change }));
const unknownId = (change: Change) => on(/^\/categories\/\d{4,}$/, change);
const sunset = 'Wed, 31 Dec 2098 00:00:00 GMT';

const toLocation =
  (location: string): Change =>
  (answer) => ({ ...withHeaders(answer, { location }), status: 302, body: '' });
const toLogin: Change = (answer, request) =>
  request.path === '/login'
    ? { ...asPage(answer, '<title>Sign in'), status: 200 }
    : toLocation('/login')(answer, request);

const others: Faults = {
  'op/getCategory: name differs from what listCategories shows': on(
    '/categories/1',
    differing({ name: 'Other' }),
  ),
  'op/getInventory: quantity differs from what listInventory shows': on(
    '/store/inventory/1',
    differing({ quantity: 99 }),
  ),
  '^fail +error/not-found: answered 200 OK': on(/\/(\d{4,}|not-.*)$/, (answer, { path }) => ({
    ...withBody(answer, `{"id":${/\d+/.exec(path) ?? 1},"name":"Dogs"}`),
    status: 200,
  })),
  'error/not-found: answered 500': unknownId(refusing(500)),
  'error/not-found: the content type is text/html': unknownId((answer) => asPage(answer, '<h1>404</h1>')),
  'error/not-found: the status in the body is not that of the answer': unknownId((answer) => ({
    ...withRefusal(answer, 400),
    status: 404,
  })),
  'error/not-found: the body lacks the field "code"': unknownId(saying({ message: 'no', status: 404 })),
  'error/bad-request: answered 500': on(/not-a-number/, refusing(500)),
  'error/bad-request: answered 403 Forbidden': on(/not-a-number/, refusing(403)),
  'error/bad-request: answered 429 Too Many Requests; the service limits': on(/not-a-number/, refusing(429)),
  'error/bad-request: answered 200 OK': on(/not-a-number/, (answer) => ({
    ...withBody(answer, { id: 1, name: 'Dogs' }),
    status: 200,
  })),
  'op/getCategory: answered 429 Too Many Requests': on('/categories/1', refusing(429)),
  'op/listPets: the filter status=available: answered 500': on(/^\/pets\?.*status=/, refusing(500)),
  'op/listPets: next page: answered 500': on(/^\/pets($|\?after=)/, (answer, request) =>
    request.path === '/pets'
      ? having({ link: '</pets?after=3>; rel="next"' })(answer, request)
      : refusing(500)(answer),
  ),
  'op/listOrders: the filter petId=\\d+ also returns other records': on(
    /^\/store\/orders\?.*petId=/,
    changing(() => [{ id: 1, petId: 99, quantity: 1, complete: true }]),
  ),
  'op/getPet: answered 410 Gone, but listPets shows petId 1': on(/^\/pets\/\d+$/, (answer) =>
    withHeaders(withRefusal(answer, 410), { sunset }),
  ),
  "reach/http: listPets answered 200 OK with text/html: 'Sign in', not a list of pets in JSON; no token was sent":
    toLogin,
  'reach/http: .*a redirect to https://login.example/.*; no token was sent':
    toLocation('https://login.example/'),
};

const faults: Row[] = [
  // A service that is down for the GET of reach is unavailable. For another GET, it has failed a check.
  ...at(['listPets'], outages, 6),
  ...at(['listOrders', 'getCategory'], outages),
  // Three GETs represent all, because the same code judges every answer: the GET of reach, a list, and a record.
  ...at(['listPets', 'listOrders', 'getCategory'], ofAnswer),
  ...at(reads, ofSchema),
  // The ids of one list are in the field `id`, the ids of the other in `petId`.
  ...at(['listCategories', 'listInventory'], ofList),
  ...Object.entries(others).map(([line, change]): Row => ['other', line, change, 7]),
];

// The tests run concurrently, because they spend most of their time waiting.
describe.concurrent('a fault of a read fails the command, and the first line names it', () => {
  test.for(faults)('%s: %s', async ([, line, spoil, exitCode]) => {
    await using service = await startService({ spoil });
    const { code, stdout } = await runCli(['smoke', '--base-url', service.url, '--retries', '0']);
    const [first = ''] = stdout.split('\n');
    expect(first, stdout).toMatch(/^fail /);
    expect(first, stdout).toMatch(new RegExp(line));
    expect(code, stdout).toBe(exitCode);
  });
});
