import { describe, expect, test } from 'vitest';
import { type Reply, recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, type Line, runAt, wordsOf } from '../helpers/run-cli.ts';

const entry = { petId: 1, quantity: 3, status: 'sold' };
const luna = { id: 1, name: 'Luna', categoryId: 1, status: 'sold' };

/**
 * The outcome against a service that answers writes and readings each in one way, and what it was asked. What is to be deleted or
 * set is there before the write.
 */
async function between(write: Reply, reading: Reply, line: Line) {
  let isWritten = false;
  await using server = await recordingServer({}, ({ method }) => {
    if (method === 'GET' && !isWritten && `${line}`.startsWith('inventory set')) return { body: entry };
    if (method === 'GET') return isWritten || line !== remove ? reading : { body: luna };
    isWritten = true;
    return write;
  });
  const run = await runAt(server, [...wordsOf(line), '--retries', '0']);
  return { ...run, calls: server.calls() };
}

/** The outcome against a service that answers writes and readings alike. */
const against = (reply: Reply, line: Line) => between(reply, reply, line);

const html = { 'content-type': 'text/html' };
const page = '<html><title>Sign in</title></html>';
const remove = 'pets delete 1 --yes';
describe('a delete', () => {
  test.each<[string, Reply]>([
    ['204', { status: 204 }],
    ['200 with nothing', { status: 200 }],
    ['200 with nothing of a type', { status: 200, headers: html, body: '' }],
    ['200 with the deleted record', { status: 200, body: { id: 1, name: 'Luna', status: 'sold' } }],
    ['200 with the deleted record and a code', { status: 200, body: { id: 1, name: 'Luna', code: 1001 } }],
  ])('has succeeded with %s', async (_, reply) => {
    const run = await against(reply, remove);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('deleted pet 1') });
  });

  const cutShort = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":' };
  test.each<[string, Reply]>([
    ['a page to sign in', { status: 200, headers: html, body: page }],
    ['201', { status: 201 }],
    ['200 and deleted: false', { status: 200, body: { deleted: false } }],
    ['200 and a status of 500', { status: 200, body: { status: 500, message: 'database down' } }],
    ['200 and an Error', { status: 200, body: { code: 'in_use', message: 'no' } }],
    ['200 and another record', { status: 200, body: { id: 7, name: 'Rex' } }],
    ['200 and JSON cut short', cutShort],
    ['200 and the id alone', { body: { id: 1, deleted: false } }],
    ...[206, 207, 299].map((status): [string, Reply] => [`${status}`, { status }]),
  ])('that is answered with %s has succeeded only if a reading shows that', async (_, reply) => {
    const calls = ['GET /pets/1', 'DELETE /pets/1', 'GET /pets/1'];
    expect(await between(reply, refusal(404), remove)).toMatchObject({ code: 0, calls });
    for (const reading of [{ body: luna }, { status: 500 }]) {
      const run = await between(reply, reading, remove);
      expect(run).toMatchObject(failed(6, 'may have been'));
    }
  });
});

test.each([remove, 'inventory set 1 5', 'categories create --name x'])(
  '%s that is accepted (202) may be applied or not, and is not sent again',
  async (line) => {
    const run = await between({ status: 202, body: { job: 'abc' } }, { status: 500 }, line);
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).toContain(
      'the service has accepted it, but not done it yet; the request may have been applied',
    );
    expect(run.calls.filter((call) => !call.startsWith('GET'))).toHaveLength(1);
  },
);

test.each([202, 206, 207, 299, 300, 304, 306])(
  'a read that is answered %i has not succeeded',
  async (status) => {
    const stderr = expect.stringContaining(
      `the answer is ${status}, which is neither a success nor an error`,
    );
    // A list may be answered in parts.
    const line = status === 206 ? 'pets get 1' : 'pets list';
    expect(await against({ status, body: [] }, line)).toMatchObject({ code: 6, stdout: '', stderr });
    // 304 answers a condition, which only the user sends.
    const raw = await against({ status, body: [] }, 'api request GET /x');
    expect(raw).toMatchObject(status === 304 ? { code: 0, stderr: '' } : { code: 6, stderr });
  },
);

