import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { main } from '../../src/main.ts';
import type { Store } from '../../src/server/store.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { bindTo } from './bind.ts';
import { smoke } from './run.ts';
import { refusal, type Seen, type Spoiled, startService, withBody, withFields, withJson } from './service.ts';

/** The number of records of each kind, which a run must not change. */
function counts(store: Store): number[] {
  return [store.categories, store.pets, store.orders, store.inventory].map(({ size }) => size);
}

const light = ['--write', '--only', 'write/*'];
const kinds = [
  { kind: 'category', path: '/categories', field: 'description', need: [] },
  { kind: 'pet', path: '/pets', field: 'status', need: ['category'] },
  { kind: 'inventory', path: '/store/inventory', field: 'quantity', need: ['pet'] },
  { kind: 'order', path: '/store/orders', field: 'quantity', need: ['pet'] },
] as const;

test('a full life of each kind passes, with names that are a UUIDv7 of now, and leaves nothing', async () => {
  await using service = await startService();
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run).toMatchObject({ code: 0, totals: { fail: 0, skip: 0 } });
  const reason = 'created, read, updated, read, deleted, gone';
  for (const { kind } of kinds) expect(run.check(`write/${kind}`)).toMatchObject({ result: 'pass', reason });
  const names = service.seen
    .filter(({ method, target }) => method === 'POST' && target === '/pets')
    .map(({ body }) => JSON.parse(body).name as string);
  expect(names).toHaveLength(2);
  for (const name of names) {
    expect(name).toMatch(
      /^petstore-smoke-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const ms = Number.parseInt(name.slice(15, 28).replace('-', ''), 16);
    expect(Math.abs(Date.now() - ms)).toBeLessThan(60_000);
  }
  expect(counts(service.store)).toEqual(before);
});

test('without --write only GET reaches the service', async () => {
  await using service = await startService();
  const run = await smoke(service.url, ['--max-latency', '30s', '--expect', 'GET /pets', '--wait', '5s']);
  expect(run.code).toBe(0);
  expect(run.checks.some(({ id }) => id.startsWith('write/'))).toBe(false);
  expect(new Set(service.seen.map(({ method }) => method))).toEqual(new Set(['GET']));
});

interface WriteFault {
  readonly method: string;
  /** Refuses it with a status, or gives another answer to what was done. */
  readonly change: number | ((answer: HttpResponse) => Spoiled);
  /** The reason of the check of that kind. */
  readonly reason: RegExp;
  /** Whether the service may be left with a record of ours, which `write/cleanup` then names. */
  readonly leaves?: boolean;
}

/** Faults of the writes of one kind; the matrix makes one of each for every kind. */
const writeFaults: Readonly<Record<string, WriteFault>> = {
  'a create that is refused by 403': {
    method: 'POST',
    change: 403,
    reason: /^create: answered 403 Forbidden/,
  },
  'a create that is refused by 405': {
    method: 'POST',
    change: 405,
    reason: /^create: answered 405 Method Not Allowed/,
  },
  'a create that answers 500': {
    method: 'POST',
    change: (answer) => refusal(answer, 500),
    reason: /^create: answered 500 Internal Server Error/,
    leaves: true,
  },
  'a create whose answer is lost': {
    method: 'POST',
    change: () => 'reset',
    reason: /the connection was closed before the whole answer came/,
    leaves: true,
  },
  'a create without an id': {
    method: 'POST',
    change: (answer) => withBody(withFields(answer, { location: undefined }), {}),
    reason: /^create: /,
    leaves: true,
  },
  'a create without a Location': {
    method: 'POST',
    change: (answer) => withFields(answer, { location: undefined }),
    reason: /^create: the answer has no Location/,
  },
  'a Location of another record': {
    method: 'POST',
    change: (answer) => withFields(answer, { location: '/other/1' }),
    reason: /^create: the Location names another record/,
  },
  'an update that answers 500': {
    method: 'PUT',
    change: 500,
    reason: /^update: answered 500/,
  },
  'a delete that is refused': {
    method: 'DELETE',
    change: 403,
    reason: /403/,
  },
};

