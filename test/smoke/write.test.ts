import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { main } from '../../src/main.ts';
import type { Signal } from '../../src/process/errors.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { bindTo, configured, type Description, newFolder, smoke } from './run.ts';
import {
  type Change,
  changing,
  on,
  type ReceivedRequest,
  refusal,
  refusing,
  type ServiceOptions,
  startService,
  withBody,
  withFields,
} from './service.ts';

/** The number of records of each kind, which a run must not change. */
function counts({ categories, pets, orders, inventory }: Store): number[] {
  return [categories, pets, orders, inventory].map(({ all }) => all.length);
}

/** Runs the write checks against a service of its own; `leavesNothing` if it has as many records as before. */
async function write(options: ServiceOptions, only = 'write/*', flags: readonly string[] = []) {
  await using service = await startService(options);
  const before = counts(service.store);
  const run = await smoke(service.url, ['--write', '--only', only, ...flags]);
  const sent = (...methods: string[]) =>
    service.requests.filter(({ method }) => methods.includes(method)).map(({ target }) => target);
  const leavesNothing = String(counts(service.store)) === String(before);
  return { ...run, store: service.store, requests: service.requests, sent, leavesNothing };
}

/** The names of the pets that the service got. */
const petNames = (requests: readonly ReceivedRequest[]) =>
  requests
    .filter(({ method, target }) => method === 'POST' && target === '/pets')
    .map(({ body }) => JSON.parse(body).name as string);

const kinds = {
  category: '/categories',
  pet: '/pets',
  inventory: '/store/inventory',
  order: '/store/orders',
};
const withoutLocation = (answer: HttpResponse) => withFields(answer, { location: undefined });

