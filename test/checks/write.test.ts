import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { main } from '../../src/main.ts';
import type { Store } from '../../src/server/store.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { smoke } from './run.ts';
import { type Seen, startService, withBody, withFields } from './service.ts';

/** The number of records of each kind, which a run must not change. */
function counts(store: Store): number[] {
  return [store.categories, store.pets, store.orders, store.inventory].map(({ size }) => size);
}

const light = ['--write', '--only', 'write/*'];

test('a full life of each kind of record passes and leaves nothing behind', async () => {
  await using service = await startService();
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run).toMatchObject({ code: 0, totals: { pass: 5, checks: 5 } });
  expect(run.checks.map(({ id }) => id)).toEqual([
    'write/category',
    'write/pet',
    'write/inventory',
    'write/order',
    'write/cleanup',
  ]);
  expect(run.check('write/pet').reason).toBe('created, read, updated, read, deleted, gone');
  expect(counts(service.store)).toEqual(before);
});

test('without --write there are no checks that write, and nothing is written', async () => {
  await using service = await startService();
  const run = await smoke(service.url);
  expect(run.checks.some(({ id }) => id.startsWith('write/'))).toBe(false);
  expect(service.seen.every(({ method }) => method === 'GET')).toBe(true);
});

test('names are petstore-smoke- and a UUIDv7 of now', async () => {
  const names: string[] = [];
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method === 'POST' && target === '/pets') names.push(JSON.parse(String(answer.body)).name);
      return answer;
    },
  });
  await smoke(service.url, light);
  expect(names).toHaveLength(2);
  for (const name of names) {
    expect(name).toMatch(
      /^petstore-smoke-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const ms = Number.parseInt(name.slice(15, 28).replace('-', ''), 16);
    expect(Math.abs(Date.now() - ms)).toBeLessThan(60_000);
  }
});

/** Answers a create with the id of another record. */
const naming = (id: number, isNamed: boolean) => (seen: Seen, answer: HttpResponse) => {
  if (seen.method !== 'POST' || seen.target !== '/pets') return answer;
  const body = JSON.parse(String(answer.body));
  return withBody(withFields(answer, { location: `/pets/${id}` }), {
    ...body,
    id,
    ...(isNamed ? {} : { name: 'Rex' }),
  });
};

test.each([true, false])(
  "a create answered with another's record leaves that record alone (with our name: %s)",
  async (isNamed) => {
    await using service = await startService({ spoil: naming(1, isNamed) });
    const before = counts(service.store);
    const pet = service.store.pets.get(1n);
    const run = await smoke(service.url, light);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['write/pet']);
    const writes = service.seen.filter(({ method }) => method === 'DELETE' || method === 'PUT');
    expect(writes.map(({ target }) => target)).not.toContain('/pets/1');
    expect(writes.map(({ target }) => target)).not.toContain('/store/inventory/1');
    expect(run.check('write/cleanup').reason).toMatch(/left alone, because not certainly ours: pets 1$/);
    expect(service.store.pets.get(1n)).toEqual(pet);
    // The record that the service created is found by its name.
    expect(counts(service.store)).toEqual(before);
  },
);

test('a record whose GET is gone without an Error body is found in its list and removed', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'GET' && /^\/pets\/\d/.test(target)
        ? { ...withBody(withFields(answer, { 'content-type': 'text/plain' }), 'no route'), status: 404 }
        : answer,
  });
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run.ids('fail')).toEqual(['write/pet']);
  expect(run.check('write/pet').reason).toBe('read back: answered 404 Not Found');
  expect(run.check('write/cleanup').result).toBe('pass');
  expect(counts(service.store)).toEqual(before);
});

test.each([
  [204, '204 No Content, and it is still there'],
  [404, '404 Not Found, and it is still there'],
  [409, '409 Conflict'],
])(
  'a record that is still there after its delete was answered with %i is left behind',
  async (status, text) => {
    const kept = new Map<string, HttpResponse>();
    await using service = await startService({
      spoil({ method, target }, answer) {
        if (method === 'DELETE') return { ...answer, status };
        if (method !== 'GET' || !/^\/categories\/\d/.test(target)) return answer;
        if (answer.status === 200) kept.set(target, answer);
        return kept.get(target) ?? answer;
      },
    });
    const run = await smoke(service.url, ['--write', '--only', 'write/category']);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['write/category', 'write/cleanup']);
    expect(run.check('write/cleanup')).toMatchObject({
      reason: 'a record is left behind',
      got: expect.stringMatching(`^categories \\d+: ${text}$`),
    });
  },
);

