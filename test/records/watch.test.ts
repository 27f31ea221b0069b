import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const max = { id: 2, name: 'Max', categoryId: 1, status: 'sold' };
const sold = { ...bella, status: 'sold' };

/** Watches a list, gives each poll the next answer, and presses Ctrl-C when the last has been shown. */
async function watch(answers: readonly Reply[], flags = '--watch 1s', options: RunOptions = {}) {
  let polls = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets')) return { body: [] };
    polls += 1;
    return answers[Math.min(polls, answers.length) - 1] ?? {};
  });
  const io = fakeIo(options);
  const ended = main(['pets', 'list', ...flags.split(' '), '--retries', '0', '--base-url', server.url], io);
  for (let waited = 0; polls < answers.length && waited < 8000; waited += 20) await sleep(20);
  await sleep(100);
  io.raise('SIGINT');
  const code = await ended;
  return { code, stdout: io.written('stdout'), stderr: io.written('stderr'), calls: server.calls() };
}

describe.concurrent('a watch', () => {
  test('in a pipe prints each change as a JSON line, all records as added first', async () => {
    const run = await watch([{ body: [bella, max] }, { body: [bella, max] }, { body: [sold] }]);
    expect([run.code, run.stderr]).toEqual([130, '']);
    const lines = run.stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { event: 'added', record: bella },
      { event: 'added', record: max },
      { event: 'deleted', record: max },
      { event: 'changed', record: sold },
    ]);
  });

  test('ends a poll with the page that reaches --limit', async () => {
    const headers = { link: '</pets?limit=2&after=2>; rel="next"' };
    const { calls } = await watch([{ body: [bella, max], headers }], '--limit 2 --watch 60s');
    expect(calls.filter((call) => call.includes('/pets'))).toEqual(['GET /pets?limit=2']);
  });

  test('notes a failed poll, and polls again', async () => {
    const run = await watch(
      [{ body: [bella] }, { status: 500 }, { body: [bella, max] }],
      '--watch 1s -o jsonl',
    );
    expect(run.stderr).toMatch(/note: the service answered 500, .*; the next attempt is in 1 s\n/);
    expect(run.stdout.trim().split('\n')).toHaveLength(2);
  });

  test('waits as long as Retry-After asks', async () => {
    const began = Date.now();
    const busy = { status: 503, headers: { 'retry-after': '3' } };
    await watch([{ body: [bella] }, busy, { body: [bella] }]);
    expect(Date.now() - began).toBeGreaterThan(3900);
  });

  test('on a terminal redraws the table in place and marks changed records', async () => {
    const terminal: RunOptions = { terminals: ['stdout', 'stderr'], rows: 8 };
    const others = [3, 4, 5, 6].map((id) => ({ ...max, id }));
    const run = await watch([{ body: [bella, max] }, { body: [sold, ...others] }], '--watch 1s', terminal);
    const plain = run.stdout.replace(/\x1b\[[\d;?]*[a-zA-Z]/g, '');
    expect(plain).toContain(': 4 added, 1 changed, 1 deleted');
    expect(plain).toMatch(/│ \* │ +1 │ Bella/);
    expect(plain).toContain('… 4 more lines');
    const [first = '', ...drawings] = run.stdout.split('\x1b[H\x1b[?7l');
    expect(first).toBe(`\x1b[?25l${'\n'.repeat(7)}`);
    expect(drawings).toHaveLength(2);
    for (const drawing of drawings) expect(drawing).toMatch(/^[^\n]*\x1b\[K\n.*\x1b\[\?7h\x1b\[J/s);
    expect(run.stdout.split('\x1b[?25h')).toHaveLength(2);
  });

  test('on a dumb terminal prints changes', async () => {
    const run = await watch([{ body: [bella] }], '--watch 1s', {
      terminals: ['stdout'],
      env: { TERM: 'dumb' },
    });
    expect(run.stdout).toBe(`${JSON.stringify({ event: 'added', record: bella })}\n`);
  });
});