describe('a fault of a write is red, and nothing of others is touched', () => {
  const cases = kinds.flatMap((each) =>
    Object.entries(writeFaults).map(([title, fault]) => ({ title: `${each.kind}: ${title}`, each, fault })),
  );
  test.each(cases)('$title', async ({ each: { kind, path }, fault }) => {
    const { change, method } = fault;
    const isHit = (seen: Seen) => seen.method === method && seen.target.startsWith(path);
    await using service = await startService({
      refuse: (seen) => (typeof change === 'number' && isHit(seen) ? change : undefined),
      spoil: (seen, answer) =>
        typeof change !== 'number' && isHit(seen) && answer.status < 400 ? change(answer) : answer,
    });
    const { categories, pets, orders } = service.store;
    const places = [
      [categories, '/categories'],
      [pets, '/pets'],
      [pets, '/store/inventory'],
      [orders, '/store/orders'],
    ] as const;
    const others = new Set(
      places.flatMap(([{ size }, place]) => [...Array(size).keys()].map((at) => `${place}/${at + 1}`)),
    );
    const run = await smoke(service.url, [
      '--write',
      '--strict',
      '--only',
      `write/${kind}`,
      '--retries',
      '0',
    ]);
    expect(run.code).toBe(7);
    expect(run.check(`write/${kind}`)).toMatchObject({ result: 'fail' });
    expect(run.check(`write/${kind}`).reason).toMatch(fault.reason);
    const cleanup = run.check('write/cleanup');
    if (fault.leaves) {
      expect(cleanup).toMatchObject({ result: 'fail' });
      expect(cleanup.left?.join(' ')).toMatch(new RegExp(`perhaps ${kind} .*(id unknown|id \\d+)`));
    } else expect(JSON.stringify(cleanup.left ?? [])).not.toContain('perhaps');
    for (const { target, method: each } of service.seen)
      if (each === 'DELETE' || each === 'PUT') expect(others.has(target), target).toBe(false);
  });
});

test.each([403, 405])(
  'a token that may not write (%i) makes nothing, and cleanup says so',
  async (status) => {
    await using service = await startService({
      refuse: ({ method }) => (method === 'GET' ? undefined : status),
    });
    const run = await smoke(service.url, light);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['write/category']);
    expect(run.check('write/cleanup')).toMatchObject({
      result: 'pass',
      reason: 'nothing was left to remove',
    });
  },
);

/** Answers a create of a pet with the id of another one. */
const naming = (isNamed: boolean) => (seen: Seen, answer: HttpResponse) =>
  seen.method === 'POST' && seen.target === '/pets'
    ? withJson(withFields(answer, { location: '/pets/1' }), (json: object) => ({
        ...json,
        id: 1,
        ...(isNamed ? {} : { name: 'Rex' }),
      }))
    : answer;

test.each([true, false])(
  "a create that answers with somebody else's record leaves that alone, and names ours (our name: %s)",
  async (isNamed) => {
    await using service = await startService({ spoil: naming(isNamed) });
    const pet = service.store.pets.get(1n)?.record;
    const run = await smoke(service.url, light);
    expect(run.code).toBe(7);
    expect(run.check('write/pet').result).toBe('fail');
    const written = service.seen.filter(({ method }) => method === 'DELETE' || method === 'PUT');
    expect(written.map(({ target }) => target)).not.toContain('/pets/1');
    expect(written.map(({ target }) => target)).not.toContain('/store/inventory/1');
    expect(run.check('write/cleanup').left?.join(' ')).toMatch(/pet petstore-smoke-\S+ \(id 1\)/);
    expect(service.store.pets.get(1n)?.record).toEqual(pet);
  },
);

test('a record that got another name between its read and its delete is not deleted', async () => {
  await using service = await startService({
    spoil({ method, target }, answer) {
      const id = /^\/categories\/(\d+)$/.exec(target)?.[1];
      // Somebody renames it right after our update.
      if (method === 'PUT' && id && Number(id) > 6)
        service.store.categories.put(BigInt(id), { id: BigInt(id), name: 'Theirs now' });
      return answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.code).toBe(7);
  expect(service.seen.filter(({ method }) => method === 'DELETE')).toEqual([]);
  expect(run.check('write/cleanup').left?.join(' ')).toMatch(/not certainly ours/);
});

const kept = new Map<string, HttpResponse>();

test.each([
  [204, /^its delete was answered as a success, and a read still shows it/],
  [409, /no \(409 refused\), and a read still shows it/],
])('a record that a delete answered by %i leaves behind is named', async (status, why) => {
  kept.clear();
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method === 'DELETE') return status === 204 ? { ...answer, status } : refusal(answer, status);
      if (method !== 'GET' || !/^\/categories\/\d/.test(target)) return answer;
      if (answer.status === 200) kept.set(target, withFields(answer, { age: '30', 'x-cache': 'HIT' }));
      return kept.get(target) ?? answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category', '--repeat', '2']);
  expect(run.code).toBe(7);
  const cleanup = run.check('write/cleanup');
  expect(cleanup.reason).toMatch(/^failed 2 of 2: /);
  expect(cleanup.left).toHaveLength(2);
  const [text = ''] = cleanup.left ?? [];
  expect(text.replace(/^.*\(id \d+\): (delete a category: DELETE \S+: )?/, '')).toMatch(why);
  expect(text).toMatch(/from a cache \(Age: 30, X-Cache: HIT\)$/);
});

test('a cache that shows a deleted record is named', async () => {
  kept.clear();
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method !== 'GET' || !/^\/categories\/\d/.test(target)) return answer;
      if (answer.status === 200) kept.set(target, withFields(answer, { age: '30', 'x-cache': 'HIT' }));
      return kept.get(target) ?? answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.check('write/category')).toMatchObject({
    result: 'fail',
    cache: 'Age: 30, X-Cache: HIT',
  });
});

