import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { withLock } from '../../src/process/lock.ts';
import { answer, answerJson, type Exchange, misbehave } from '../helpers/misbehaving-server.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import * as mode from './modes.ts';

/** The result of a write that gets these answers one after the other. */
async function write(argv: readonly string[], ...answers: ((exchange: Exchange) => void)[]) {
  await using server = await misbehave({ onRequest: (exchange) => answers[exchange.number - 1]?.(exchange) });
  const run = await runCli([...argv, '--base-url', server.url, '--timeout', '5s']);
  return { ...run, requests: server.requests.map(({ method }) => method) };
}

async function errorOf(argv: readonly string[], ...answers: ((exchange: Exchange) => void)[]) {
  const { stderr, code } = await write([...argv, '--json'], ...answers);
  return { code, ...JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error };
}

function status(code: number, fields: Readonly<Record<string, string>> = {}) {
  return (exchange: Exchange): void => answer(exchange, { status: code, fields });
}

const set = ['inventory', 'set', '1', '5'];
const remove = ['inventory', 'delete', '1', '--yes'];
const mayBe = 'may or may not have been applied';

describe('a DELETE that was sent again', () => {
  test.each([
    ['502', status(502), 404],
    ['503', status(503), 410],
    ['a reset', mode.reset, 404],
  ])('and finds nothing after %s has succeeded, with a note', async (_, first, second) => {
    const run = await write(remove, first, status(second));
    expect(run).toMatchObject({ code: 0, requests: ['DELETE', 'DELETE'] });
    expect(run.stderr).toMatch(
      new RegExp(
        `^note: DELETE http://[^ ]+/store/inventory/1: answered ${second}, and an earlier attempt may have been applied: the record is gone$`,
        'm',
      ),
    );
  });

  test('by `api request` has succeeded too', async () => {
    expect(await write(['api', 'request', 'DELETE', '/x'], status(502), status(404))).toMatchObject({
      code: 0,
    });
  });

  test('and is refused has not', async () => {
    expect(await errorOf(remove, status(502), status(409))).toMatchObject({ code: 1, applied: 'unknown' });
  });
});

test.each([
  ['once', []],
  ['again after a 429', [status(429, { 'retry-after': '0' })]],
  ['again after a 503 with Retry-After', [status(503, { 'retry-after': '0' })]],
])('a DELETE that is sent %s and finds nothing has not succeeded', async (_, before) => {
  expect(await write(remove, ...before, status(404))).toMatchObject({ code: 5 });
});

