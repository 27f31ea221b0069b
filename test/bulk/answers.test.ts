import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { type StockDesk, stockShop } from '../helpers/stock-desk.ts';
import { refuse, reply, shelves, toCsv, trouble } from '../helpers/stock-server.ts';

// What an answer, or none, says about a row: applied, failed or unknown.

const apply = ['apply', 'stock.csv', '--yes'];

/** The state of each pet's row in the last run. */
async function statesOf(desk: StockDesk): Promise<Record<string, string>> {
  const { stdout } = await desk.inventory(['runs', 'show', 'r1', '-o', 'json']);
  const rows = JSON.parse(stdout) as { petId: number; state: string }[];
  return Object.fromEntries(rows.map(({ petId, state }) => [petId, state]));
}

test('a row is failed only if its answer proves a refusal; undo looks at all others', async () => {
  const refusals = [400, 404, 405, 409, 410, 422, 425, 429, 501, 505];
  const open = [202, 206, 304, 408, 500, 502, 503, 504];
  const statuses = [...refusals, ...open];
  await using shop = await stockShop(
    statuses.map(() => 5),
    { 'stock.csv': toCsv(statuses.map(() => 6)) },
  );
  trouble(shop, (petId) => statuses[petId - 1], { isApplied: true });
  const words = [...apply, '--retries', '0'];
  expect(await shop.summary(words)).toMatchObject({ code: 1, failed: refusals.length, unknown: open.length });
  const states = Object.entries(await statesOf(shop)).map(([id, state]) => [statuses[Number(id) - 1], state]);
  expect(states).toEqual(statuses.map((each) => [each, refusals.includes(each) ? 'failed' : 'unknown']));
  shop.misbehave = undefined;
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({
    code: 0,
    rows: open.length,
    applied: open.length,
  });
});

test('a row that was sent and never answered is unknown, never failed, whatever a retry is answered', async () => {
  const later = [409, 429, 503, 403, 500, 404] as const;
  await using shop = await stockShop(
    later.map(() => 5),
    { 'stock.csv': toCsv(later.map(() => 6)) },
  );
  trouble(shop, (petId, nth) => (nth === 1 ? 'lost' : later[petId - 1]));
  const summary = await shop.summary([...apply, '--retries', '1', '--concurrency', '6']);
  expect(summary).toMatchObject({ failed: 0, applied: 0 });
  expect(Number(summary.unknown) + Number(summary.unprocessed)).toBe(later.length);
  await using other = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]) });
  trouble(other, { 2: 'silent', 3: 'lost' });
  const silent = await other.summary([...apply, '--timeout', '300ms', '--retries', '0']);
  expect(silent).toMatchObject({ code: 3, applied: 1, failed: 0, unknown: 2 });
  const rejects = other.read('stock.rejects.csv');
  expect(rejects).toMatch(/^2,6,3,unknown,,timeout,.*\n3,6,4,unknown,,reset,/m);
});

test('judges a 2xx by its content', async () => {
  const bodies: readonly (readonly [status: number, body: unknown, state: string])[] = [
    [204, undefined, 'applied'],
    [200, { petId: 2, quantity: 6, status: 'sold' }, 'applied'],
    [200, { ok: true }, 'unknown'],
    [200, [], 'unknown'],
    [200, { quantity: 5 }, 'unknown'],
    [200, { quantity: 'many' }, 'unknown'],
    [200, { petId: 99, quantity: 6, status: 'sold' }, 'unknown'],
    [200, { code: 'broken', message: 'it is broken', status: 500 }, 'unknown'],
    [202, { quantity: 6 }, 'unknown'],
  ];
  await using shop = await stockShop(
    bodies.map(() => 5),
    { 'stock.csv': toCsv(bodies.map(() => 6)) },
  );
  shop.misbehave = ({ method, petId }, response) => {
    const [status, body] = bodies[Number(petId) - 1] ?? [];
    if (method !== 'PUT' || status === undefined) return undefined;
    if (body === undefined) response.writeHead(status).end();
    else reply(response, status, body);
    return true;
  };
  await shop.summary(apply);
  expect(Object.values(await statesOf(shop))).toEqual(bodies.map(([, , state]) => state));
});

test('an answer to a read before a write is no answer to the write: the row is failed', async () => {
  const rows = shelves(120, () => 6).map(([petId, count]) => `${petId},${count},5\n`);
  await using shop = await stockShop(
    shelves(120, () => 5),
    { 'stock.csv': `petId,quantity,expected\n${rows.join('')}200,1,\n` },
  );
  shop.misbehave = ({ method, petId, path }, response) => {
    if (method !== 'GET') return undefined;
    if (petId === '8') response.destroy();
    if (petId === '7' || path === '/pets/200') reply(response, 200, { ok: true });
    return petId === '7' || petId === '8' || path === '/pets/200' ? true : undefined;
  };
  const summary = await shop.summary([...apply, '--create-missing', '--retries', '0']);
  expect(summary).toMatchObject({ code: 3, applied: 118, failed: 3, unknown: 0 });
  expect(['7', '8', '200'].map((id) => shop.stock.get(id))).toEqual([5, 5, undefined]);
});