test('a delete that leaves the record in its list is found', async () => {
  let deleted = '';
  await using service = await startService({
    spoil({ method, target, body }, answer) {
      if (method === 'POST' && target === '/categories') deleted = JSON.parse(body).name;
      const isSeek = method === 'GET' && /^\/categories\?.*after=/.test(target);
      return isSeek && deleted !== '' && String(answer.body) === '[]'
        ? withBody(answer, [{ id: Number(/after=(\d+)/.exec(target)?.[1]) + 1, name: deleted }])
        : answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.check('write/category').reason).toMatch(/^gone: listCategories still has category \d+$/);
});

test.each(['reset', 500] as const)(
  'a record that is gone although its delete ended with %s is not called left',
  async (ending) => {
    await using service = await startService({
      spoil: ({ method, target }, answer) =>
        method !== 'DELETE' || !target.startsWith('/pets/')
          ? answer
          : ending === 'reset'
            ? ending
            : refusal(answer, ending),
    });
    const before = counts(service.store);
    const run = await smoke(service.url, [...light, '--retries', '0']);
    expect(run.check('write/cleanup')).toMatchObject({ result: 'pass' });
    expect(counts(service.store)).toEqual(before);
  },
);

test('a read that is gone does not keep a record from being found in its list and removed', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'GET' && /^\/pets\/\d/.test(target) ? refusal(answer, 404) : answer,
  });
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run.check('write/pet').reason).toBe('read back: answered 404 Not Found');
  expect(run.check('write/cleanup').result).toBe('pass');
  expect(counts(service.store)).toEqual(before);
});

test('a create that fails is reported once, and checks that need its record are skipped', async () => {
  await using service = await startService({
    refuse: ({ method, target }) => (method === 'POST' && target === '/categories' ? 422 : undefined),
  });
  const run = await smoke(service.url, light);
  expect(run.ids('fail')).toEqual(['write/category']);
  expect(run.check('write/pet')).toMatchObject({ result: 'skip' });
});

test('a failure of a beta operation is a warning, with --strict a failure', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'PUT' && target.startsWith('/store/orders/') ? refusal(answer, 500) : answer,
  });
  const soft = await smoke(service.url, ['--write', '--only', 'write/order']);
  expect(soft).toMatchObject({ code: 0 });
  expect(soft.check('write/order')).toMatchObject({ result: 'warn' });
  expect(soft.check('write/order').reason).toContain('updateOrder is beta');
  expect((await smoke(service.url, ['--write', '--only', 'write/order', '--strict'])).code).toBe(7);
});

/** Runs the write checks against a description that limits names; gives the pet names that the service got. */
async function withShortNames(maxLength: number) {
  await using service = await startService();
  const env = await bindTo(service.url, ({ components: { schemas } }) => {
    for (const schema of [schemas.NewPet, schemas.NewCategory])
      Object.assign(schema?.properties.name ?? {}, { maxLength });
  });
  const run = await smoke(service.url, ['--write', '--only', 'write'], { env });
  const posts = service.seen.filter(({ method, target }) => method === 'POST' && target === '/pets');
  return { run, names: posts.map(({ body }) => JSON.parse(body).name as string), seen: service.seen };
}

test('a short name keeps its random end', async () => {
  const { run, names } = await withShortNames(24);
  expect(run.code).toBe(0);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[0-9a-f-]{11}-[0-9a-f]{12}$/);
});