test.each(['reset', 500] as const)(
  'a record that is gone although its delete ended with %s is not called left behind',
  async (ending) => {
    await using service = await startService({
      spoil: ({ method, target }, answer) =>
        method !== 'DELETE' || !target.startsWith('/pets/')
          ? answer
          : ending === 'reset'
            ? ending
            : { ...answer, status: ending },
    });
    const before = counts(service.store);
    const run = await smoke(service.url, [...light, '--retries', '0']);
    expect(run.check('write/cleanup')).toMatchObject({ result: 'pass' });
    expect(counts(service.store)).toEqual(before);
  },
);

const isRead =
  (path: string) =>
  ({ method, target }: Seen) =>
    method === 'GET' && target.startsWith(path) && /\d$/.test(target);

test.each([
  ['finds nothing', { code: 'not_found', message: 'no', status: 404 }, 404],
  ['answers without an id', {}, 200],
  ['answers about another record', { id: 1, name: 'Dogs' }, 200],
])('a new record whose GET %s is found in its list and removed', async (_, body, status) => {
  await using service = await startService({
    spoil: (seen, answer) => (isRead('/categories/')(seen) ? { ...withBody(answer, body), status } : answer),
  });
  const before = counts(service.store);
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.ids('fail')).toEqual(['write/category']);
  expect(run.check('write/cleanup').result).toBe('pass');
  expect(counts(service.store)).toEqual(before);
});

test('a record that neither its GET nor its list shows to be ours is left behind', async () => {
  await using service = await startService({
    spoil: (seen, answer) =>
      isRead('/categories/')(seen)
        ? withBody(answer, {})
        : seen.method === 'GET' && seen.target.startsWith('/categories')
          ? { ...answer, status: 500 }
          : answer,
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.check('write/category').reason).toMatch(
    /^create: category \d+ cannot be read back, so it is not/,
  );
  expect(run.check('write/cleanup')).toMatchObject({ result: 'fail' });
  expect(run.check('write/cleanup').got).toMatch(/categories \d+: /);
});

test('a record is removed although the service refuses its first delete with 500', async () => {
  const refused = new Set<string>();
  const kept = new Map<string, HttpResponse>();
  await using service = await startService({
    spoil({ method, target }, answer) {
      const isItem = /^\/categories\/\d/.test(target);
      if (method === 'GET' && isItem && answer.status === 200) kept.set(target, answer);
      if (method === 'DELETE' && !refused.has(target)) {
        refused.add(target);
        return { ...answer, status: 500 };
      }
      if (method === 'DELETE') kept.delete(target);
      return (method === 'GET' && kept.get(target)) || answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.ids('fail')).toEqual(['write/category']);
  expect(run.check('write/cleanup')).toMatchObject({ result: 'pass', reason: '1 removed' });
});

test('a failed check names the records that it made, even without an id', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) => (method === 'POST' && target === '/categories' ? 'reset' : answer),
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category', '--retries', '0']);
  expect(run.check('write/category').made).toEqual([
    expect.stringMatching(/^category petstore-smoke-[0-9a-f-]{36} \(id unknown\)$/),
  ]);
});

const isUpdate =
  (path: string) =>
  ({ method, target }: Seen) =>
    method === 'PUT' && target.startsWith(path);

test('a delete without effect is found, even that of the entry which came with the pet', async () => {
  await using service = await startService({
    spoil({ method, target }, answer) {
      const petId = BigInt(/^\/store\/inventory\/(\d+)$/.exec(target)?.[1] ?? 0);
      if (method === 'DELETE' && petId > 0n)
        service.store.inventory.put(petId, { petId, quantity: 0, status: 'available' });
      return answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--stability', 'all', '--only', 'write/inventory']);
  expect(run.check('write/inventory').reason).toBe('gone: answered 200 OK');
});

test('an update without effect is found, and the record is removed', async () => {
  await using service = await startService({
    spoil: (seen, answer) =>
      isUpdate('/categories/')(seen)
        ? withBody(answer, { ...JSON.parse(String(answer.body)), description: 'as before' })
        : answer,
  });
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run.code).toBe(7);
  expect(run.ids('fail')).toEqual(['write/category']);
  expect(run.check('write/category')).toMatchObject({
    reason: 'update: description is not what was sent',
    pointer: '/description',
    expected: '"changed by petstore smoke"',
    got: '"as before"',
  });
  expect(run.check('write/cleanup').reason).toBe('3 removed');
  expect(counts(service.store)).toEqual(before);
});

test('a create that fails is reported once, and checks that need its record are skipped', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'POST' && target === '/categories' ? { ...answer, status: 500 } : answer,
  });
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run.ids('fail')).toEqual(['write/category']);
  expect(run.check('write/pet')).toMatchObject({
    result: 'skip',
    reason: 'write/category says what is wrong',
  });
  expect(run.check('write/cleanup').result).toBe('pass');
  // The server created them although it answered 500: they are found by their names.
  expect(counts(service.store)).toEqual(before);
});

