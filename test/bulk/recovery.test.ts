import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Run } from '../helpers/run-cli.ts';
import { startCli } from '../helpers/spawn-cli.ts';
import { stockShop } from '../helpers/stock-desk.ts';
import { shelves, toCsv, trouble } from '../helpers/stock-server.ts';

// What a person types after a stop, in the cases in which a delivery was once booked twice or a run was lost.

/** A service with as many pets of count 5, and a delivery that adds the id of each pet to its count. */
async function deliveryShop(pets: number) {
  const changes = shelves(pets, (petId) => petId);
  const text = `petId,change\n${changes.map((row) => `${row}\n`).join('')}`;
  const shop = await stockShop(
    shelves(pets, () => 5),
    { 'd.csv': text },
  );
  const apply = (...words: string[]) => shop.summary(['apply', 'd.csv', '--relative', '--yes', ...words]);
  /** Starts a command that will be killed. */
  const start = (...words: string[]) => {
    const child = startCli(['inventory', ...words], { env: shop.env, cwd: shop.folder });
    const ended = once(child, 'exit');
    const killWhen = async (isDue: () => boolean, ms = 0) => {
      while (!isDue() && child.exitCode === null) await sleep(1);
      await sleep(ms);
      child.kill('SIGKILL');
      await ended;
      await sleep(10);
    };
    return killWhen;
  };
  return Object.assign(shop, { text, apply, start });
}

/** The command that a hint or a summary names, as words after `petstore inventory`. */
function namedCommand(text: string): string[] {
  const found = /petstore inventory ((?:resume|undo|apply)[^"`;,\n]*)/.exec(text)?.[1];
  if (found === undefined) throw new Error(`no command is named in: ${text}`);
  return found.trim().split(/\s+/);
}

/** The exit code of a refusal, and the `code` of the error that it printed as JSON. */
function refusalOf({ code, stderr }: Pick<Run, 'code' | 'stderr'>) {
  return { code, error: JSON.parse(stderr.trim().split('\n').at(-1) ?? '{}').error?.code };
}

const booked = { code: 2, error: 'already_booked' };

test.each([
  [503, true],
  [503, false],
  [408, true],
  [408, false],
  [500, false],
  [504, true],
  ['lost', false],
] as const)(
  'a delivery whose first write was applied and answered %s (ETags: %s) is booked once, whatever is typed next',
  async (status, sendsETags) => {
    await using shop = await deliveryShop(3);
    shop.sendsETags = sendsETags;
    trouble(shop, (_, nth) => (nth === 1 ? status : undefined), { isApplied: true });
    const first = await shop.apply('--retries', '0');
    expect(first).toMatchObject({ failed: 0, unknown: 3 });
    expect(shop.files()).not.toContain('d.rejects.csv');
    expect(refusalOf(await shop.apply())).toEqual(booked);
    expect(await shop.summary([...namedCommand(first.stderr), '--yes'])).toMatchObject({
      code: 0,
      applied: 3,
    });
    expect([...shop.stock.values()]).toEqual([6, 7, 8]);
  },
);

test('a delivery that was killed, and whose journal lost what was not synced, is booked once by resume', async () => {
  await using shop = await deliveryShop(40);
  shop.misbehave = async ({ method }) => {
    if (method === 'PUT') await sleep(2);
    return undefined;
  };
  await shop.start(
    'apply',
    'd.csv',
    '--relative',
    '--yes',
    '--concurrency',
    '2',
  )(() => shop.writes().length >= 20);
  shop.misbehave = undefined;
  const text = readFileSync(shop.journal('r1'), 'utf8');
  writeFileSync(shop.journal('r1'), text.slice(0, text.indexOf('\n', text.indexOf('"planned"')) + 1));
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 40 });
  expect([...shop.stock.values()]).toEqual(shelves(40, (petId) => 5 + petId).map(([, count]) => count));
});