test('nothing is written if names are too short to be certainly ours: no check ran', async () => {
  const { run, seen } = await withShortNames(19);
  expect(run.code).toBe(2);
  expect(new Set(seen.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(run.check('write/pet')).toMatchObject({
    result: 'skip',
    reason: 'names may have only 19 characters, too few to be certainly ours',
  });
});

test('nothing is created if the caller must choose the id, which might overwrite a record', async () => {
  await using service = await startService();
  const env = await bindTo(service.url, ({ components: { schemas } }) => {
    const { NewPet } = schemas;
    if (!NewPet) return;
    NewPet.properties.id = { type: 'integer' };
    (NewPet.required as string[]).push('id');
  });
  const { check } = await smoke(service.url, ['--write', '--only', 'write/*'], { env });
  expect(check('write/category').result).toBe('pass');
  for (const id of ['write/pet', 'write/order', 'write/inventory'])
    expect(check(id).reason).toContain('createPet: the caller chooses the id');
});

test('a protected profile refuses --write without its name, and nothing is sent', async () => {
  await using service = await startService();
  const folder = mkdtempSync(join(tmpdir(), 'petstore-smoke-'));
  const config = { profiles: { live: { 'base-url': service.url, protected: true } } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = { PETSTORE_CONFIG_DIR: folder };
  const refused = await runCli(['smoke', '--profile', 'live', '--write'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('--confirm live');
  expect(service.seen).toEqual([]);
  expect((await runCli(['smoke', '--profile', 'live', ...light, '--confirm', 'live'], { env })).code).toBe(0);
});

const isUpdate =
  (path: string) =>
  ({ method, target }: Seen) =>
    method === 'PUT' && target.startsWith(path);

test('Ctrl-C ends the checks, removes their records, writes reports that are not green, and exits 130', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-smoke-'));
  const [json, xml] = [join(folder, 'stopped.json'), join(folder, 'stopped.xml')];
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) io?.raise('SIGINT');
      return answer;
    },
  });
  const before = counts(service.store);
  io = fakeIo();
  const reports = ['--report', `json=${json}`, '--report', `junit=${xml}`];
  expect(await main(['smoke', '--base-url', service.url, ...light, ...reports], io)).toBe(130);
  expect(io.written('stderr')).toContain(
    'stopped: removing the records of this run; Ctrl-C again leaves them',
  );
  expect(io.written('stdout')).toMatch(/^fail {3}run\/complete: stopped by SIGINT before \d checks$/m);
  expect(counts(service.store)).toEqual(before);
  expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
  expect(readFileSync(xml, 'utf8')).toMatch(/<testsuites [^>]*failures="1"/);
});

test('a second Ctrl-C ends at once and names the records that are left', async () => {
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) io?.raise('SIGINT');
      if (seen.method !== 'DELETE' || !seen.target.startsWith('/pets/')) return answer;
      io?.raise('SIGINT');
      return 'hang';
    },
  });
  io = fakeIo();
  const startedMs = performance.now();
  expect(await main(['smoke', '--base-url', service.url, ...light], io)).toBe(130);
  expect(performance.now() - startedMs).toBeLessThan(6000);
  expect(io.written('stdout').replace(/\s+/g, ' ')).toMatch(/left .*pet petstore-smoke-\S+ \(id \d+\)/);
});

test('SIGTERM to the built program cleans up within two seconds and exits 143', async () => {
  let child: ReturnType<typeof startCli> | undefined;
  await using service = await startService({
    spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) child?.kill('SIGTERM');
      return answer;
    },
  });
  const before = counts(service.store);
  child = startCli(['smoke', '--base-url', service.url, ...light]);
  const { code } = await outcomeOf(child);
  expect(code).toBe(143);
  expect(counts(service.store)).toEqual(before);
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s while a create is unanswered names the record that may have been made',
  async (signal) => {
    let io: ReturnType<typeof fakeIo> | undefined;
    await using service = await startService({
      spoil({ method, target }, answer) {
        if (method !== 'POST' || target !== '/pets') return answer;
        io?.raise(signal);
        return 'hang';
      },
    });
    io = fakeIo();
    const startedMs = performance.now();
    const code = await main(['smoke', '--base-url', service.url, ...light], io);
    expect(code).toBe(signal === 'SIGTERM' ? 143 : 130);
    expect(performance.now() - startedMs).toBeLessThan(signal === 'SIGTERM' ? 2500 : 8000);
    expect(io.written('stdout').replace(/\s+/g, ' ')).toMatch(
      /perhaps pet petstore-smoke-\S+ \(id unknown\)/,
    );
  },
  15_000,
);

test('a create that is answered soon after the signal is removed by its id', async () => {
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    async spoil({ method, target }, answer) {
      if (method !== 'POST' || target !== '/categories') return answer;
      io?.raise('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 150));
      return answer;
    },
  });
  const before = counts(service.store);
  io = fakeIo();
  expect(await main(['smoke', '--base-url', service.url, ...light], io)).toBe(143);
  expect(counts(service.store)).toEqual(before);
});

test('a Location is asked for if the description has it', async () => {
  await using service = await startService({
    spoil: ({ method }, answer) => (method === 'POST' ? withFields(answer, { location: undefined }) : answer),
  });
  const flags = ['--write', '--only', 'write/category'];
  const withIt = await smoke(service.url, flags, { env: await bindTo(service.url, () => {}) });
  expect(withIt.check('write/category').reason).toBe('create: the answer has no Location');
  const env = await bindTo(service.url, ({ paths }) => {
    for (const { post } of Object.values(paths))
      if (post) Object.assign(post.responses['201'] ?? {}, { headers: {} });
  });
  expect((await smoke(service.url, flags, { env })).code).toBe(0);
});
