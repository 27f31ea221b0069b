import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { ownDescription } from '../helpers/own-description.ts';
import { refusal } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';
import { shelves, toCsv, trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

// A write is applied if its answer shows it, or a reading afterwards; it failed only if the service itself has refused it.

const apply = 'inventory apply stock.csv --yes';
type Shop = Awaited<ReturnType<typeof stockShop>>;

test.each([200, 201, 204])(
  'a %i without a body leaves a row unknown if a reading shows another value',
  async (status) => {
    await using shop = await stockShop([5, 5, 5, 0], { 'stock.csv': toCsv([6, 6, 6, 6]) });
    shop.misbehave = ({ method, petId = '', quantity = 0 }) => {
      if (method !== 'PUT') return undefined;
      if (petId !== '1') return { status };
      // A page that a reading confirms says nothing of answers without a body.
      shop.stock.set(petId, quantity);
      return { headers: { 'content-type': undefined }, body: '<html>' };
    };
    expect(await shop.report(`${apply} --concurrency 1`)).toMatchObject({ code: 3, applied: 1, unknown: 3 });
    expect(shop.requests.filter(({ method }) => method === 'GET')).toHaveLength(4 + 4);
    expect(await shop.run('inventory set 2 6 -o json')).toMatchObject({ code: 6, stdout: '' });
  },
);

test.each([
  [200, 'each', 5, 3 + 3],
  [201, 'each', 5, 3 + 3],
  [204, 'each', 5, 3 + 3],
  [204, 'in the list, once', 5, 1 + 1],
  [204, 'in the list, once', 0, 1 + 1],
])('a %i without a body is read back %s, where %i was', async (status, how, was, readings) => {
  await using shop = await stockShop([was, was, was], { 'stock.csv': toCsv([6, 6, 6]) });
  shop.misbehave = ({ method, petId = '', quantity = 0 }) => {
    if (method !== 'PUT') return undefined;
    shop.stock.set(petId, quantity);
    return { status };
  };
  const env = how === 'each' ? {} : await bindWithout(shop, ['get', entry]);
  expect(await shop.report(`${apply} --concurrency 1`, { env })).toMatchObject({ code: 0, applied: 3 });
  expect(shop.requests.filter(({ method }) => method === 'GET')).toHaveLength(readings);
  expect(await shop.run('inventory set 1 7', { env })).toMatchObject({ code: 0 });
});

test('a service that requires If-Match gets the tag of each record, though the plan has read the list', async () => {
  await using shop = await stockShop(shelves(100, 5), { 'stock.csv': toCsv(shelves(100, 6)) });
  shop.sendsETags = true;
  const env = await bindChanged(shop, ({ paths }) => {
    const parameter = { name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } };
    (paths[entry]!.put!.parameters as object[]).push(parameter);
  });
  expect(await shop.report(apply, { env })).toMatchObject({ code: 0, applied: 100 });
  expect(shop.writes().every(({ headers }) => headers['if-match'])).toBe(true);
});

test.each(['inventory apply stock.csv --yes', 'inventory adjust 1 1'])(
  'an empty 404 of an entry that the list has is no reading: %s reads it again',
  async (line) => {
    await using shop = await stockShop([5], { 'stock.csv': 'petId,quantity,expected\n1,6,5\n' });
    shop.sendsETags = true;
    const isEntry = ({ method, petId }: { method: string; petId?: string | undefined }) =>
      method === 'GET' && petId === '1';
    // The last reading before the write.
    const at = line.startsWith('inventory apply') ? 2 : 1;
    shop.misbehave = (request) =>
      isEntry(request) && shop.requests.filter(isEntry).length === at ? { status: 404 } : undefined;
    expect((await shop.run(line)).code).toBe(0);
    expect(shop.writes().map(({ headers }) => headers['if-match'] !== undefined)).toEqual([true]);
  },
);

test('a plan that has read the whole list believes an empty 404 of a record that the list lacks', async () => {
  await using shop = await stockShop([5], { 'stock.csv': toCsv(Array.from({ length: 120 }, () => 6)) });
  shop.misbehave = ({ method, petId = '1' }) =>
    method === 'GET' && petId !== '1' ? { status: 404 } : undefined;
  expect((await shop.run('inventory diff stock.csv --create-missing')).code).toBe(8);
  const lists = shop.requests.filter(({ petId }) => petId === undefined);
  expect([lists.length, shop.requests.length]).toEqual([1, 120]);
});