test('a delivery is not booked again in another form, by another name of its host, or as a shard', async () => {
  await using shop = await deliveryShop(4);
  expect(await shop.apply()).toMatchObject({ applied: 4 });
  const jsonLines =
    '{"petId":1,"change":1}\n{"id":2,"delta":2}\n{"petId":3,"change":3}\n{"petId":4,"change":4}\n';
  const forms: readonly (readonly [text: string, ...words: string[]])[] = [
    [shop.text.replaceAll('\n', '\r\n')],
    [`${shop.text}\n\n`],
    [shop.text.trimEnd()],
    ['petId,change\n2,2\n1,1\n4,4\n3,3\n'],
    [jsonLines],
    ['id;delta\n1;+1\n2;+2\n3;+3\n4;+4\n'],
    ['petId,change\n1,1\n2,1\n2,1\n3,3\n4,4\n', '--sum'],
    [shop.text, '--shard', '1/2'],
    [shop.text, '--base-url', shop.url.replace('127.0.0.1', 'LOCALHOST')],
  ];
  for (const [text, ...words] of forms) {
    shop.write('again.txt', text);
    const again = await shop.summary(['apply', 'again.txt', '--relative', '--yes', ...words]);
    expect({ text, ...refusalOf(again) }).toEqual({ text, ...booked });
  }
  expect([...shop.stock.values()]).toEqual([6, 7, 8, 9]);
});

test('a delivery of which one shard is booked is not booked as a whole, and its other shard is', async () => {
  await using shop = await deliveryShop(4);
  expect((await shop.apply('--shard', '1/2')).code).toBe(0);
  for (const words of [[], ['--shard', '1/3'], ['--shard', '1/2']])
    expect(refusalOf(await shop.apply(...words))).toEqual(booked);
  expect((await shop.apply('--shard', '2/2')).code).toBe(0);
  expect([...shop.stock.values()]).toEqual([6, 7, 8, 9]);
});

/** A delivery of which pet 1 is refused at first, and the words that are typed; `d.rejects.csv` has that row. */
test.each([
  ['the whole file after its rejects and an undo', ['rejects', 'undo r1', 'whole'], 'undo r2'],
  ['old rejects after an undo and the whole file', ['undo r1', 'whole', 'rejects'], 'undo r3'],
  ['rejects twice', ['rejects', 'rejects'], 'undo r2'],
])('a row is not booked twice by %s', async (_, typed, named) => {
  await using shop = await deliveryShop(3);
  trouble(shop, { 1: 409 });
  expect(await shop.apply()).toMatchObject({ failed: 1 });
  shop.misbehave = undefined;
  const lines: Readonly<Record<string, string>> = {
    rejects: 'apply d.rejects.csv --relative',
    whole: 'apply d.csv --relative',
  };
  const outcomes = [];
  for (const each of typed) outcomes.push(await shop.summary([...(lines[each] ?? each).split(' '), '--yes']));
  const last = outcomes.pop();
  expect(outcomes.map(({ code }) => code)).toEqual(outcomes.map(() => 0));
  expect(last && refusalOf(last)).toEqual(booked);
  expect(namedCommand(last?.stderr ?? '').join(' ')).toBe(named);
  expect(shop.stock.get('1')).toBe(6);
});

test('rows that two sessions rejected are booked once each, and the whole file no more', async () => {
  await using shop = await deliveryShop(3);
  trouble(shop, (petId) => (petId === 1 ? 409 : 401));
  expect((await shop.apply('--concurrency', '1')).code).toBe(4);
  trouble(shop, () => 422);
  expect((await shop.inventory(['resume', '--yes'])).code).toBe(1);
  shop.misbehave = undefined;
  for (const [name, code] of [
    ['d.rejects.csv', 0],
    ['d.rejects.2.csv', 0],
    ['d.csv', 2],
    ['d.rejects.csv', 2],
  ] as const)
    expect((await shop.inventory(['apply', name, '--relative', '--yes'])).code, name).toBe(code);
  expect([...shop.stock.values()]).toEqual([6, 7, 8]);
});

test('a delivery of which nothing can be written leaves no rejects: it is applied again as a whole', async () => {
  await using shop = await deliveryShop(2);
  shop.write('d.csv', 'petId,change\n1,-9\n2,0\n');
  expect(await shop.apply()).toMatchObject({ code: 3, failed: 1 });
  expect(shop.files()).not.toContain('d.rejects.csv');
  shop.stock.set('1', 20);
  expect((await shop.apply()).code).toBe(0);
  expect([...shop.stock.values()]).toEqual([11, 5]);
});