test('a full life of each kind passes, with names that are a UUIDv7 of now, and leaves nothing', async () => {
  const run = await write({});
  expect(run).toMatchObject({ code: 0, leavesNothing: true });
  const reason = 'created, read, updated, read, deleted, gone';
  for (const kind of Object.keys(kinds))
    expect(run.check(`write/${kind}`)).toMatchObject({ result: 'pass', reason });
  const names = petNames(run.requests);
  expect(names).toHaveLength(2);
  for (const name of names) {
    expect(name).toMatch(
      /^petstore-smoke-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const ms = Number.parseInt(name.slice(15, 28).replace('-', ''), 16);
    expect(Math.abs(Date.now() - ms)).toBeLessThan(60_000);
  }
});

test('without --write only GET reaches the service', async () => {
  await using service = await startService();
  const run = await smoke(service.url, ['--max-latency', '30s', '--expect', 'GET /pets', '--wait', '5s']);
  expect(run.code).toBe(0);
  expect(run.checks.some(({ id }) => id.startsWith('write/'))).toBe(false);
  expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});

type WriteFault = readonly [
  /** The reason of the check of that kind, a pattern. */
  reason: string,
  method: string,
  /** Refuses it with a status, so that nothing is done, or gives another answer to what was done. */
  change: number | Change,
  /** Whether the service may be left with a record of ours, which `write/cleanup` then names. */
  leaves?: 'leaves',
];

/** Faults of the writes of one kind; the matrix makes one of each for every kind. */
const writeFaults: readonly WriteFault[] = [
  ['create: answered 403 Forbidden', 'POST', 403],
  ['create: answered 405 Method Not Allowed', 'POST', 405],
  ['create: answered 500 Internal Server Error', 'POST', refusing(500), 'leaves'],
  ['the connection was closed before the whole answer came', 'POST', () => 'reset', 'leaves'],
  [
    'create: (the body lacks|petId is not what was sent)',
    'POST',
    (answer) => withBody(withoutLocation(answer), {}),
    'leaves',
  ],
  ['create: the answer has no Location', 'POST', withoutLocation],
  [
    'create: the Location names another record',
    'POST',
    (answer) => withFields(answer, { location: '/other/1' }),
  ],
  ['update: answered 500', 'PUT', 500],
  ['403', 'DELETE', 403],
];

/** The ids of the seed; records of a run have larger ones. */
const largestIds = { '/categories': 6, '/pets': 25, '/store/inventory': 25, '/store/orders': 10 };

describe.concurrent('a fault of a write is red, and nothing of others is touched', () => {
  const cases = Object.entries(kinds).flatMap(([kind, path]) =>
    writeFaults.map((fault) => [kind, path, ...fault] as const),
  );
  test.for(cases)('%s at %s: %s', async ([kind, path, reason, method, change, leaves]) => {
    const isHit = (request: ReceivedRequest) => request.method === method && request.target.startsWith(path);
    const options: ServiceOptions =
      typeof change === 'number'
        ? { refuse: (request) => (isHit(request) ? change : undefined) }
        : {
            spoil: (answer, request) =>
              isHit(request) && answer.status < 400 ? change(answer, request) : answer,
          };
    const run = await write(options, `write/${kind}`, ['--strict', '--retries', '0']);
    expect(run.code).toBe(7);
    expect(run.check(`write/${kind}`)).toMatchObject({ result: 'fail' });
    expect(run.check(`write/${kind}`).reason).toMatch(new RegExp(reason));
    const cleanup = run.check('write/cleanup');
    if (leaves) {
      expect(cleanup).toMatchObject({ result: 'fail' });
      expect(cleanup.left?.join(' ')).toMatch(new RegExp(`perhaps ${kind} .*(id unknown|id \\d+)`));
    } else expect(JSON.stringify(cleanup.left ?? [])).not.toContain('perhaps');
    for (const target of run.sent('DELETE', 'PUT')) {
      const [, place = '', id] = /^(.*)\/(\d+)$/.exec(target) ?? [];
      expect(Number(id), target).toBeGreaterThan(largestIds[place as keyof typeof largestIds]);
    }
  });
});

describe.concurrent('what write checks find', () => {
  test.each([403, 405, 422])(
    'writes that are refused by %i make nothing and are told once',
    async (status) => {
      const run = await write({ refuse: ({ method }) => (method === 'GET' ? undefined : status) });
      expect(run.code).toBe(7);
      expect(run.ids('fail')).toEqual(['write/category']);
      expect(run.ids('skip')).toEqual(['write/pet', 'write/inventory', 'write/order']);
      expect(run.check('write/cleanup').reason).toBe('nothing was left to remove');
    },
  );

  test.each([
    ['our name', {}],
    ['another', { name: 'Rex' }],
  ] as const)(
    "a create that answers with somebody else's record and %s leaves that alone, and names ours",
    async (_, name) => {
      const other = changing((json: object) => ({ ...json, id: 1, ...name }));
      const run = await write({
        spoil: on('/pets', (answer) => other(withFields(answer, { location: '/pets/1' })), 'POST'),
      });
      expect(run.code).toBe(7);
      expect(run.check('write/pet').result).toBe('fail');
      expect(run.sent('DELETE', 'PUT')).not.toContain('/pets/1');
      expect(run.sent('DELETE', 'PUT')).not.toContain('/store/inventory/1');
      expect(run.check('write/cleanup').left?.join(' ')).toMatch(/pet petstore-smoke-\S+ \(id 1\)/);
      expect(run.store.pets.get(1n)?.record).toEqual(seedStore().pets.get(1n)?.record);
    },
  );

  test('an id whose read shows our record under another id is not deleted', async () => {
    let ours = '';
    const run = await write(
      {
        spoil(answer, { method, target }) {
          if (method === 'GET' && target === '/categories/1' && ours !== '') return withBody(answer, ours);
          if (method !== 'POST' || target !== '/categories') return answer;
          ours = String(answer.body);
          const moved = withFields(answer, { location: '/categories/1' });
          return changing((json: object) => ({ ...json, id: 1 }))(moved);
        },
      },
      'write/category',
    );
    expect(run.code).toBe(7);
    expect(run.sent('DELETE', 'PUT')).toEqual([]);
    expect(run.check('write/cleanup').left?.join(' ')).toMatch(/category petstore-smoke-\S+ \(id 1\)/);
  });

  test('a record that got another name between its read and its delete is not deleted', async () => {
    await using service = await startService({
      spoil(answer, { method, target }) {
        const id = BigInt(/^\/categories\/(\d+)$/.exec(target)?.[1] ?? 0);
        // Somebody renames it right after our update.
        if (method === 'PUT' && id > 6) service.store.categories.put(id, { id, name: 'Theirs now' });
        return answer;
      },
    });
    const run = await smoke(service.url, ['--write', '--only', 'write/category']);
    expect(run.code).toBe(7);
    expect(service.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(run.check('write/cleanup').left?.join(' ')).toMatch(/not certainly ours/);
  });

  /** A cache that shows each category as it was last, and a delete that answers so. */
  function cached(ofDelete: Change): Change {
    const kept = new Map<string, HttpResponse>();
    return (answer, request) => {
      const { method, target } = request;
      if (method === 'DELETE') return ofDelete(answer, request);
      if (method !== 'GET' || !/^\/categories\/\d/.test(target)) return answer;
      if (answer.status === 200) kept.set(target, withFields(answer, { age: '30', 'x-cache': 'HIT' }));
      return kept.get(target) ?? answer;
    };
  }

  test.each([
    [204, /^its delete was answered as a success, and a read still shows it/],
    [409, /no \(409\), and a read still shows it/],
  ] as const)('a record that a delete answered by %i leaves behind is named', async (status, why) => {
    const ofDelete: Change = (answer) => (status === 204 ? { ...answer, status } : refusal(answer, status));
    const run = await write({ spoil: cached(ofDelete) }, 'write/category', ['--repeat', '2']);
    expect(run.code).toBe(7);
    if (status === 204) expect(run.check('write/category')).toMatchObject({ cache: 'Age: 30, X-Cache: HIT' });
    const cleanup = run.check('write/cleanup');
    expect(cleanup.reason).toMatch(/^failed 2 of 2: /);
    expect(cleanup.left).toHaveLength(2);
    const [text = ''] = cleanup.left ?? [];
    expect(text.replace(/^.*\(id \d+\): (delete a category: DELETE \S+: )?/, '')).toMatch(why);
    expect(text).toMatch(/from a cache \(Age: 30, X-Cache: HIT\)$/);
  });

  test('a list that shows a new record only after a moment is flaky', async () => {
    let looks = 0;
    const run = await write(
      {
        spoil: on(/^\/categories\?.*after=[6-9]/, (answer) => {
          looks += 1;
          return looks === 1 ? withBody(answer, []) : answer;
        }),
      },
      'write/category',
    );
    expect(run).toMatchObject({ code: 0, leavesNothing: true });
    expect(run.check('write/category')).toMatchObject({
      result: 'flaky',
      reason: 'create: listCategories shows the category only after a while',
    });
  });

  test('an update sends back the fields of the record that are not ours', async () => {
    const versions = new Map<string, number>();
    const versioned: Change = (answer, { method, target, body }) => {
      if (!/^\/categories\/\d/.test(target)) return answer;
      const version = versions.get(target) ?? 7;
      if (method === 'PUT') {
        if (JSON.parse(body).version !== version) return refusal(answer, 409);
        versions.set(target, version + 1);
      }
      return changing((json: object) => ({ ...json, version: versions.get(target) ?? 7 }))(answer);
    };
    const run = await write({ spoil: versioned }, 'write/category');
    expect(run.check('write/category')).toMatchObject({ result: 'pass' });
  });

  const seek = /^\/categories\?.*after=/;
  const onInternalHost: Change = (answer) =>
    withFields(answer, { location: `http://pod-7.internal:8080${answer.fields.location}` });
  const stillListed: Change = (answer, { target }) =>
    String(answer.body) === '[]'
      ? withBody(answer, [{ id: Number(/after=(\d+)/.exec(target)?.[1]) + 1, name: 'Deleted' }])
      : answer;

  test.each([
    [/^create: listCategories does not show category \d+$/, on(seek, (answer) => withBody(answer, []))],
    [/^create: the Location leaves the service$/, on('/categories', onInternalHost, 'POST')],
    [/^gone: listCategories still has category \d+$/, on(seek, stillListed)],
  ] as [RegExp, Change][])(
    'a fault of a list or a Location is red, and nothing is left: %s',
    async (reason, spoil) => {
      const run = await write({ spoil }, 'write/category');
      expect(run).toMatchObject({ code: 7, leavesNothing: true });
      expect(run.check('write/category').reason).toMatch(reason);
    },
  );

  test.each([
    ['reset', () => 'reset'],
    ['500', refusing(500)],
  ] as [string, Change][])(
    'a record that is gone although its delete ended with %s is not called left',
    async (_, change) => {
      const run = await write({ spoil: on(/^\/pets\//, change, 'DELETE') }, 'write/*', ['--retries', '0']);
      expect(run.check('write/cleanup')).toMatchObject({ result: 'pass' });
      expect(run.leavesNothing).toBe(true);
    },
  );

  test('a read that is gone does not keep a record from being found in its list and removed', async () => {
    const run = await write({ spoil: on(/^\/pets\/\d/, refusing(404)) });
    expect(run.check('write/pet').reason).toBe('read back: answered 404 Not Found');
    expect(run.check('write/cleanup').result).toBe('pass');
    expect(run.leavesNothing).toBe(true);
  });

  test('a failure of a beta operation is a warning, with --strict a failure', async () => {
    const options = { spoil: on(/^\/store\/orders\//, refusing(500), 'PUT') };
    const soft = await write(options, 'write/order');
    expect(soft).toMatchObject({ code: 0 });
    expect(soft.check('write/order')).toMatchObject({ result: 'warn' });
    expect(soft.check('write/order').reason).toContain('updateOrder is beta');
    expect((await write(options, 'write/order', ['--strict'])).code).toBe(7);
  });
});

describe('what a description and a profile allow to write', () => {
  /** Runs the write checks against a service that is bound to a changed description. */
  async function bound(change: (document: Description) => void, options: ServiceOptions = {}) {
    await using service = await startService(options);
    const env = await bindTo(service.url, change);
    return {
      ...(await smoke(service.url, ['--write', '--only', 'write'], { env })),
      requests: service.requests,
    };
  }

  const withNames =
    (maxLength: number) =>
    ({ components: { schemas } }: Description) => {
      for (const schema of [schemas.NewPet, schemas.NewCategory])
        Object.assign(schema?.properties.name ?? {}, { maxLength });
    };

  test('a short name keeps its random end', async () => {
    const { code, requests } = await bound(withNames(24));
    expect(code).toBe(0);
    const names = petNames(requests);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[0-9a-f-]{11}-[0-9a-f]{12}$/);
  });

  test('nothing is written if names are too short to be certainly ours: no check ran', async () => {
    const { code, requests, check } = await bound(withNames(19));
    expect(code).toBe(2);
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(check('write/pet')).toMatchObject({
      result: 'skip',
      reason: 'names may have only 19 characters, too few to be certainly ours',
    });
  });

  test('an id that the schema of a create requires is left to the service', async () => {
    const { check } = await bound(({ components: { schemas } }) => {
      const { NewPet } = schemas;
      if (!NewPet) return;
      NewPet.properties.id = { type: 'integer' };
      (NewPet.required as string[]).push('id');
    });
    for (const id of ['write/category', 'write/pet', 'write/order', 'write/inventory'])
      expect(check(id).result).toBe('pass');
  });

  test('a Location is asked for if the description has it', async () => {
    const options: ServiceOptions = {
      spoil: (answer, { method }) => (method === 'POST' ? withoutLocation(answer) : answer),
    };
    const withIt = await bound(() => {}, options);
    expect(withIt.check('write/category').reason).toBe('create: the answer has no Location');
    const without = await bound(({ paths }) => {
      for (const { post } of Object.values(paths))
        if (post) Object.assign(post.responses['201'] ?? {}, { headers: {} });
    }, options);
    expect(without.code).toBe(0);
  });

  test('a protected profile refuses --write without its name, and nothing is sent', async () => {
    await using service = await startService();
    const env = configured({ profiles: { live: { 'base-url': service.url, protected: true } } });
    const live = ['smoke', '--profile', 'live', '--write'];
    const refused = await runCli(live, { env });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--confirm live');
    expect(service.requests).toEqual([]);
    expect((await runCli([...live, '--confirm', 'live'], { env })).code).toBe(0);
  });
});

describe.concurrent('a signal', () => {
  type Raise = (signal: Signal) => void;

  /** Runs the write checks of a service whose change may raise signals. */
  async function interrupted(change: (raise: Raise) => Change, more: readonly string[] = []) {
    const io = fakeIo();
    const spoil = change((signal) => io.raise(signal));
    await using service = await startService({ spoil });
    const before = counts(service.store);
    const flags = ['--write', '--only', 'write/*', ...more];
    const code = await main(['smoke', '--base-url', service.url, ...flags], io);
    return {
      code,
      stdout: io.written('stdout'),
      stderr: io.written('stderr'),
      leavesNothing: String(counts(service.store)) === String(before),
    };
  }

  const raising =
    (raise: Raise, signal: Signal, then: Change): Change =>
    (answer, request) => {
      raise(signal);
      return then(answer, request);
    };
  const same: Change = (answer) => answer;
  const hang: Change = () => 'hang';

  test('Ctrl-C ends the checks, removes their records, writes reports that are not green, and exits 130', async () => {
    const folder = newFolder();
    const [json, xml] = [join(folder, 'stopped.json'), join(folder, 'stopped.xml')];
    const run = await interrupted(
      (raise) => on(/^\/pets\//, raising(raise, 'SIGINT', same), 'PUT'),
      ['--report', `json=${json}`, '--report', `junit=${xml}`],
    );
    expect(run).toMatchObject({ code: 130, leavesNothing: true });
    expect(run.stderr).toContain('stopped: removing the records of this run; Ctrl-C again leaves them');
    expect(run.stdout).toMatch(/^fail {3}run\/complete: stopped by SIGINT before \d checks$/m);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
    expect(readFileSync(xml, 'utf8')).toMatch(/<testsuites [^>]*failures="1"/);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s leaves cleaning up the time that it needs',
    async (signal) => {
      const slowly: Change = async (answer) => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        return answer;
      };
      const run = await interrupted((raise) => (answer, request) => {
        if (request.method === 'DELETE') return slowly(answer, request);
        return on(/^\/pets\//, raising(raise, signal, same), 'PUT')(answer, request);
      });
      expect(run.code).toBe({ SIGTERM: 143, SIGHUP: 129 }[signal]);
      expect(run.leavesNothing).toBe(true);
      expect(run.stdout).toMatch(/^pass +write\/cleanup .* 2 removed$/m);
    },
  );

  test('a second Ctrl-C ends at once and names the records that are left', async () => {
    const run = await interrupted((raise) => (answer, request) => {
      const first = on(/^\/pets\//, raising(raise, 'SIGINT', same), 'PUT');
      const second = on(/^\/pets\//, raising(raise, 'SIGINT', hang), 'DELETE');
      return request.method === 'DELETE' ? second(answer, request) : first(answer, request);
    });
    expect(run.code).toBe(130);
    expect(run.stdout.replace(/\s+/g, ' ')).toMatch(/left .*pet petstore-smoke-\S+ \(id \d+\)/);
  });

  test('SIGTERM to the built program cleans up and exits 143', async () => {
    let child: ReturnType<typeof startCli> | undefined;
    await using service = await startService({
      spoil: on(
        /^\/pets\//,
        (answer) => {
          child?.kill('SIGTERM');
          return answer;
        },
        'PUT',
      ),
    });
    const before = counts(service.store);
    child = startCli(['smoke', '--base-url', service.url, '--write', '--only', 'write/*']);
    const { code } = await outcomeOf(child);
    expect(code).toBe(143);
    expect(counts(service.store)).toEqual(before);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)(
    '%s while a create is unanswered names the record that may have been made',
    async (signal, code) => {
      const run = await interrupted((raise) => on('/pets', raising(raise, signal, hang), 'POST'));
      expect(run.code).toBe(code);
      expect(run.stdout).toMatch(new RegExp(`^fail {3}run/complete: stopped by ${signal}`, 'm'));
      expect(run.stdout.replace(/\s+/g, ' ')).toMatch(/perhaps pet petstore-smoke-\S+ \(id unknown\)/);
    },
  );

  test('a create that is answered soon after the signal is removed by its id', async () => {
    const late: Change = async (answer) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      return answer;
    };
    const run = await interrupted((raise) => on('/categories', raising(raise, 'SIGTERM', late), 'POST'));
    expect(run).toMatchObject({ code: 143, leavesNothing: true });
  });
});
