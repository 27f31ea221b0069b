import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { withLock } from '../../src/process/lock.ts';
import { answer, answerJson, type Exchange, misbehave } from '../helpers/misbehaving-server.ts';
import { failed, fakeIo, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import * as mode from './modes.ts';

type Act = (exchange: Exchange) => void;

/** The result of a command whose writes get these answers one after the other. Readings show the entry as it was before. */
async function runWith(line: string, ...answers: readonly Act[]) {
  let count = 0;
  await using server = await misbehave({
    onRequest(exchange) {
      if (exchange.request.method === 'GET') return answerJson(exchange, entry);
      answers[count]?.(exchange);
      count += 1;
    },
  });
  const run = await runCli([...line.split(' '), '--base-url', server.url, '--timeout', '5s']);
  const sent = server.requests.map(({ method }) => method);
  return { ...run, writes: sent.filter((method) => method !== 'GET') };
}

const entry = { id: 1, name: 'Rex', categoryId: 1, petId: 1, quantity: 3, status: 'available' };

/**
 * The answer that a text names: `reset`, `success`, a status without a body as in `502` or `503 retry`, a refusal of the service
 * as in `own 404`, or a page of a gateway as in `page 404`.
 */
function actOf(text: string): Act {
  if (text === 'reset') return mode.reset;
  if (text === 'success') return mode.wellBehaved;
  const status = Number(/\d+/.exec(text)?.[0]);
  if (text.startsWith('own'))
    return (exchange) => answerJson(exchange, { code: 'no', message: 'no', status }, { status });
  const html = { headers: { 'content-type': 'text/html' }, body: `<title>${status} Not Found</title>` };
  if (text.startsWith('page')) return (exchange) => answer(exchange, { status, ...html });
  const headers = text.endsWith('retry') ? { 'retry-after': '0' } : {};
  return (exchange) => answer(exchange, { status, headers });
}

const set = 'inventory set 1 5';
const remove = 'inventory delete 1 --yes';
const create = 'pets create --name Cy --category 1';
const mayBe = 'may have been applied';
const open = new RegExp(mayBe);
const deleted = /^deleted inventory entry 1$/m;
/** An error that does not say so. */
const certain = /^(?!.*may have been).*error: /s;

describe.concurrent('a write', () => {
  test.each([
    [remove, '502, own 404', 0, deleted],
    [remove, '503, own 410', 0, deleted],
    [remove, '503 retry, own 404', 0, deleted],
    [remove, 'reset, own 404', 0, deleted],
    ['api request DELETE /x/1', '502, own 404', 6, /may have been applied \(DELETE .*\)\n$/],
    [remove, 'reset, page 404', 6, open],
    [remove, 'reset, 404', 6, open],
    [remove, '502, own 409', 6, open],
    [remove, 'own 404', 1, certain],
    [remove, '429 retry, own 404', 1, certain],
    [set, 'reset, 409', 6, open],
    [set, 'reset, 422', 6, open],
    [set, 'reset, own 404', 6, open],
    ['pets update 1 --name Rexy --retries 0', 'reset', 6, /hint: look at the record: petstore pets get 1/],
    [set, 'own 403', 4, certain],
    [set, '429 retry, 409', 1, certain],
    [set, 'reset, success', 0, /^$/],
    [create, '502', 6, /before you run it again, check what was written: petstore pets list --name Cy/],
  ])('%s, answered with %s, exits with %i', async (line, answers, code, says) => {
    const acts = answers.split(', ').map(actOf);
    const run = await runWith(line, ...acts);
    expect(run).toMatchObject({ code, stderr: expect.stringMatching(says) });
    expect(run.writes).toHaveLength(acts.length);
  });
});

describe('an interrupted write', () => {
  /** Returns the stderr of a command that is interrupted some time after its server sees it. */
  async function interrupt(line: string, act: Act, { ms = 20, scheme = 'http' } = {}) {
    const io = fakeIo();
    const raise = () => {
      setTimeout(() => io.raise('SIGINT'), ms);
      return true;
    };
    const answered = mode.always((exchange) => {
      if (line !== 'pets list' && exchange.request.method === 'GET') return answerJson(exchange, entry);
      act(exchange);
      raise();
    });
    await using server = await misbehave(scheme === 'http' ? answered : { onConnection: raise });
    const url = `${scheme}://127.0.0.1:${server.port}`;
    expect(await main([...line.split(' '), '--base-url', url], io)).toBe(130);
    return io.written('stderr').replace(url, '');
  }

  test('may have been applied, also while it waits to be sent again', async () => {
    const stderr = await interrupt(set, mode.silence);
    expect(stderr).toContain(`error: interrupted; the request ${mayBe} (PUT /store/inventory/1)\n`);
    expect(await interrupt(set, actOf('502'), { ms: 5 })).toContain(`${mayBe} (PUT /store/inventory/1`);
    const { error } = JSON.parse(await interrupt(`${set} --json`, mode.silence));
    const request = { method: 'PUT', url: expect.stringContaining('/store/inventory/1') };
    expect(error).toMatchObject({ kind: 'interrupted', ...request, applied: 'unknown' });
  });

  test('that is not sent yet, or that only reads, has changed nothing', async () => {
    expect(await interrupt(set, mode.silence, { scheme: 'https' })).toBe(
      'error: inventory entry 1: interrupted, nothing was written\n',
    );
    expect(await interrupt('pets list', mode.silence)).toBe('error: interrupted\n');
  });
});

test.each(['inventory set 1 777 --offline', 'offline reset --yes'])(
  '%s changes nothing if another process holds the embedded store until the deadline, and names it',
  async (line) => {
    const file = join(temporaryFolder(), 'store.json');
    const env = { PETSTORE_OFFLINE_STORE: file };
    await runCli('pets list --offline', { env });
    const before = readFileSync(file);
    const run = await withLock(file, () => runCli(`${line} --timeout 2s`, { env }));
    expect(run).toMatchObject(failed(1, `locked by process ${process.pid}`));
    expect(run.stderr).not.toContain(mayBe);
    await sleep(300);
    expect(readFileSync(file)).toEqual(before);
  },
);