test('a record whose create was never answered is found by its name and removed', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'POST' && target === '/store/orders' ? 'reset' : answer,
  });
  const before = counts(service.store);
  const run = await smoke(service.url, light);
  expect(run.check('write/order').result).toBe('error');
  expect(run.check('write/cleanup')).toMatchObject({ result: 'pass' });
  expect(counts(service.store)).toEqual(before);
});

test('an update that a gateway answered with 503, but that was applied, is not refused by its own If-Match', async () => {
  let updates = 0;
  await using service = await startService({
    spoil(seen, answer) {
      if (!isUpdate('/categories/')(seen)) return withFields(answer, { etag: `"${updates}"` });
      updates += 1;
      return { ...answer, status: updates === 1 ? 503 : 412 };
    },
  });
  const run = await smoke(service.url, ['--write', '--only', 'write/category']);
  expect(run.check('write/category')).toMatchObject({ result: 'pass', flaky: true });
});

test('a create that is refused because its first attempt was applied tells of that attempt', async () => {
  let creates = 0;
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method !== 'POST' || target !== '/store/inventory') return answer;
      creates += 1;
      return creates === 1 ? { ...answer, status: 502 } : answer;
    },
  });
  const run = await smoke(service.url, ['--write', '--stability', 'all', '--only', 'write/inventory']);
  expect(run.check('write/inventory').reason).toBe('create, after 502 Bad Gateway: answered 409 Conflict');
});

test('a create that a gateway answered with 503, but that was applied, leaves nothing behind', async () => {
  const gateways = new Set<string>();
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method === 'GET' || gateways.has(`${method} ${target}`)) return answer;
      gateways.add(`${method} ${target}`);
      return { ...answer, status: 503 };
    },
  });
  const before = counts(service.store);
  const run = await smoke(service.url, ['--write', '--only', 'write/category', '--only', 'write/pet']);
  expect(run).toMatchObject({ code: 0, totals: { pass: 3, flaky: 3 } });
  expect(counts(service.store)).toEqual(before);
});

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-smoke-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a protected profile refuses --write without its name, and nothing is sent', async () => {
  await using service = await startService();
  const config = { profiles: { live: { 'base-url': service.url, protected: true } } };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const env = { PETSTORE_CONFIG_DIR: folder };
  const refused = await runCli(['smoke', '--profile', 'live', '--write'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('--confirm live');
  expect(service.seen).toEqual([]);
  const reading = await runCli(['smoke', '--profile', 'live', '--only', 'op/listPets'], { env });
  expect(reading.code).toBe(0);
  const confirmed = await runCli(['smoke', '--profile', 'live', ...light, '--confirm', 'live'], { env });
  expect(confirmed.code).toBe(0);
});

test('Ctrl-C ends the checks, removes their records, writes the reports and exits 130', async () => {
  const report = join(folder, 'interrupted.json');
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) io?.raise('SIGINT');
      return answer;
    },
  });
  const before = counts(service.store);
  io = fakeIo();
  const code = await main(['smoke', '--base-url', service.url, ...light, '--report', `json=${report}`], io);
  expect(code).toBe(130);
  expect(io.written('stderr')).toContain(
    'stopped: removing the records of this run; Ctrl-C again leaves them\n',
  );
  expect(io.written('stdout')).toMatch(/^pass {3}write\/cleanup +[\d.]+ m?s {2}\d removed$/m);
  expect(counts(service.store)).toEqual(before);
  const { readFile } = await import('node:fs/promises');
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
});