describe('a write whose earlier attempt may have been applied', () => {
  test.each([409, 412, 422, 404])('says so if a later one is answered %i', async (code) => {
    const run = await write(set, mode.reset, status(code));
    expect(run.stderr).toContain(mayBe);
    expect(run.requests).toEqual(['PUT', 'PUT']);
    expect(await errorOf(set, mode.reset, status(code))).toMatchObject({
      applied: 'unknown',
      attempts: 2,
      retryable: false,
    });
  });

  test('does not say of a 412 that somebody else changed the record', async () => {
    const { hint } = await errorOf(set, status(502), status(412));
    expect(hint).toContain('an earlier attempt may have changed it');
  });

  test('says so if the last attempt gets no connection', async () => {
    const run = await write([...set, '--retries', '1'], mode.reset, ({ socket }) => socket.resetAndDestroy());
    expect(run.code).toBe(6);
    expect(run.stderr).toContain(mayBe);
  });

  test('does not mention it if it succeeds in the end', async () => {
    expect(await write(set, mode.reset, mode.wellBehaved)).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a write that was refused each time was not applied', async () => {
  const error = await errorOf(set, status(429, { 'retry-after': '0' }), status(409));
  expect(error).not.toHaveProperty('applied');
});

describe('an interrupted write', () => {
  test.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('by %s of the built program may or may not have been applied', async (signal, code, word) => {
    await using server = await misbehave(mode.always(mode.silence));
    const outcome = interrupt(server, signal, [...set, '--base-url', server.url]);
    const { stderr, ...rest } = await outcome;
    expect(rest).toMatchObject({ code, stdout: '' });
    expect(stderr).toBe(`error: ${word}: PUT ${server.url}/store/inventory/1 ${mayBe}\n`);
  });

  test('is "applied": "unknown" to programs', async () => {
    await using server = await misbehave(mode.always(mode.silence));
    const { stderr } = await interrupt(server, 'SIGINT', [...set, '--json', '--base-url', server.url]);
    expect(JSON.parse(stderr).error).toMatchObject({
      kind: 'interrupted',
      method: 'PUT',
      url: `${server.url}/store/inventory/1`,
      applied: 'unknown',
    });
  });

  test('says so too if it waits before it is sent again', async () => {
    const io = fakeIo();
    await using server = await misbehave({
      onRequest: (exchange) => {
        answer(exchange, { status: 502 });
        setTimeout(() => io.raise('SIGINT'), 5);
      },
    });
    expect(await main([...set, '--base-url', server.url], io)).toBe(130);
    expect(io.written('stderr')).toContain(mayBe);
  });

  test('that is not sent yet, or that only reads, has changed nothing', async () => {
    await using silent = await misbehave(mode.accept.andSayNothing);
    const baseUrl = `https://127.0.0.1:${silent.port}`;
    const unsent = await interrupt(silent, 'SIGINT', [...set, '--base-url', baseUrl]);
    expect(unsent.stderr).toBe('error: interrupted\n');
    await using server = await misbehave(mode.always(mode.silence));
    const read = await interrupt(server, 'SIGINT', ['pets', 'list', '--base-url', server.url]);
    expect(read.stderr).toBe('error: interrupted\n');
  });
});

async function interrupt(
  server: { readonly connections: number },
  signal: 'SIGINT' | 'SIGTERM',
  argv: readonly string[],
) {
  const child = startCli([...argv, '--timeout', '60s']);
  const outcome = outcomeOf(child);
  while (server.connections === 0 && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill(signal);
  return outcome;
}

describe('an answer about another record', () => {
  const other = (exchange: Exchange) =>
    answerJson(exchange, { petId: 7, id: 7, name: 'Rex', quantity: 5, status: 'sold' });

  test.each([
    [['inventory', 'get', '2'], 'petId is 7, not 2'],
    [['orders', 'get', '2'], 'id is 7, not 2'],
    [['categories', 'get', '2'], 'id is 7, not 2'],
    [['inventory', 'set', '2', '5'], 'petId is 7, not 2'],
  ])('to %j is not success', async (argv, why) => {
    const run = await write([...argv, '--retries', '0'], other, other);
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).toContain(`the answer is about another record: its ${why}`);
  });
});

test.each([['categories'], ['inventory']])(
  'a delete that answers the deleted record succeeds: %s',
  async (noun) => {
    const deleted = (exchange: Exchange) => answerJson(exchange, { id: 2, petId: 2, name: 'Dogs' });
    const run = await write([noun, 'delete', '2', '--yes'], deleted, deleted);
    expect(run).toMatchObject({ code: 0, requests: ['DELETE'] });
    expect(run.stderr).toContain('deleted');
  },
);

test('an inventory entry that is created for another pet is not success', async () => {
  const pet = (exchange: Exchange) =>
    answerJson(exchange, { id: 2, name: 'Rex', categoryId: 1, status: 'sold' });
  const item = (exchange: Exchange) => answerJson(exchange, { petId: 7, quantity: 5, status: 'sold' });
  const run = await write(['inventory', 'create', '2', '5'], pet, item);
  expect(run).toMatchObject({ code: 6, stdout: '', requests: ['GET', 'POST'] });
  expect(run.stderr).toContain(`its petId is 7, not 2; the request ${mayBe}`);
});

describe('a list that is missing', () => {
  test.each([404, 410])('answers %i, and the base URL is wrong', async (code) => {
    const error = await errorOf(['categories', 'list'], status(code));
    expect(error).toMatchObject({ code: 6, kind: 'unavailable', status: code, retryable: false });
    expect(error.hint).toContain('is the base URL right?');
  });
});

describe('an error', () => {
  test.each(['request-id', 'x-request-id', 'x-correlation-id', 'traceparent'])(
    'tells what the service calls the request in %s',
    async (name) => {
      const act = status(409, { [name]: 'abc-1' });
      expect((await write(set, act)).stderr).toMatch(/; request id abc-1$/m);
      expect(await errorOf(set, act)).toMatchObject({ requestId: 'abc-1' });
    },
  );

  test('carries the notices of the command as warnings and is alone on stderr', async () => {
    const deprecated = status(404, { deprecation: 'true', 'content-type': 'application/json' });
    const { stderr } = await write(['pets', 'get', '5', '--json'], deprecated, (exchange) =>
      answerJson(exchange, []),
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    const { warnings } = JSON.parse(stderr).error;
    expect(warnings).toEqual([
      expect.stringContaining('looking through listPets instead'),
      expect.stringContaining('pets get uses an endpoint that ends on 2027-12-31'),
    ]);
  });

  test('of the embedded store names a path, not an address', async () => {
    const { stderr } = await runCli(['pets', 'get', '999', '--offline', '--json']);
    expect(JSON.parse(stderr).error).toMatchObject({ status: 404, url: '/pets/999' });
  });
});

describe('a write to the embedded store', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-fate-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('that waits for its lock until the deadline is not applied, and the message does not say that it may have been', async () => {
    const env = { PETSTORE_OFFLINE_STORE: join(folder, 'store.json') };
    await runCli(['pets', 'list', '--offline'], { env });
    const run = await withLock(env.PETSTORE_OFFLINE_STORE, () =>
      runCli(['inventory', 'set', '1', '777', '--offline', '--timeout', '300ms', '--retries', '0'], { env }),
    );
    expect(run.code).toBe(6);
    expect(run.stderr).not.toContain(mayBe);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { stdout } = await runCli(['inventory', 'get', '1', '--offline', '--json'], { env });
    expect(JSON.parse(stdout).quantity).not.toBe(777);
  });
});
