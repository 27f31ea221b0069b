import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import type { Signal } from '../../src/process/errors.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';
import type { Store } from '../../src/server/store.ts';
import { openConfig } from '../helpers/config-folder.ts';
import type { Description } from '../helpers/own-description.ts';
import type { ReceivedRequest } from '../helpers/recording-server.ts';
import { failed, fakeIo } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { boundTo, smoke } from './run.ts';
import {
  asPage,
  type Change,
  changing,
  on,
  refusing,
  type ServiceOptions,
  startService,
  withBody,
  withHeaders,
} from './service.ts';

/** The number of records of each noun, which smoke must not change. */
const counts = ({ categories, pets, orders, inventory }: Store) =>
  String([categories, pets, orders, inventory].map(({ all }) => all.length));

/** Runs the write checks against a service of its own; `leavesNothing` if it has as many records as before. */
async function write(options: ServiceOptions, only = 'write/*', flags: readonly string[] = []) {
  await using service = await startService(options);
  const before = counts(service.store);
  const run = await smoke(service.url, ['--write', '--only', only, ...flags]);
  const changed = [...service.writes('PUT'), ...service.writes('DELETE')].map(({ path }) => path);
  return { ...run, requests: service.requests, changed, leavesNothing: counts(service.store) === before };
}

const paths = {
  category: '/categories',
  pet: '/pets',
  inventory: '/store/inventory',
  order: '/store/orders',
};