test('an undo that was stopped is finished by undo, by resume of it, and never by an undo of an older run', async () => {
  await using shop = await deliveryShop(5);
  shop.stock.set('6', 5);
  shop.write('old.csv', 'petId,change\n6,1\n');
  await shop.summary(['apply', 'old.csv', '--relative', '--yes']);
  const oneByOne = ['--yes', '--concurrency', '1'];
  /** Refuses a command from a write on. */
  const refuseFrom = (first: number) => {
    const earlier = shop.writes().length;
    trouble(shop, (_, __, all) => (all - earlier >= first ? 401 : undefined));
  };
  refuseFrom(4);
  expect(await shop.apply('--concurrency', '1')).toMatchObject({ code: 4, run: 'r2', applied: 3 });
  refuseFrom(2);
  const undo = await shop.summary(['undo', 'r2', ...oneByOne]);
  expect(undo).toMatchObject({ code: 4, run: 'r3', applied: 1, resume: 'petstore inventory undo r2' });
  expect(namedCommand(undo.stderr)).toEqual(['undo', 'r2']);
  // A run that is being undone is not resumed, and an undo is not undone.
  for (const words of [
    ['resume', 'r2'],
    ['undo', 'r3'],
  ]) {
    const refused = await shop.inventory([...words, '--yes']);
    expect(refused.code).toBe(2);
    expect(namedCommand(refused.stderr)).toEqual(['undo', 'r2']);
  }
  for (const words of [['resume', 'r3'], ['undo', 'r2'], ['resume']]) {
    refuseFrom(1);
    expect(await shop.summary([...words, ...oneByOne])).toMatchObject({ code: 4, run: 'r3', applied: 1 });
  }
  shop.misbehave = undefined;
  for (const outcome of [{ code: 0, run: 'r3', unprocessed: 0 }, { code: 0 }])
    expect(await shop.summary(['undo', '--yes'])).toMatchObject(outcome);
  expect([...shop.stock.values()]).toEqual([5, 5, 5, 5, 5, 6]);
});

test('an apply that a guard stops leaves the stopped run before it as it was', async () => {
  await using shop = await deliveryShop(5);
  shop.write('stock.csv', toCsv([70, 80, 90]));
  trouble(shop, (_, __, all) => (all > 2 ? 401 : undefined));
  expect(await shop.apply('--concurrency', '1')).toMatchObject({ code: 4, applied: 2 });
  shop.misbehave = undefined;
  const before = (await shop.inventory(['runs', '-o', 'json'])).stdout;
  const writes = shop.writes().length;
  for (const words of [['--max-changes', '1', '--yes'], ['--max-delta', '1', '--yes'], ['--dry-run'], []])
    await shop.inventory(['apply', 'stock.csv', ...words]);
  expect((await shop.inventory(['runs', '-o', 'json'])).stdout).toBe(before);
  expect(shop.writes()).toHaveLength(writes);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 5 });
  expect([...shop.stock.values()]).toEqual([6, 7, 8, 9, 10]);
});

test('a run that is killed while it writes its rejects has not ended, and resume writes them', async () => {
  await using shop = await deliveryShop(6);
  // Nobody reads the pipe, so the program waits there with its rejects.
  execFileSync('mkfifo', [`${shop.folder}/pipe`]);
  const rejects = ['--yes', '--rejects', 'pipe', '--force'];
  const hasSettled = (run: string) => () => {
    const text = existsSync(shop.journal(run)) ? readFileSync(shop.journal(run), 'utf8') : '';
    return (text.match(/"row":/g) ?? []).length >= 3;
  };
  trouble(shop, { 2: 409 });
  shop.write('stock.csv', toCsv([6, 7, 8]));
  await shop.start('apply', 'stock.csv', ...rejects)(hasSettled('r1'), 200);
  const [listed] = JSON.parse((await shop.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ state: 'stopped' });
  const rest = await shop.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 2, failed: 1, rejects: 'stock.rejects.csv' });
  expect(shop.read('stock.rejects.csv').match(/^\d+,\d+/gm)).toEqual(['2,7']);
  // They hold the invalid rows too, and none of another shard or without a change.
  shop.seen.length = 0;
  shop.write('d.csv', `${shop.text.replace('3,3', '3,0')}7,many\n`);
  await shop.start(
    'apply',
    'd.csv',
    '--relative',
    '--skip-invalid',
    '--shard',
    '1/2',
    ...rejects,
  )(hasSettled('r2'), 200);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ code: 3, failed: 1, invalid: 1 });
  expect(shop.read('d.rejects.csv').match(/^\d.*?,(invalid|failed)/gm)).toEqual([
    '2,2,3,failed',
    '7,many,8,invalid',
  ]);
});