const refusals = [400, 404, 405, 409, 410, 412, 422, 425, 429, 501, 505];
const silences = [206, 304, 408, 499, 500, 502, 503, 504];

test('a refused count is failed, any other failure is unknown, and resume writes what may pass', async () => {
  const statuses = [...refusals, ...silences];
  await using shop = await stockShop(
    statuses.map(() => 5),
    { 'stock.csv': toCsv(statuses.map(() => 6)) },
  );
  trouble(shop, (petId) => statuses[petId - 1]);
  expect(await shop.report(`${apply} --retries 0`)).toMatchObject({
    code: 3,
    applied: 0,
    failed: refusals.length,
    unknown: silences.length,
  });
  shop.misbehave = undefined;
  await shop.report('resume --yes');
  const states = Object.values(await shop.states('r1'));
  const final = [400, 404, 405, 409, 410, 422, 501, 505];
  expect(states.map((state, at) => [statuses[at], state])).toEqual(
    statuses.map((status) => [status, final.includes(status) ? 'failed' : 'applied']),
  );
});

test('a service that adds instead of setting stops the run at its first row', async () => {
  await using shop = await stockShop([1, -100, 100, 100], { 'stock.csv': toCsv([102, 102, 102, 102]) });
  shop.misbehave = ({ method, petId = '', quantity = 0 }) => {
    if (method !== 'PUT') return undefined;
    if (petId === '1') return refusal(422);
    shop.stock.set(petId, (shop.stock.get(petId) ?? 0) + quantity);
    return { body: { petId: Number(petId), quantity: shop.stock.get(petId), status: 'sold' } };
  };
  const report = await shop.report(apply);
  expect(report).toMatchObject({ code: 6, failed: 1, unknown: 1, unprocessed: 2 });
  expect(report.error?.message).toMatch(/was -100 before, 102 was sent, and it is 2 now/);
  expect(report.error).not.toMatchObject({ retryable: true });
  expect((await shop.run('undo r1 --dry-run')).stderr).toContain(
    'run r1 wrote this record: look at the record',
  );
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 3, applied: 0, failed: 1 });
  expect([...shop.stock.values()]).toEqual([1, 2, 100, 100]);
  expect(
    await shop.report('runs settle r1 2 3 4 --as failed', { env: { PETSTORE_PROTECTED: 'true' } }),
  ).toMatchObject({ code: 0 });
});

test('such a service is found out by its first count that was not 0, even if it answers without a record', async () => {
  await using shop = await stockShop([0, 0, 10, 10], { 'stock.csv': toCsv([7, 7, 7, 7]) });
  shop.misbehave = ({ method, petId = '', quantity = 0 }) => {
    if (method !== 'PUT') return undefined;
    shop.stock.set(petId, (shop.stock.get(petId) ?? 0) + quantity);
    return { status: 204 };
  };
  const report = await shop.report(`${apply} --concurrency 1`);
  expect(report).toMatchObject({ code: 6, applied: 2, unknown: 1, unprocessed: 1 });
  // A resume does not add once more.
  expect(report.next).toContain('runs settle r1 3 ');
  await shop.report('resume r1 --yes');
  expect(shop.stock.get('3')).toBe(17);
});

test('weak ETags are not sent, and stop no run', async () => {
  await using shop = await stockShop([5, 5, 5], {
    'stock.csv': 'petId,quantity,expected\n1,6,5\n2,6,5\n3,6,4\n',
    'd.csv': 'petId,change\n1,1\n2,1\n',
  });
  shop.sendsETags = true;
  shop.etagOf = (petId) => `W/"${shop.stock.get(petId)}"`;
  expect(await shop.report(apply)).toMatchObject({ code: 3, applied: 2, failed: 1, unknown: 0 });
  const delivered = await shop.report('inventory apply d.csv --relative --delivery LS-1 --yes');
  expect(delivered).toMatchObject({ code: 0, applied: 2 });
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 2 });
  expect([...shop.stock.values()]).toEqual([6, 6, 5]);
  expect(shop.writes().some(({ headers }) => headers['if-match'] !== undefined)).toBe(false);
});

