import { describe, expect, test } from 'vitest';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { type Line, runAt, wordsOf } from '../helpers/run-cli.ts';

/** The outcome of a command against a service that answers everything alike. */
async function against(reply: Reply, line: Line) {
  await using server = await recordingServer({}, () => reply);
  return await runAt(server, [...wordsOf(line), '--retries', '0']);
}

const html = { 'content-type': 'text/html' };
const page = '<html><title>Sign in</title></html>';
const remove = 'pets delete 1 --yes';

describe('a delete', () => {
  test.each<[string, Reply]>([
    ['204', { status: 204 }],
    ['200 with nothing', { status: 200 }],
    ['200 with nothing of a type', { status: 200, headers: html, body: '' }],
    ['200 with the deleted record', { status: 200, body: { id: 1, name: 'Luna', status: 'sold' } }],
    ['200 with a status of success', { status: 200, body: { status: 200, code: 0, message: 'ok' } }],
  ])('has succeeded with %s', async (_, reply) => {
    const run = await against(reply, remove);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('deleted pet 1') });
  });

  test.each<[string, Reply]>([
    ['a page to sign in', { status: 200, headers: html, body: page }],
    ['207', { status: 207, body: { status: 500 } }],
    ['206', { status: 206 }],
    ['201', { status: 201 }],
    ['299', { status: 299 }],
    ['200 and a status of 500', { status: 200, body: { status: 500, message: 'database down' } }],
    ['200 and a code of 404', { status: 200, body: { code: 404 } }],
    ['200 and an Error', { status: 200, body: { code: 'in_use', message: 'no' } }],
    ['200 and another record', { status: 200, body: { id: 7, name: 'Rex' } }],
    [
      '200 and JSON cut short',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":' },
    ],
  ])('has not succeeded with %s', async (_, reply) => {
    const run = await against(reply, remove);
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).not.toContain('deleted');
    expect(run.stderr).toContain('may or may not have been applied');
  });

  test('that is accepted (202) is said to be not yet done', async () => {
    const run = await against({ status: 202 }, remove);
    expect(run).toMatchObject({ code: 0, stderr: 'accepted, not yet done (202): delete pet 1\n' });
  });
});

test.each(['inventory set 1 5', 'categories create --name x'])(
  '%s that is accepted (202) is said to be not yet done',
  async (line) => {
    const run = await against({ status: 202, body: { job: 'abc' } }, line);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toBe('note: the service accepted the write, and has not done it yet (202)\n');
  },
);

test.each([202, 206, 207, 299, 304])('a read that is answered %i is no success', async (status) => {
  expect(await against({ status, body: [] }, 'pets list')).toMatchObject({ code: 6, stdout: '' });
  const raw = await against({ status, body: [] }, 'api request GET /x');
  expect(raw.code).toBe(status === 304 ? 0 : 6);
});

describe('a write that the service answers with another value', () => {
  const pet = { id: 1, name: 'Luna', categoryId: 1, status: 'sold' };
  const order = { id: 1, petId: 1, quantity: 2, shipDate: '2027-01-01T10:00:00Z', complete: false };
  const item = { petId: 1, quantity: 0, status: 'sold' };
  test.each<[string, object, string]>([
    ['pets update 1 --name Rex', pet, 'name Luna, not Rex'],
    ['pets update 1 --status available', pet, 'status sold, not available'],
    ['pets create --name Rex --category 1', pet, 'name Luna, not Rex'],
    ['orders complete 1', order, 'complete false, not true'],
    ['orders update 1 --ship-date 2027-01-02', order, 'shipDate 2027-01-01T10:00:00Z, not 2027-01-02'],
    ['inventory set 1 10', item, 'quantity 0, not 10'],
  ])('%s prints the record and fails with both values', async (line, body, values) => {
    const run = await against({ body }, `${line} -o json`);
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject(body);
    expect(JSON.parse(run.stderr).error).toMatchObject({ kind: 'failed', retryable: false });
    expect(JSON.parse(run.stderr).error.message).toContain(`the service answered ${values}`);
  });

  test.each<[string, object]>([
    ['orders update 1 --ship-date 2027-01-01T11:00:00+01:00', order],
    ['pets update 1 --name Luna', { ...pet, name: ' Luna ' }],
    ['pets update 1 --name Luna', { id: 1, name: 'Luna', categoryId: 1 }],
  ])('in another spelling only has succeeded: %s', async (line, body) => {
    expect(await against({ body }, line)).toMatchObject({ code: 0 });
  });
});

describe('a service that refuses the connection, or whose name is unknown,', () => {
  test.each(['http://127.0.0.1:9', 'http://absent.invalid'])('is reported at once: %s', async (url) => {
    const started = performance.now();
    const run = await runAt({ url }, 'orders list -v');
    expect(run.code).toBe(6);
    expect(run.stderr.match(/^\* GET/gm)).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(2000);
    const retried = await runAt({ url }, 'orders list -v --retries 1');
    expect(retried.stderr.match(/^\* GET/gm)).toHaveLength(2);
  });
});

test.each(['orders get 1', 'orders complete 1', 'orders create --pet 1'])(
  'an object that has no field of an order is none: %s',
  async (line) => {
    const run = await against({ body: { ok: true } }, line);
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).toContain('the body is not an Order: it has none of its fields');
  },
);