test.each([
  ['about another pet', 200, { petId: 7, quantity: 777, status: 'sold' }],
  ['that fails', 500, { code: 'broken', message: 'no', status: 500 }],
])(
  'a plan that cannot be read whole, for an answer %s, leaves nothing, and sends nothing',
  async (_, status, body) => {
    await using shop = await stockShop(
      shelves(25, () => 5),
      { 'stock.csv': toCsv(shelves(25, () => 6)) },
    );
    shop.misbehave = ({ method, petId }, response) =>
      method === 'GET' && petId === '20' ? reply(response, status, body) : undefined;
    const words = [...apply, '--max-errors', '1', '--retries', '0', '--create-missing'];
    expect(await shop.inventory(words)).toMatchObject({ code: 6, stdout: '' });
    expect(shop.writes()).toEqual([]);
    expect(shop.files()).toEqual(['state', 'stock.csv']);
    expect((await shop.inventory(['runs', '-o', 'ids'])).stdout).toBe('');
  },
);

/** Binds the service's description without some of its operations; returns the environment of that profile. */
async function bindWithout(
  desk: StockDesk,
  ...operations: readonly (readonly [method: string, path: string])[]
) {
  const env = { PETSTORE_CONFIG_DIR: join(desk.folder, 'config') };
  const spec = JSON.parse((await runCli(['api', 'spec', '-o', 'json'])).stdout);
  for (const [method, path] of operations) delete spec.paths[path][method];
  desk.write('service.json', JSON.stringify(spec));
  await runCli(['api', 'bind', join(desk.folder, 'service.json')], { env: { ...desk.env, ...env } });
  return env;
}

const [list, entry] = ['/store/inventory', '/store/inventory/{petId}'];

test('sends nothing if the service offers no way to read counts, or none to set them', async () => {
  await using shop = await stockShop([1, 1], { 'stock.csv': toCsv([2, 2]) });
  await shop.summary(apply);
  shop.seen.length = 0;
  shop.write('stock.csv', toCsv([3, 3]));
  const blind = await shop.inventory(apply, { env: await bindWithout(shop, ['get', list], ['get', entry]) });
  expect(blind.code).toBe(2);
  expect(blind.stderr).toContain('the service offers neither getInventory nor listInventory');
  const env = await bindWithout(shop, ['put', entry]);
  for (const words of [apply, ['undo', 'r1', '--yes']]) {
    const refused = await shop.inventory(words, { env });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('(updateInventory)');
  }
  expect(shop.seen).toEqual([]);
});

test('undo reads the list if the service offers only the list', async () => {
  await using shop = await stockShop([1, 1, 1], { 'stock.csv': toCsv([4, 4, 4]) });
  await shop.summary(apply);
  shop.stock.set('3', 9);
  const env = await bindWithout(shop, ['get', entry]);
  expect(await shop.summary(['undo', '--yes'], { env })).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect([...shop.stock.values()]).toEqual([1, 1, 9]);
});

test('an entry that a run created stays, with exit code 3, if the service offers no deleteInventory', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv([6, 7]) });
  await shop.summary([...apply, '--create-missing']);
  const env = await bindWithout(shop, ['delete', entry]);
  const summary = await shop.summary(['undo', '--yes'], { env });
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1, failures: [{ kind: 'no_delete' }] });
  expect([...shop.stock.values()]).toEqual([5, 7]);
  expect((await shop.inventory(['undo', 'r1', '--yes'])).code).toBe(0);
  expect([...shop.stock]).toEqual([['1', 5]]);
});

test("reports the service's request id, shows control characters, and says whether a retry may help", async () => {
  const files = {
    'stock.csv': '_line,petId,quantity\n8,1,6\n9,2,6\n',
    'a.json': '[{"petId":2,"quantity":6}]',
  };
  await using shop = await stockShop([5, 5], files);
  const body = { code: 'no', message: '\u001b[2Jgone\u202e\u009b1m', status: 409 };
  shop.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? reply(response, 409, body, { 'x-request-id': 'r-77' }) : undefined;
  const summary = await shop.summary(apply);
  expect(summary).toMatchObject({ retryable: false, failures: [{ example: { requestId: 'r-77' } }] });
  const rejects = shop.read('stock.rejects.csv');
  expect(rejects).toMatch(/^2,6,9,failed,409,no,.*\\x1b\[2Jgone\\u202e.*,1,r-77,r1$/m);
  await shop.inventory(['apply', 'a.json', '--yes']);
  const { _message } = JSON.parse(shop.read('a.rejects.jsonl'));
  expect(_message).toBe('\\x1b[2Jgone\\u202e\\x9b1m');
  shop.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 503, 'busy') : undefined);
  const busy = await shop.summary([...apply, '--retries', '0']);
  expect(busy).toMatchObject({ unknown: 1, retryable: true });
});