test('a second Ctrl-C that comes while the reports are written does not cost them', async () => {
  const report = join(folder, 'late.json');
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) io?.raise('SIGINT');
      return answer;
    },
  });
  io = fakeIo();
  const { write } = io.stdout;
  io.stdout.write = async (text, options) => {
    if (String(text).includes('stopped by SIGINT')) io?.raise('SIGINT');
    await write.call(io?.stdout, text, options);
  };
  const code = await main(['smoke', '--base-url', service.url, ...light, '--report', `json=${report}`], io);
  expect(code).toBe(130);
  const { readFile } = await import('node:fs/promises');
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
});

test('a second Ctrl-C ends at once and names the records that are left', async () => {
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    async spoil(seen, answer) {
      if (isUpdate('/pets/')(seen)) io?.raise('SIGINT');
      if (seen.method !== 'DELETE' || !seen.target.startsWith('/pets/')) return answer;
      io?.raise('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 6000).unref());
      return answer;
    },
  });
  io = fakeIo();
  const startedMs = performance.now();
  const code = await main(['smoke', '--base-url', service.url, ...light], io);
  expect(code).toBe(130);
  expect(performance.now() - startedMs).toBeLessThan(4000);
  expect(io.written('stdout')).toMatch(/^fail {3}write\/cleanup/m);
  const told = io.written('stdout').replace(/\s+/g, ' ');
  // The service has removed the pet, but its answer never came.
  expect(told).toMatch(/left behind, and 1 more may be; .* perhaps pets \d+: stopped by a second signal/);
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
  '%s while a create is unanswered finds the record by its name and removes it',
  async (signal) => {
    let io: ReturnType<typeof fakeIo> | undefined;
    await using service = await startService({
      async spoil({ method, target }, answer) {
        if (method !== 'POST' || target !== '/pets') return answer;
        io?.raise(signal);
        await new Promise((resolve) => setTimeout(resolve, 20_000).unref());
        return answer;
      },
    });
    const before = counts(service.store);
    io = fakeIo();
    const startedMs = performance.now();
    const code = await main(['smoke', '--base-url', service.url, ...light], io);
    expect(code).toBe(signal === 'SIGTERM' ? 143 : 130);
    expect(performance.now() - startedMs).toBeLessThan(signal === 'SIGTERM' ? 2000 : 8000);
    expect(counts(service.store)).toEqual(before);
  },
  15_000,
);

test('a create that is answered soon after the signal is removed by its id', async () => {
  let io: ReturnType<typeof fakeIo> | undefined;
  await using service = await startService({
    async spoil({ method, target }, answer) {
      if (method === 'GET' && target === '/categories') return { ...answer, status: 500 };
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

/** The name that a run at this time would use. */
function nameOf(at: number, version = '7'): string {
  const time = at.toString(16).padStart(12, '0');
  return `petstore-smoke-${time.slice(0, 8)}-${time.slice(8)}-${version}abc-8abc-0123456789ab`;
}

test('--sweep removes records of earlier runs, but nothing younger and nothing of others', async () => {
  await using service = await startService();
  const before = counts(service.store);
  const hour = 3_600_000;
  const send = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { id: number }).id;
  };
  const categoryId = await send('/categories', { name: nameOf(Date.now() - 3 * hour) });
  const petId = await send('/pets', { name: nameOf(Date.now() - 3 * hour), categoryId });
  await send('/store/orders', { petId, quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false });
  const others = [nameOf(Date.now() - hour / 2), nameOf(Date.now() - 3 * hour, '4'), 'petstore-smoke-Rex'];
  for (const name of others) await send('/pets', { name, categoryId: 1 });
  const run = await smoke(service.url, ['--write', '--sweep', '1h', '--only', 'write/sweep']);
  expect(run.code).toBe(0);
  expect(run.check('write/sweep')).toMatchObject({
    result: 'pass',
    reason: '4 records of earlier runs removed',
  });
  const [categories = 0, pets = 0, orders = 0, inventory = 0] = before;
  expect(counts(service.store)).toEqual([categories, pets + 3, orders, inventory + 3]);
});