describe('a write that the service answers with another value', () => {
  const order = { id: 1, petId: 1, quantity: 2, shipDate: '2027-01-01T10:00:00Z', complete: false };
  const item = { petId: 1, quantity: 0, status: 'sold' };
  test.each<[string, object, string]>([
    ['pets update 1 --name Rex', luna, 'name "Rex" was sent, and it is name "Luna" now'],
    ['pets update 1 --status available', luna, 'status "available" was sent, and it is status "sold" now'],
    [
      'pets create --name Rex --category 1',
      luna,
      'name "Rex", categoryId 1 was sent, and it is name "Luna", categoryId 1 now',
    ],
    ['orders complete 1', order, 'complete true was sent, and it is complete false now'],
    [
      'orders update 1 --ship-date 2027-01-02',
      order,
      'shipDate "2027-01-02T00:00:00Z" was sent, and it is shipDate "2027-01-01T10:00:00Z" now',
    ],
    ['inventory set 1 10', item, '10 was sent, and it is 0 now'],
  ])(
    '%s may have been applied if the record has it too, and the error names both values',
    async (line, body, values) => {
      const run = await against({ body }, `${line} -o json`);
      expect(run).toMatchObject({ code: 6, stdout: '' });
      const { error } = JSON.parse(run.stderr);
      expect(error).toMatchObject({ kind: 'unavailable', status: 200, retryable: false, applied: 'unknown' });
      expect(error.message).toContain(values);
    },
  );

  test('has succeeded if the record is as asked', async () => {
    const run = await between(
      { body: item },
      { body: { ...item, quantity: 10 } },
      'inventory set 1 10 --json',
    );
    const [reading, write] = ['GET /store/inventory/1', 'PUT /store/inventory/1'];
    expect(run).toMatchObject({ code: 0, calls: [reading, write, reading] });
    expect(JSON.parse(run.stdout)).toMatchObject({ quantity: 10 });
  });

  test('in another spelling only has succeeded', async () => {
    const run = await against({ body: order }, 'orders update 1 --ship-date 2027-01-01T11:00:00+01:00');
    expect(run).toMatchObject({ code: 0 });
  });
});

describe('a create that is answered', () => {
  const create = 'pets create --name Luna --category 1 -o ids';

  test('with Location and no body prints the record that it reads', async () => {
    const run = await between({ status: 201, headers: { location: '/pets/1' } }, { body: luna }, create);
    expect(run).toMatchObject({ code: 0, stdout: '1\n', calls: ['POST /pets', 'GET /pets/1'] });
  });

  test.each<[unknown, string]>([
    [{ id: 1 }, '1'],
    [{ id: 1, ok: true }, '1'],
    [7, '7'],
  ])('with the id alone, %j, prints the record that it reads', async (body, id) => {
    const run = await between({ status: 201, body }, { body: { ...luna, id: Number(id) } }, create);
    expect(run).toMatchObject({ code: 0, stdout: `${id}\n`, calls: ['POST /pets', `GET /pets/${id}`] });
  });

  test.each([{}, { location: 'http://elsewhere.example/pets/1' }, { location: '/dogs/1' }])(
    'with no body and the headers %j may have been made',
    async (headers) => {
      await using server = await recordingServer({}, () => ({ status: 201, headers }));
      const run = await runAt(server, create);
      expect(run).toMatchObject({ code: 6, stdout: '' });
      expect(run.stderr).toMatch(
        /^error: pet: the service answered 201 without a record; it may have been created: .*\nhint: .* pets list --name Luna/,
      );
      expect(server.calls()).toEqual(['POST /pets']);
    },
  );

  // An undo would remove record 1 if a number of rows were taken for an id.
  test.each([{ ok: true }, [1], [0], [], { id: 'abc' }, '"5"'])(
    'with %j has no id to look for, and may have made it',
    async (body) => {
      const run = await between({ status: 201, body }, { body: luna }, create);
      expect(run).toMatchObject({ ...failed(6, 'the body is not a Pet: '), calls: ['POST /pets'] });
      expect(run.stderr).toContain('; it may have been created: look for it before you create it again');
    },
  );
});

test('several writes that may have been applied are not only called failed', async () => {
  await using server = await recordingServer({}, ({ method, path }) =>
    method === 'GET' ? { body: { ...luna, id: Number(path.split('/').at(-1)) } } : { status: 202 },
  );
  const { code, stderr } = await runAt(server, 'pets delete 1 2 --yes -o json');
  expect([code, JSON.parse(stderr).error]).toMatchObject([
    6,
    { message: '2 of 2 pets failed or are unknown', applied: 'unknown' },
  ]);
});

test.each<[line: string, body: object, why: string]>([
  ['orders get 1', [], 'the body is not an Order: it must be an object'],
  ['orders get 1', { ok: true }, 'the body is not an Order: it has none of its fields'],
  ['orders get 1', { id: 7, petId: 7, quantity: 5 }, 'its id is 7, not 1'],
  ['orders create --pet 1 --quantity 2', { ok: true }, 'the body is not an Order: it has none of its fields'],
  // A category is an object only where a description says so.
  ['pets get 1', { ...luna, categoryId: undefined, category: { id: 2 } }, '/categoryId is required'],
])('%s is not answered by %j', async (line, body, why) => {
  const run = await against({ body }, line);
  expect(run).toMatchObject(failed(6, why));
});