test.each([
  ['random', () => `"${Math.floor(performance.now() * 1e6)}"`],
  ["a proxy's", (count: number | undefined) => `"${count}-gzip-${performance.now()}"`],
])(
  '%s ETags fail the row, whose tag is never left out, until the profile says that they are of no use',
  async (_, etagOf) => {
    await using shop = await stockShop([5], { 'd.csv': 'petId,change\n1,1\n' });
    shop.sendsETags = true;
    shop.etagOf = (petId) => etagOf(shop.stock.get(petId));
    const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes';
    const { code, failures, error } = await shop.report(deliver);
    expect({ code, failures, hint: error?.hint }).toMatchObject({
      code: 1,
      failures: [{ kind: '412 stale', state: 'failed' }],
      hint: expect.stringMatching(/^(?!.*etags).*help gateways/),
    });
    expect(shop.writes().every(({ headers }) => headers['if-match'] !== undefined)).toBe(true);
    const env = { PETSTORE_ETAGS: 'false' };
    expect(await shop.report('resume --yes', { env })).toMatchObject({ code: 0, applied: 1 });
    expect(shop.stock.get('1')).toBe(6);
  },
);

test('a strong ETag binds a row that expects or adds; what somebody writes in between stays', async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': 'petId,quantity,expected\n1,6,5\n',
    'd.csv': 'petId,change\n2,1\n',
  });
  shop.sendsETags = true;
  shop.misbehave = ({ method, petId = '' }) => {
    if (method === 'PUT' && shop.writes().filter((write) => write.petId === petId).length === 1)
      shop.stock.set(petId, 50);
    return undefined;
  };
  expect(await shop.report(apply)).toMatchObject({ code: 1, failed: 1, failures: [{ kind: '412 changed' }] });
  // A row that adds adds to what is there, in the same command.
  const delivered = await shop.report('inventory apply d.csv --relative --delivery LS-1 --yes');
  expect(delivered).toMatchObject({ code: 0, applied: 1 });
  expect([...shop.stock.values()]).toEqual([50, 51]);
});

test('a record that a list lacks is read by itself before it is called missing', async () => {
  await using shop = await stockShop(shelves(120, 5), { 'stock.csv': toCsv(shelves(120, 6)) });
  shop.misbehave = ({ path, petId }) => {
    if (petId !== undefined || !path.startsWith('/store/inventory?')) return undefined;
    const items = shelves(120, 5).filter(([id]) => id !== 60);
    return { body: items.map(([id, quantity]) => ({ petId: id, quantity, status: 'sold' })) };
  };
  expect(await shop.report(apply)).toMatchObject({ code: 0, applied: 120 });
});

test.each([
  ['about another pet', 200, { petId: 7, quantity: 777, status: 'sold' }, 'its petId is 7, not 20'],
  ['that fails', 500, { code: 'broken', message: 'no', status: 500 }, 'error: no ('],
])('a plan that cannot be read whole, for an answer %s, leaves nothing', async (_, status, body, why) => {
  await using shop = await stockShop(shelves(25, 5), { 'stock.csv': toCsv(shelves(25, 6)) });
  shop.misbehave = ({ method, petId }) => (method === 'GET' && petId === '20' ? { status, body } : undefined);
  const words = `${apply} --max-errors 1 --retries 0 --create-missing`;
  expect(await shop.run(words)).toMatchObject(failed(6, why));
  expect(shop.writes()).toEqual([]);
  expect(shop.files()).toEqual(['state', 'stock.csv']);
  expect((await shop.run('runs -o ids')).stdout).toBe('');
});

/** Binds the service to its description, changed by `change`. @returns the environment of the binding. */
async function bindChanged(shop: Shop, change: Parameters<typeof ownDescription>[0]) {
  return (await bindTo(shop, ownDescription(change), { env: shop.env })).env;
}

/** Binds the service to its description without some of the operations. */
function bindWithout(shop: Shop, ...operations: readonly (readonly [method: string, path: string])[]) {
  return bindChanged(shop, ({ paths }) => {
    for (const [method, path] of operations) delete paths[path]?.[method];
  });
}

const [list, entry] = ['/store/inventory', '/store/inventory/{petId}'];