test('the checks of each noun pass, name their records with a new UUIDv7, and leave nothing', async () => {
  const run = await write({});
  expect(run).toMatchObject({ code: 0, leavesNothing: true });
  const reason = 'created, read, updated, read, deleted, gone';
  for (const name of Object.keys(paths))
    expect(run.check(`write/${name}`)).toMatchObject({ result: 'pass', reason });
  const posts = run.requests.filter(({ method, path }) => method === 'POST' && path === '/pets');
  expect(posts).toHaveLength(3);
  for (const { body } of posts)
    expect(JSON.parse(body).name).toMatch(
      /^petstore-smoke-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
});

test('without --write only GET reaches the service', async () => {
  await using service = await startService();
  const run = await smoke(service.url, ['--expect', 'GET /pets', '--wait', '5s']);
  expect(run.code).toBe(0);
  expect(run.checks.some(({ id }) => id.startsWith('write/'))).toBe(false);
  expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});

type WriteFault = readonly [
  /** The reason of the check of that noun, a pattern. */
  reason: string,
  method: string,
  /** Refuses it with a status, so that nothing is done, or gives another answer to what was done. */
  change: number | Change,
  /** Whether the service may be left with a record of ours, which `write/cleanup` then names. */
  leaves?: 'leaves',
];

const empty: Change = (answer) => withBody(withHeaders(answer, { location: undefined }), {});

/** Faults of the writes of one noun; the matrix makes one of each for every noun. */
const writeFaults: readonly WriteFault[] = [
  ['create: answered 403 Forbidden', 'POST', 403],
  [
    '^create: the answer is 403 with text/html: Go away',
    'POST',
    (answer) => ({ ...asPage(answer, 'Go away'), status: 403 }),
    'leaves',
  ],
  ['create: answered 500 Internal Server Error', 'POST', refusing(500), 'leaves'],
  // As if a gateway had sent it twice.
  ['create: answered 409 Conflict', 'POST', refusing(409), 'leaves'],
  ['the connection was closed before an answer came', 'POST', () => 'reset', 'leaves'],
  ['create: .*the body is not an? ', 'POST', empty, 'leaves'],
  ['update: answered 500', 'PUT', 500],
  ['403', 'DELETE', 403],
];

/** The ids of the seed. Test records have larger ids. */
const largestIds = { '/categories': 6, '/pets': 25, '/store/inventory': 25, '/store/orders': 10 };

describe.concurrent('a fault of a write fails the command, and no other record is touched', () => {
  const cases = Object.entries(paths).flatMap(([name, path]) =>
    writeFaults.map((fault) => [name, path, ...fault] as const),
  );
  test.for(cases)('%s at %s: %s', async ([name, path, reason, method, change, leaves]) => {
    const isHit = (request: ReceivedRequest) => request.method === method && request.path.startsWith(path);
    const options: ServiceOptions =
      typeof change === 'number'
        ? { refuse: (request) => (isHit(request) ? change : undefined) }
        : {
            spoil: (answer, request) =>
              isHit(request) && answer.status < 400 ? change(answer, request) : answer,
          };
    const run = await write(options, `write/${name}`, ['--strict', '--retries', '0']);
    expect(run.code).toBe(7);
    expect(run.check(`write/${name}`)).toMatchObject({
      result: 'fail',
      reason: expect.stringMatching(reason),
    });
    const { result, reason: left } = run.check('write/cleanup');
    // An entry is known by the id of its pet, so it is removed.
    const isLeft = leaves !== undefined && name !== 'inventory';
    if (isLeft) expect(result).toBe('fail');
    if (isLeft)
      expect(left).toMatch(
        /^\d+ records? may be left: look at (it|each), and delete (it|them) by hand: perhaps \w+ (\S+ )?.*\(id (unknown|\d+)\): `petstore (pets list --name petstore-smoke-\S+|\w+ list --sort -id) --base-url \S+`(; |$)/,
      );
    expect(new RegExp(`perhaps ${name} .*(id unknown|id \\d+)`).test(left)).toBe(isLeft);
    for (const path of run.changed) {
      const [, place = '', id] = /^(.*)\/(\d+)$/.exec(path) ?? [];
      expect(Number(id), path).toBeGreaterThan(largestIds[place as keyof typeof largestIds]);
    }
  });
});

/** Answers a create with the id of another record, under which it then shows ours. */
function movedRecord(): Change {
  let ours = '';
  return (answer, { method, path }) => {
    if (method === 'GET' && path === '/categories/1' && ours !== '') return withBody(answer, ours);
    if (method !== 'POST' || path !== '/categories') return answer;
    ours = String(answer.body);
    const created = withHeaders(answer, { location: '/categories/1' });
    return changing((json: object) => ({ ...json, id: 1 }))(created);
  };
}

const changeName = changing((json: object) => ({ ...json, name: 'Theirs now' }));

/** Shows another name for each category after its update. */
function renamedRecord(): Change {
  const renamed = new Set<string>();
  return (answer, { method, path }) => {
    if (method === 'PUT') renamed.add(path);
    if (method !== 'GET' || !renamed.has(path)) return answer;
    return changeName(answer);
  };
}

const list = /^\/categories(\?|$)/;
/** Shows the category with the next id of the seed in the list, though it is deleted. */
const stillThere: Change = (answer) => {
  const categories = JSON.parse(String(answer.body)) as { id: number }[];
  const isThere = categories.some(({ id }) => id === 7);
  return isThere ? answer : withBody(answer, [...categories, { id: 7, name: 'Deleted' }]);
};

/**
 * Services with a fault: the check that it concerns, its result and reason, and the record that `write/cleanup` names. If it
 * names no record, no record may be left.
 */
const scenes: [name: string, title: string, spoil: Change, outcome: RegExp, left?: RegExp][] = [
  ['category', 'our record under another id', movedRecord(), /^fail/, /\(id 1\)/],
  [
    'category',
    'a record that got another name',
    renamedRecord(),
    /^fail/,
    /may not be the one that smoke created: `petstore categories get \d+ --base-url \S+`, then `petstore categories delete \d+ --base-url \S+`$/,
  ],
  [
    'category',
    'a list without a new record',
    on(list, (answer) => withBody(answer, [])),
    /^fail create: listCategories does not show/,
  ],
  [
    'category',
    'a list with a deleted record',
    on(list, stillThere),
    /^fail gone: /,
    /still has it: `petstore categories get \d+ --base-url \S+`, then `petstore categories delete /,
  ],
  ['pet', 'a delete without an answer', on(/^\/pets\//, () => 'reset', 'DELETE'), /^fail/],
  [
    'pet',
    'a read that is gone',
    on(/^\/pets\/\d/, refusing(404)),
    /^fail no$/,
    /still has it: `petstore pets get \d+ --base-url \S+`, then `petstore pets delete [^;]*;/,
  ],
  [
    'category',
    'a gateway that answers for the record and its list',
    on(/^\/categories/, (answer) => ({ ...asPage(answer, 'Go away'), status: 404 })),
    /^fail the answer is 404 with text\/html: Go away/,
    /\(id 7\): delete: the answer is 404/,
  ],
  ['order', 'another name of its new pet', on('/pets', changeName, 'POST'), /^warn create: .*name/],
  ['order', 'a beta operation', on(/orders\//, refusing(500), 'PUT'), /^warn .*updateOrder is beta/],
];

/** Loses each category after its update was read back. */
function lostRecord(): Change {
  const updated = new Set<string>();
  const lost = new Set<string>();
  return (answer, { method, path }) => {
    if (method === 'PUT') updated.add(path);
    else if (method === 'GET' && updated.delete(path)) lost.add(path);
    else if (list.test(path) && lost.size > 0) return withBody(answer, []);
    else if (lost.has(path)) return refusing(method === 'GET' ? 404 : 500)(answer);
    return answer;
  };
}

test('a record that is lost after its update was not deleted', async () => {
  const run = await write({ spoil: lostRecord() }, 'write/category');
  const reason = expect.stringMatching(/^delete: category \d+ was not there, so nothing was sent/);
  expect(run.check('write/category')).toMatchObject({ result: 'fail', reason });
});

test.concurrent.for(scenes)('%s: %s', async ([name, , spoil, outcome, left]) => {
  const run = await write({ spoil }, `write/${name}`, ['--retries', '0']);
  const { result, reason } = run.check(`write/${name}`);
  expect(`${result} ${reason}`).toMatch(outcome);
  expect(run.code).toBe(result === 'fail' ? 7 : 0);
  expect(run.changed.filter((path) => path.endsWith('/1'))).toEqual([]);
  const cleanup = run.check('write/cleanup');
  expect(cleanup.result === 'fail').toBe(left !== undefined);
  if (left) expect(cleanup.reason).toMatch(left);
  else expect(run.leavesNothing).toBe(true);
});

/** Runs the write checks of a service that is bound to a changed description. Returns what was created, too. */
async function bound(change: (document: Description) => void) {
  await using service = await startService();
  const env = await boundTo(service.url, change);
  const run = await smoke(service.url, ['--write', '--only', 'write'], { env });
  return { ...run, posts: service.writes('POST') };
}

const requiring =
  (warehouse: JsonObject) =>
  ({ paths, components: { schemas } }: Description) => {
    const { properties } = schemas.Order as Description['components']['schemas'][string];
    const schema = { type: 'object', properties: { ...properties, warehouse }, required: ['warehouse'] };
    const requestBody = { content: { 'application/json': { schema } } };
    Object.assign(paths['/store/orders']?.post ?? {}, { requestBody });
  };

test.each<[path: string, reason: RegExp, change: (document: Description) => void]>([
  ['/store/orders', /^deleteOrder: /, ({ paths }) => delete paths['/store/orders/{orderId}']?.delete],
  [
    '/pets',
    /^names may have only 50 characters/,
    ({ components: { schemas } }) => Object.assign(schemas.NewPet?.properties.name ?? {}, { maxLength: 50 }),
  ],
  ['/store/orders', /^createOrder requires warehouse, for which/, requiring({ type: 'integer' })],
])('nothing is created at %s: %s', async (path, reason, change) => {
  const { code, posts, checks } = await bound(change);
  expect(code).toBe(0);
  expect(checks).toContainEqual(
    expect.objectContaining({ result: 'skip', reason: expect.stringMatching(reason) }),
  );
  expect(posts.map(({ path }) => path)).not.toContain(path);
});

test.each([{ example: 7 }, { default: 7 }, { enum: [7, 8] }])(
  'a required field gets the value that the description states: %j',
  async (stated) => {
    const { posts } = await bound(requiring({ type: 'integer', ...stated }));
    const post = posts.find(({ path }) => path === '/store/orders');
    expect(JSON.parse(post?.body ?? '{}')).toMatchObject({ warehouse: 7 });
  },
);

test('a service that offers no write to check is a warning', async () => {
  const { code, checks } = await bound(({ paths }) => {
    for (const path of Object.keys(paths)) delete paths[path]?.delete;
  });
  expect(code).toBe(0);
  expect(checks).toContainEqual(expect.objectContaining({ id: 'write/cleanup', result: 'warn' }));
});

test('a protected profile refuses --write without its name, and nothing is sent', async () => {
  await using service = await startService();
  const config = openConfig({ profiles: { live: { 'base-url': service.url, protected: true } } });
  const refused = await config.run('smoke --profile live --write');
  expect(refused).toMatchObject(failed(2, '--confirm live'));
  expect(service.requests).toEqual([]);
  expect((await config.run('smoke --profile live --write --confirm live')).code).toBe(0);
});

describe.concurrent('a signal', () => {
  /** Runs the write checks. `react` gets each request, such as `PUT /pets/26`, and may raise a signal and hang. */
  async function interrupted(
    react: (request: string, raise: (signal: Signal) => void) => 'hang' | undefined,
    more: readonly string[] = [],
  ) {
    const io = fakeIo();
    const spoil: Change = (answer, { method, path }) =>
      react(`${method} ${path}`, (signal) => io.raise(signal)) ?? answer;
    await using service = await startService({ spoil });
    const before = counts(service.store);
    const flags = ['--write', '--only', 'write/*', ...more];
    const code = await main(['smoke', '--base-url', service.url, ...flags], io);
    const leavesNothing = counts(service.store) === before;
    const stdout = io.written('stdout').replace(/\s+/g, ' ');
    return { code, stdout, stderr: io.written('stderr'), leavesNothing };
  }

  test('Ctrl-C ends the checks, removes their records, and writes reports that are not green', async () => {
    const folder = temporaryFolder();
    const [json, xml] = [join(folder, 'stopped.json'), join(folder, 'stopped.xml')];
    const run = await interrupted(
      (request, raise) => void (request.startsWith('PUT /pets/') && raise('SIGINT')),
      ['--report', `json=${json}`, '--report', `junit=${xml}`],
    );
    expect(run).toMatchObject({ code: 130, leavesNothing: true });
    expect(run.stderr).toContain('removing the records of this run; press Ctrl-C again to leave them');
    expect(run.stdout).toMatch(/^fail run\/complete: stopped by SIGINT /);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ exitCode: 130 });
    expect(readFileSync(xml, 'utf8')).toMatch(/<testsuites [^>]*failures="1"/);
  });

  test.each(Object.values(paths))('SIGTERM while a POST to %s is under way leaves nothing', async (path) => {
    const run = await interrupted((request, raise) => void (request === `POST ${path}` && raise('SIGTERM')));
    expect(run).toMatchObject({ code: 143, leavesNothing: true });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s while a create is unanswered names what may have been made', async (signal, code) => {
    const run = await interrupted((request, raise) => {
      if (request !== 'POST /pets') return undefined;
      raise(signal);
      return 'hang';
    });
    expect(run.code).toBe(code);
    expect(run.stdout).toContain(`fail run/complete: stopped by ${signal}`);
    expect(run.stdout).toMatch(/perhaps pet petstore-smoke-\S+ \(id unknown\)/);
  });

  test('a second Ctrl-C ends at once and names the records that are left', async () => {
    const run = await interrupted((request, raise) => {
      if (!/^(PUT|DELETE) \/pets\//.test(request)) return undefined;
      raise('SIGINT');
      return request.startsWith('DELETE') ? 'hang' : undefined;
    });
    expect(run.code).toBe(130);
    expect(run.stdout).toMatch(
      /may be left: .*: pet petstore-smoke-\S+ \(id \d+\): delete: petstore was stopped before the answer came: `petstore pets get [^;]*; category/,
    );
  });
});