test('sends nothing if the service offers no way to read counts, or none to set them', async () => {
  await using shop = await stockShop([1, 1], { 'stock.csv': toCsv([2, 2]) });
  const unread = { env: await bindWithout(shop, ['get', list], ['get', entry]) };
  expect(await shop.run(apply, unread)).toMatchObject(
    failed(2, 'the service offers neither getInventory nor listInventory'),
  );
  const unset = { env: await bindWithout(shop, ['put', entry]) };
  expect(await shop.run(apply, unset)).toMatchObject(
    failed(2, 'the service offers no way to set the stock count of a pet'),
  );
  expect(shop.requests).toEqual([]);
});

test('a plan sends no uncertain row if the service offers only a list', async () => {
  await using shop = await stockShop([1, 1], { 'stock.csv': toCsv([2, 2]) });
  const env = await bindWithout(shop, ['get', entry]);
  trouble(shop, (petId) => (petId === 1 ? 504 : 425));
  expect(await shop.report(`${apply} --retries 0`, { env })).toMatchObject({ failed: 1, unknown: 1 });
  shop.misbehave = undefined;
  const { stdout } = await shop.run('resume --dry-run -o csv --no-header --fields petId,state,code', { env });
  expect(stdout).toBe('1,unknown,unbound\n2,planned,\n');
  expect(await shop.report('resume --yes', { env })).toMatchObject({ code: 3, applied: 1, unknown: 1 });
});

test('an entry that a PUT creates is made where there is none, and once if its answer is lost', async () => {
  await using shop = await stockShop([], { 'd.csv': 'petId,change\n7,3\n' });
  const env = await bindWithout(shop, ['post', list]);
  shop.misbehave = ({ quantity, method }) => {
    if (method !== 'PUT' || shop.writes().length > 2) return undefined;
    if (shop.writes().length === 2) shop.stock.set('7', quantity ?? 0);
    return 'reset';
  };
  const words = 'inventory apply d.csv --relative --delivery LS-1 --create-missing --yes';
  expect(await shop.report(words, { env })).toMatchObject({ code: 0, applied: 1 });
  expect(shop.writes().map(({ headers }) => headers['if-none-match'])).toEqual(['*', '*']);
  expect(shop.stock.get('7')).toBe(3);
});

test("reports the service's request id, and shows control characters", async () => {
  await using shop = await stockShop([5, 5], {
    'stock.csv': toCsv([6, 6]),
    'a.json': '[{"petId":2,"quantity":6}]',
  });
  const body = { code: 'no', message: '\u001b[2Jgone\u202e\u009b1m', status: 409 };
  shop.misbehave = ({ method, petId }) =>
    method === 'PUT' && petId === '2'
      ? { status: 409, body, headers: { 'x-request-id': 'r-77' } }
      : undefined;
  expect(JSON.stringify((await shop.report(apply)).failures)).toContain('r-77');
  expect(shop.read('stock.rejects.csv')).toMatch(/^2,6,3,failed,409,no,.*\\x1b\[2Jgone\\u202e.*$/m);
  await shop.run('inventory apply a.json --yes');
  expect(JSON.parse(shop.read('a.rejects.jsonl'))._message).toContain('\\x1b[2Jgone\\u202e\\x9b1m');
});

test.each([
  ['inventory apply d.csv --relative --delivery LS-1 --create-missing', [41, 47, 43]],
  ['inventory delete 2', [41, 43]],
])(
  'a record that a list skips is not missing where no record can be read by itself: %s',
  async (line, left) => {
    await using shop = await stockShop([41, 42, 43], { 'd.csv': 'petId,change\n2,+5\n' });
    const env = await bindWithout(shop, ['post', list], ['get', entry]);
    // An entry of the first page was deleted meanwhile, so the second page begins behind the entry.
    let lists = 0;
    shop.misbehave = ({ method, quantity = 0 }) => {
      if (method === 'GET') lists += 1;
      const items = [1, 3].map((petId) => ({ petId, quantity: petId + 40, status: 'available' }));
      if (method === 'GET') return lists === 1 ? { body: items } : undefined;
      if (method === 'DELETE') return undefined;
      // An answer without a record is confirmed by the list.
      shop.stock.set('2', quantity);
      return { status: 204 };
    };
    expect((await shop.run(`${line} --yes`, { env })).code).toBe(0);
    expect([...shop.stock.values()]).toEqual(left);
  },
);
